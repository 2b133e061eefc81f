package holdfast

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/core/events"
)

// Option changes one setting of one lock. This package has functions that make options.
type Option interface{ apply(*options) }

// options are the settings of one lock.
type options struct {
	ttl     time.Duration
	through bool            // the wait goes on during outages
	never   bool            // Lock fails if the context has a lease of the same lock
	waiting events.Listener // receives the error of each failed attempt of a wait; nil: no listener
	hold    time.Duration   // the longest time for which a lease is held; 0: no limit
}

type option func(*options)

func (f option) apply(o *options) { f(o) }

// set fills o: first with the settings of the client, and then with the options of the list. It skips nil options.
func (o *options) set(c *Config, list []Option) {
	o.ttl, o.hold = c.TTL, c.MaxHold
	for _, opt := range list {
		if opt != nil {
			opt.apply(o)
		}
	}
}

// WithTTL sets the lock's TTL: from 8 × Window to MaxTTL. For a bad value, the methods that take the lock return an
// error that matches [ErrBadTTL].
func WithTTL(ttl time.Duration) Option { return option(func(o *options) { o.ttl = ttl }) }

// WithMaxHold limits the time for which a lease is held: see [Config.MaxHold]. 0 means that there is no limit. The
// limit belongs to the call that takes the lock: a handle of an older lease has the limit of that lease.
// [Client.LockAll] limits each lock from the time at which it got that lock. In package election, a term has this
// limit. Readers that share a lease have the latest of their limits, and none if one of them has none.
//
// For a bad value, the methods that take the lock return an error that is a [*ConfigError].
func WithMaxHold(d time.Duration) Option { return option(func(o *options) { o.hold = d }) }

// WaitThroughOutages makes Lock and Do wait while no majority of the nodes answers, until their context ends. Use it
// for a daemon that has nothing else to do. [OnWait] receives the outage as an error. Lock then waits also for faults
// that only an operator can repair, such as another configuration or a wrong URL.
func WaitThroughOutages() Option { return option(func(o *options) { o.through = true }) }

// OnWait makes Lock call f after each failed attempt while it waits, with a [*HeldError] or an [*UnavailableError].
// Use it to tell people for whom they wait. If several goroutines of one client wait for one name, only the first of
// them makes attempts. The f of another goroutine is called only after that goroutine has become the first.
//
// f runs in the goroutine that called Lock, between two attempts. It never runs after Lock has returned.
//
// f must return soon. While f runs, no goroutine of this client tries to get this name. If a release reserves the
// name for this client in that time, the reservation ends after a second and another client gets the name. The
// goroutines that wait behind this one also learn of an outage later.
//
// If f panics, Lock leaves the queue and does not recover the panic. The other goroutines keep waiting. f may end the
// wait: it can cancel the context of Lock.
//
// Attempts come about once a second. Sometimes no message can wake the waiter, because another library has the lock
// or no majority answers. Then attempts come after each [Config.RetryDelay], which is ten times a second by default.
func OnWait(f func(err error)) Option {
	return option(func(o *options) {
		if o.waiting = nil; f != nil {
			o.waiting = func(e *events.Event) { f(e.Err) }
		}
	})
}

// Reentrant(false) makes Lock, TryLock and Do fail if their context belongs to a lease of this lock. The error
// matches [ErrReentrant]. Without this option they return a handle of that lease: see [Mutex.Lock]. Use it where such
// a call is a mistake. Defaults to true.
func Reentrant(is bool) Option { return option(func(o *options) { o.never = !is }) }
