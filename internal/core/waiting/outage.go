package waiting

import (
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// patience is the time for which a Lock looks for a quorum that it has not met yet.
const patience = time.Second

// outage is the knowledge of the waiters of one name about the nodes. Only the first waiter asks, so its findings count
// for the waiters behind it. Otherwise each of these waiters would look for a quorum for its own second, one after the
// other.
type outage struct {
	lasts bool          // no majority answered the last question
	since clock.Instant // the start of the time in which no majority answered
	knows bool          // a majority has answered
	met   clock.Instant // the instant of the last answer of a majority
}

// found contains the findings of the first waiter of a line. Most locks find nothing, so a line has it only when it is
// needed.
type found struct {
	outage outage
	last   *Refusal // the last finding
}

// finds notes the last finding. It returns all findings.
func (ln *line) finds(r *Refusal) *found {
	if ln.found == nil {
		ln.found = &found{}
	}
	ln.found.last = r
	return ln.found
}

// last returns the last finding of the first waiter, nil if there is none.
func (ln *line) last() *Refusal {
	if ln.found == nil {
		return nil
	}
	return ln.found.last
}

// learn notes the findings of the first waiter. The caller holds l.mu.
func (ln *line) learn(r *Refusal, now clock.Instant) {
	f := ln.finds(r)
	switch {
	case r.Kind == Unavailable:
		f.outage.lasts = false
	case !r.Few: // if r.Few is true, more nodes may still answer
		f.outage = outage{knows: true, met: now}
	}
}

// learned notes a refusal of the first waiter that found a quorum, or knows when there will be one.
func (l *lines) learned(name string, r *Refusal, now clock.Instant) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.byName[name].learn(r, now)
}

// failed notes a question of the first waiter that no majority answered. asked is the instant of the question. failed
// ends the waits behind the first waiter that have looked for a quorum for long enough. It reports whether the first
// waiter has also looked for long enough. next is the time until another waiter has looked for long enough. The time
// for the greeting of a majority that answers does not count: greeted is the end of that greeting.
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
		left := o.ends(p).Sub(now)
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
		close(p.turn)
		return true
	})
	return over, next
}

// ends returns the instant at which a waiter has looked for a quorum for long enough. This is usually after a second.
// It is after the waiter's TTL if that is longer and a quorum answered since the waiter came.
func (o outage) ends(p *place) clock.Instant {
	allowed := patience
	if o.knows && o.met >= p.came {
		allowed = max(patience, p.ttl)
	}
	return max(o.since, p.came).Add(allowed)
}

// known returns the last finding of the first waiter if r has too little information, because the context ended before
// enough nodes had answered. Otherwise it returns r.
func (l *lines) known(name string, r *Refusal) *Refusal {
	l.mu.Lock()
	defer l.mu.Unlock()
	if last := l.byName[name].last(); r.Cut && last != nil {
		return last
	}
	return r
}
