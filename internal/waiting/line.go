package waiting

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/clock"
)

// lines are the waiters of this process, by name: first come, first served. Only the
// first of each line talks to the nodes.
type lines struct {
	mu     sync.Mutex
	byName map[string]*line
}

// line is the waiters of one name, and what the first of them learned for all.
type line struct {
	own    place // of who began it
	first  *place
	others []*place // behind it
	near   bool     // who was first before has the lock, and will pass it on
	outage outage
	last   *Refusal // what was found last; nil: nothing yet
}

// place is that of a waiter.
type place struct {
	turn    chan struct{} // closed when it becomes the first, or its wait is over; nil: it began the line
	bid     *bid
	name    string
	ttl     time.Duration
	through bool // it waits through outages
	came    clock.Instant
	over    *Refusal // why its wait is over before its turn came
}

// enter gives the caller the last place in line for a name. first says that it is its turn; else that is to be waited
// for. b is its bid, to which the lock may be passed as soon as it is the first; nil: its client has not met the
// nodes yet, see gets.
func (l *lines) enter(want Want, b *bid, now clock.Instant) (p *place, first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := place{bid: b, name: want.Lock.Name, ttl: want.TTL, through: want.Through, came: now}
	if ln, there := l.byName[own.name]; there {
		p = new(place) // not &own: that would cost every lock an allocation
		*p = own
		p.turn = make(chan struct{})
		ln.others = append(ln.others, p)
		return p, false
	}
	if l.byName == nil {
		l.byName = map[string]*line{}
	}
	ln := &line{own: own}
	ln.first = &ln.own
	l.byName[own.name] = ln
	return ln.first, true
}

// gets notes the bid of a waiter that entered the line without one, or whose last one is over.
func (l *lines) gets(p *place, b *bid) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p.bid = b
}

// turn waits until p is the first in line, and reports whether it is. If ctx or stop ended before, or the wait is
// over, it returns what the first learned last; nil: nothing. leave must be called by whoever is the first. draw is
// called when met is closed.
func (l *lines) turn(ctx context.Context, stop <-chan struct{}, p *place, met <-chan struct{}, draw func()) (bool, *Refusal) {
	for waits := true; waits; {
		select {
		case <-p.turn:
			return p.over == nil, p.over
		case <-met:
			met = nil
			draw()
		case <-ctx.Done():
			waits = false
		case <-stop:
			waits = false
		}
	}
	l.mu.Lock()
	if p.over != nil {
		defer l.mu.Unlock()
		return false, p.over
	}
	ln := l.byName[p.name]
	last := ln.last
	if i := slices.Index(ln.others, p); i >= 0 {
		ln.others = slices.Delete(ln.others, i, i+1)
		l.mu.Unlock()
		return false, last
	}
	l.mu.Unlock()
	l.leave(p.name, false, nil, 0) // its turn came at the same moment
	return false, last
}

// leave makes the next waiter for name the first. near says that the caller has the lock and will pass it on; held is
// what the others are told meanwhile.
func (l *lines) leave(name string, near bool, held func() *Refusal, now clock.Instant) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ln := l.byName[name]
	if len(ln.others) == 0 {
		delete(l.byName, name)
		return
	}
	if ln.near = near; near {
		ln.learn(held(), now)
	}
	ln.first = ln.others[0]
	close(ln.first.turn)
	ln.others[0] = nil
	ln.others = ln.others[1:]
}

// isNear reports whether the lock is in this process, so that it will be passed to the
// first in line for name when it is given back. It may have been lost meanwhile.
func (l *lines) isNear(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byName[name].near
}

// mostPasses is how often in a row a lock goes from one waiter of a process to the next
// while waiters of others stand in the queue. The lease carries the count, see [Grant]: the line
// of a process is empty whenever its goroutines pause, so a count kept there would begin anew. Passes
// count from the first, also before others came: those are served at the next Unlock then.
const mostPasses = 8

// pass offers a lease that its owner has ended to the first in line for name. others says
// that waiters of other processes are in the queue. If it is not passed, next is who may
// still have to join the nodes' queues, before it is given back there. never says that it is not passed.
func (l *lines) pass(name string, from handed, others, never bool) (passed bool, next *bid) {
	l.mu.Lock()
	ln := l.byName[name]
	if ln == nil || ln.first.bid == nil {
		l.mu.Unlock()
		return false, nil
	}
	b := ln.first.bid
	if never || others && from.passes >= mostPasses {
		ln.near = false
		l.mu.Unlock()
		return false, b
	}
	l.mu.Unlock()
	return b.pass(from), nil
}
