package fanout

import (
	"context"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// This file gets the proofs for hash slots that came from another master: see adopt.lua.

// Proved is a proof, and when it was asked for and answered.
type Proved struct {
	nodescript.Proof
	Asked, Answered clock.Instant
}

// provings are the questions for proofs, one at a time for each master. They are safe for concurrent use.
type provings struct {
	mu   sync.Mutex
	next map[string]*proving // by run id: the question that begins when the present one has ended
	busy map[string]bool     // a question is on its way
}

// proving is a question for a proof. All slots that wait for its beginning share it.
type proving struct {
	done   chan struct{}
	proved Proved
	ok     bool
	err    error
}

// prove asks the master with a run id for a proof. A slot must be known to be on this shard before its proof is asked for.
// So it never uses a question that has begun already. The result is the same for all that wait: one question serves
// hundreds of slots.
func (h *hashSlots) prove(run string) (Proved, bool, error) {
	p := &h.proofs
	p.mu.Lock()
	q := p.next[run]
	if q == nil {
		if p.next == nil {
			p.next, p.busy = map[string]*proving{}, map[string]bool{}
		}
		q = &proving{done: make(chan struct{})}
		p.next[run] = q
		if !p.busy[run] {
			p.busy[run] = true
			h.fan.wait.Go(func() { h.proveAll(run) })
		}
	}
	p.mu.Unlock()
	<-q.done
	return q.proved, q.ok, q.err
}

// proveAll asks until nobody waits for a proof of a master.
func (h *hashSlots) proveAll(run string) {
	p := &h.proofs
	for {
		p.mu.Lock()
		q := p.next[run]
		delete(p.next, run)
		if q == nil {
			delete(p.busy, run)
			p.mu.Unlock()
			return
		}
		p.mu.Unlock()
		ctx, cancel := context.WithTimeout(h.fan.ctx, 2*h.fan.patience())
		q.proved, q.ok, q.err = h.shard.Prove(ctx, run)
		cancel()
		close(q.done)
	}
}

// origin is where a slot came from, as far as its adoption has found it.
type origin struct {
	asked  bool   // false: nothing is known
	run    string // of the former master; "" also if its run id was deleted
	proved Proved
	ok     bool // proved is the proof of the former master; else it is none any more, or its clock differs too much
	gone   bool // the former master is none any more
	tries  int  // the proofs that were not exact enough
}

// exact is the part of a window by which the clocks may seem apart in the first tries. A larger difference is mostly delay
// on the way, and the differences of several moves add up.
const (
	exact      = 8
	exactTries = 5
)

// old is the part of a window after which a proof is not sent any more.
const old = 2

// stale reports whether another proof is needed, because the slot has waited too long for its turn.
func (o *origin) stale(now clock.Instant, window time.Duration) bool {
	return o.ok && now.Sub(o.proved.Answered) > window/old
}

// text returns what admit is told about the origin. slots are those of the shard that is asked.
func (o *origin) text(now clock.Instant, window time.Duration, slots []int) string {
	switch {
	case !o.asked:
		return ""
	case !o.ok:
		return nodescript.NoProof
	}
	p := o.proved.Proof
	p.Passed, p.Most = now.Sub(o.proved.Answered), 2*window
	if o.tries < exactTries {
		p.Most = window / exact
	}
	return p.With(slots)
}

// differs reports whether the clocks differ too much for certain. a is the answer to the proof, and answered is when it
// came. So the clock of this shard was ahead of the other one by at least the difference of the times that they told,
// minus the time from the question for the proof until now.
func (o *origin) differs(a nodescript.Answer, answered clock.Instant, window time.Duration) bool {
	ahead := time.Duration(a.Time-o.proved.Time)*time.Microsecond - answered.Sub(o.proved.Asked)
	return a.Left+max(ahead, 0) > 2*window
}
