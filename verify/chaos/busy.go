//go:build linux

package chaos

import (
	"context"
	"sync/atomic"
	"time"
)

// This file is about a holder whose goroutines compute all the time. Its timers and the goroutines of its lock run
// late, by up to seconds. The computing goroutines look at Err of the lease's context, and believe only that. They
// compute only during a lease: with a short TTL, a client that is so busy would get no lock.

// busyGoroutines is [Role.Busy] of the busy client of a long run.
const busyGoroutines = 200

// longBusy is [Role.Long] of the busy client.
const longBusy = 50

// polled is a lease at whose context the busy goroutines look.
type polled struct {
	ctx  context.Context
	last atomic.Int64 // the last time before a call of Err that returned nil
	over atomic.Bool  // ends the goroutines
}

// compute runs n busy goroutines until over is set.
func (p *polled) compute(n int) {
	for range n {
		go func() {
			for !p.over.Load() {
				for x := range 10_000 { // some 10 µs
					spent.Store(int64(x))
				}
				at := Monotonic()
				if p.ctx.Err() != nil {
					continue
				}
				for old := p.last.Load(); at > old && !p.last.CompareAndSwap(old, at); old = p.last.Load() {
				}
			}
		}()
	}
}

var spent atomic.Int64 // so that the compiler keeps the computation

// holdBusy holds a lease for a while. The belief ends when a busy goroutine last saw the context alive, and not at the
// deadline: a call of Err that returns nil after the deadline is a wrong belief. The client changes no data.
func (c *client) holdBusy(e Event, held Held) {
	p := &polled{ctx: held.(interface{ Context() context.Context }).Context()}
	say := func(w what, at, deadline int64) {
		e.What, e.At, e.Deadline = w, at, deadline
		c.say.tell(e)
	}
	e.Token, e.Shared = held.Token(), shared(held)
	from := Monotonic()
	say(has, from, onMonotonic(held.Deadline))
	p.compute(c.Busy)
	c.sleep(held, func() { say(keeps, 0, onMonotonic(held.Deadline)) })
	p.over.Store(true)
	e.Lost = p.ctx.Err() != nil
	say(over, max(from, p.last.Load()), 0)
	bounded, stop := context.WithTimeout(context.Background(), 5*time.Second)
	defer stop()
	if err := held.Unlock(bounded); err != nil {
		c.say.note("unlock: failed")
	}
}
