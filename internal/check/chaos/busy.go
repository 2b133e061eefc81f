//go:build linux

package chaos

import (
	"context"
	"sync/atomic"
	"time"
)

// This file is about a client whose goroutines compute all the time. Its timers and the goroutines of its lock run up
// to seconds late. The computing goroutines look at Err of the leases' contexts, and believe only that.

// busyGoroutines is [Role.Busy] of the busy client of a long run.
const busyGoroutines = 200

// polled is a lease at whose context the busy goroutines look.
type polled struct {
	ctx  context.Context
	last atomic.Int64 // the last time before a call of Err that returned nil
}

// look calls Err, and notes the time before it.
func (p *polled) look() {
	at := Monotonic()
	if p.ctx.Err() != nil {
		return
	}
	for old := p.last.Load(); at > old && !p.last.CompareAndSwap(old, at); old = p.last.Load() {
	}
}

// work is what the busy goroutines of a client look at: by loop, the present lease.
type work []atomic.Pointer[polled]

// compute starts the busy goroutines. They end with ctx.
func (w work) compute(ctx context.Context, n int) {
	for g := range n {
		go func() {
			for i := g; ctx.Err() == nil; i++ {
				for x := range 10_000 { // some 10 µs
					spent.Store(int64(x))
				}
				if p := w[i%len(w)].Load(); p != nil {
					p.look()
				}
			}
		}()
	}
}

var spent atomic.Int64 // so that the compiler keeps the computation

// holdBusy lets the busy goroutines look at a lease for a while. The belief ends when they last saw the context alive,
// and not at the deadline: a call of Err that returns nil after it is a wrong belief. The client changes no data.
func (c *client) holdBusy(e Event, held Held) {
	p := &polled{ctx: held.(interface{ Context() context.Context }).Context()}
	say := func(w what, at, deadline int64) {
		e.What, e.At, e.Deadline = w, at, deadline
		c.say.tell(e)
	}
	e.Token, e.Shared = held.Token(), shared(held)
	from := Monotonic()
	say(has, from, onMonotonic(held.Deadline))
	c.busy[e.Loop].Store(p)
	c.sleep(held, func() { say(keeps, 0, onMonotonic(held.Deadline)) })
	c.busy[e.Loop].Store(nil)
	e.Lost = p.ctx.Err() != nil
	say(over, max(from, p.last.Load()), 0)
	bounded, stop := context.WithTimeout(context.Background(), 5*time.Second)
	defer stop()
	if err := held.Unlock(bounded); err != nil {
		c.say.note("unlock: failed")
	}
}
