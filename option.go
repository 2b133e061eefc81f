package holdfast

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/core/events"
)

// Option changes one setting of one lock. The functions of this package make options.
type Option interface{ apply(*options) }

// options are the settings of one lock.
type options struct {
	ttl     time.Duration
	through bool            // the wait goes on during outages
	never   bool            // Lock fails if the context has a lease of the same lock
	waiting events.Listener // receives the failed attempts of a wait; nil: no listener
	pause   *time.Duration  // of a candidate that has resigned; nil: the TTL
}

type option func(*options)

func (f option) apply(o *options) { f(o) }

// set sets o to the settings of a lock. ttl is the client's TTL. A nil option changes nothing.
func (o *options) set(ttl time.Duration, list []Option) {
	o.ttl = ttl
	for _, opt := range list {
		if opt != nil {
			opt.apply(o)
		}
	}
}

// WithTTL sets the lock's TTL: from 8 × Window to MaxTTL. For a bad value the methods that take the lock return an
// error that matches [ErrBadTTL].
func WithTTL(ttl time.Duration) Option { return option(func(o *options) { o.ttl = ttl }) }

// WaitThroughOutages makes Lock and Do keep waiting while no quorum of the nodes answers, until their context ends. It
// suits a daemon that has no other work. [OnWait] receives the outage as an error. Lock also keeps waiting where only
// an operator can help, for example if the configuration differs or a URL is wrong.
func WaitThroughOutages() Option { return option(func(o *options) { o.through = true }) }

// OnWait makes a waiting Lock call f after each failed attempt, with a [*HeldError] or an [*UnavailableError]. Use it
// to tell people for whom they wait. If several goroutines of one client wait for one name, only the first of them
// makes attempts. Lock calls the f of another goroutine only when that goroutine has become the first.
//
// The goroutine that called Lock runs f between two attempts. So f never runs at the same time as Lock's attempts, nor
// after Lock has returned.
//
// f must return soon. While f runs, no goroutine of this client tries to get this name. A claim that arrives in that
// time goes to another client after a second. The goroutines behind this one learn of an outage later, by the time that
// f takes.
//
// If f panics, the panic leaves Lock. Lock then leaves no place in a queue, and the other goroutines keep waiting. f
// may end the wait: it cancels Lock's context.
//
// Attempts come about once a second. If nothing can wake the waiter, they come after each [Config.RetryDelay]: ten
// times a second by default. This is the case behind a foreign key and without a quorum.
func OnWait(f func(err error)) Option {
	return option(func(o *options) {
		if o.waiting = nil; f != nil {
			o.waiting = func(e *events.Event) { f(e.Err) }
		}
	})
}

// Reentrant(false) makes Lock, TryLock and Do return an error that matches [ErrReentrant] if their context belongs to a
// lease of this lock. Otherwise they return a handle of that lease: see [Mutex.Lock]. Use it where such a call is a
// mistake. Defaults to true.
func Reentrant(is bool) Option { return option(func(o *options) { o.never = !is }) }
