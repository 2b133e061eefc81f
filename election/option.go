package election

import (
	"time"

	"github.com/holdfast-go/holdfast"
)

// Option changes one setting of one election. This package has functions that make options.
type Option interface{ apply(*options) }

// options are the settings of one election.
type options struct {
	lock  []holdfast.Option
	pause *time.Duration // pause of a candidate that has resigned; nil: the TTL
}

type option func(*options)

func (f option) apply(o *options) { f(o) }

// WithLock sets options of the lock that the leader has, for example [holdfast.WithTTL]. A second WithLock adds to the
// first one.
//
// Two options have no effect. A candidate always waits through outages ([holdfast.WaitThroughOutages]), and never leads
// under its own lease ([holdfast.Reentrant]): see [Election.Run].
func WithLock(opts ...holdfast.Option) Option {
	return option(func(o *options) { o.lock = append(o.lock, opts...) })
}

// ResignPause sets the time for which a candidate that has resigned does not try to lead again. With 0 it tries at
// once. For a negative time [Election.Run] returns an error that matches [ErrBadPause]. Defaults to the TTL of the
// election's lock.
func ResignPause(d time.Duration) Option { return option(func(o *options) { o.pause = &d }) }
