package waiting

import (
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/clock"
)

// patience is for how long a Lock looks for a quorum that it has not met yet.
const patience = time.Second

// outage is what the waiters of one name know of the nodes. Only the first in line asks, so what it finds counts for
// those behind it: each would otherwise look for a quorum for a second of its own, one after the other.
type outage struct {
	lasts bool          // no majority answered the last question,
	since clock.Instant // nor any since then
	knows bool          // one has answered,
	met   clock.Instant // and last then
}

// learn takes what the first in line found. l.mu is held.
func (ln *line) learn(r *Refusal, now clock.Instant) {
	ln.last = r
	switch {
	case r.Kind == Unavailable:
		ln.outage.lasts = false
	case !r.few: // else others may answer yet
		ln.outage = outage{knows: true, met: now}
	}
}

// learned is learn for the first in line, where it found a quorum or knows when there will be one.
func (l *lines) learned(name string, r *Refusal, now clock.Instant) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.byName[name].learn(r, now)
}

// failed takes a question of the first in line, asked at some time, that no majority answered. It ends the waits of
// those behind it who have looked for a quorum for long enough, and reports whether the first has. next is how soon
// another one will have. What is spent greeting a majority that answers does not count: greeted is when that was over.
func (l *lines) failed(name string, r *Refusal, asked, greeted, now clock.Instant) (over bool, next time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ln := l.byName[name]
	ln.last = r
	if !ln.outage.lasts {
		ln.outage.lasts, ln.outage.since = true, asked
	}
	ln.outage.since = max(ln.outage.since, greeted)
	next = askEvery
	ends := func(p *place) bool {
		if p.through {
			return false
		}
		left := ln.outage.ends(p).Sub(now)
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

// ends is when a waiter has looked for a quorum for long enough: a second, or its TTL if that is longer and one was met
// since it came.
func (o outage) ends(p *place) clock.Instant {
	allowed := patience
	if o.knows && o.met >= p.came {
		allowed = max(patience, p.ttl)
	}
	return max(o.since, p.came).Add(allowed)
}

// known is what the first in line found last, where r is the refusal of one whose context ended before enough nodes
// had answered to tell anything.
func (l *lines) known(name string, r *Refusal) *Refusal {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ln := l.byName[name]; r.cut && ln.last != nil {
		return ln.last
	}
	return r
}
