package waiting

import (
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// Patience is the time for which a Lock waits for a majority to answer, if no majority has answered since it came.
const Patience = time.Second

// outage is the common knowledge of the waiters of one name: does a majority of the nodes answer? Only the first waiter
// asks the nodes, and all waiters behind it use the result. Otherwise each new first waiter would look for a majority
// for another second. The hundredth waiter of a name would get its error after 100 seconds.
type outage struct {
	lasts bool          // no majority answered the last question
	since clock.Instant // the instant of the first question that no majority answered
	knows bool          // a majority has answered at some time
	met   clock.Instant // the instant of the last answer of a majority
}

// found contains the facts that the first waiters of a line learned. Most locks are free and learn nothing. So a line
// allocates it only when it is needed.
type found struct {
	outage outage
	last   *Refusal // the last refusal
}

// finds notes the last refusal of the first waiter. It returns all that the first waiters learned.
func (ln *line) finds(r *Refusal) *found {
	if ln.found == nil {
		ln.found = &found{}
	}
	ln.found.last = r
	return ln.found
}

// last returns the last refusal that a first waiter got, or nil.
func (ln *line) last() *Refusal {
	if ln.found == nil {
		return nil
	}
	return ln.found.last
}

// learn notes a refusal of the first waiter. The caller holds l.mu.
func (ln *line) learn(r *Refusal, now clock.Instant) {
	f := ln.finds(r)
	switch {
	case r.Kind == Unavailable:
		f.outage.lasts = false
	case !r.Few: // if r.Few is true, only a minority has answered so far
		f.outage = outage{knows: true, met: now}
	}
}

// learned notes a refusal of the first waiter. Either a majority answered, or it is known when quarantines end. A
// question that no majority answered goes to failed instead.
func (l *lines) learned(name string, r *Refusal, now clock.Instant) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.byName[name].learn(r, now)
}

// failed notes that no majority answered a question of the first waiter. asked is the instant of that question. failed
// ends the waits of all waiters in the line whose time without a majority has passed. over reports whether this
// includes the first waiter. next is the time until the next wait ends that way. greeted is the end of the last
// greeting of a majority: the time that a greeting takes does not count as time without a majority.
func (l *lines) failed(name string, r *Refusal, asked, greeted, now clock.Instant) (over bool, next time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ln := l.byName[name]
	o := &ln.finds(r).outage
	if !o.lasts {
		o.lasts, o.since = true, asked
	}
	o.since = max(o.since, greeted)
	next = askEvery
	ends := func(p *place) bool {
		if p.through {
			return false
		}
		left := o.limit(p).Sub(now)
		if left > 0 {
			next = min(next, left)
		}
		return left <= 0
	}
	over = ends(ln.first)
	ln.others = slices.DeleteFunc(ln.others, func(p *place) bool {
		if !ends(p) {
			return false
		}
		p.over = r
		close(p.moved)
		return true
	})
	return over, next
}

// limit returns the instant at which a waiter gives up, if no majority answers until then. Usually this is one second
// after the outage began or the waiter came, whichever is later. If a majority has answered since the waiter came, it
// is the waiter's TTL if that is longer than a second.
func (o outage) limit(p *place) clock.Instant {
	allowed := Patience
	if o.knows && o.met >= p.came {
		allowed = max(Patience, p.ttl)
	}
	return max(o.since, p.came).Add(allowed)
}

// known returns r, or the last refusal of a first waiter if that says more. The other refusal says more if ctx ended
// before enough nodes had answered for r.
func (l *lines) known(name string, r *Refusal) *Refusal {
	l.mu.Lock()
	defer l.mu.Unlock()
	if last := l.byName[name].last(); r.Cut && last != nil {
		return last
	}
	return r
}
