package waiting

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/bid"
	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// lines contains the waiters of this process by name, in the order in which they came. Only the first waiter of each
// line asks the nodes.
type lines struct {
	mu     sync.Mutex
	byName map[string]*line
	shares map[string]opening // by name: the share that readers opened last
}

// line is the line of the waiters for one name, with the findings of the first waiter, which count for all.
type line struct {
	own    place // the place of the waiter that began the line
	first  *place
	others []*place // the places behind first
	near   bool     // the last first waiter has the lock, and will pass it on
	found  *found   // the findings of the first waiters; nil: nothing yet
}

// place is the place of one waiter in a line.
type place struct {
	turn    chan struct{} // this channel closes when the waiter is first or its wait is over; nil: it began the line
	bid     *bidder
	name    string
	ttl     time.Duration
	through bool // the wait continues during outages
	reader  bool // it joins the share that a reader before it opens
	came    clock.Instant
	over    *Refusal // the reason why the wait ended before its turn
	share   Share    // the share that it joined; nil: none
}

// enter gives the caller the last place in the line for a name. first reports whether it is the caller's turn. If it is
// not, the caller must call turn. b is the caller's bid. The lock may be passed to b as soon as the caller is first. A
// nil b means that the client has not met the nodes yet: see gets. A reader gets no place if it can join a share.
func (l *lines) enter(want Want, b *bidder, now clock.Instant) (p *place, first bool, s Share) {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := place{bid: b, name: want.Lock.Line(), ttl: want.TTL, through: want.Through, reader: want.Open != nil, came: now}
	if s = l.joinable(own.name, own.reader, now); s != nil {
		return nil, false, s
	}
	if ln, there := l.byName[own.name]; there {
		p = new(place) // &own would cost every lock an allocation
		*p = own
		p.turn = make(chan struct{})
		ln.others = append(ln.others, p)
		return p, false, nil
	}
	if l.byName == nil {
		l.byName = map[string]*line{}
	}
	ln := &line{own: own}
	ln.first = &ln.own
	l.byName[own.name] = ln
	return ln.first, true, nil
}

// gets notes the new bid of a waiter that had no bid, or whose last bid has ended.
func (l *lines) gets(p *place, b *bidder) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p.bid = b
}

// turn waits until p is the first in its line, and reports whether it is. If ctx or stop ends before that, or if the
// wait has ended, turn returns the last finding of the first waiter. This is nil if there is none. If turn returns
// true, the caller must call leave. turn calls draw when met is closed. A reader may have joined a share when turn
// returns false: see [place.share].
func (l *lines) turn(ctx context.Context, stop <-chan struct{}, p *place, met <-chan struct{}, draw func()) (bool, *Refusal) {
	for waits := true; waits; {
		select {
		case <-p.turn:
			return p.over == nil && p.share == nil, p.over
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
	if p.over != nil || p.share != nil {
		l.mu.Unlock()
		<-p.turn // the share is reserved by then
		return false, p.over
	}
	ln := l.byName[p.name]
	last := ln.last()
	if i := slices.Index(ln.others, p); i >= 0 {
		ln.others = slices.Delete(ln.others, i, i+1)
		l.mu.Unlock()
		return false, last
	}
	l.mu.Unlock()
	l.leave(p.name, opening{}, false, nil) // the turn came at the same moment
	return false, last
}

// leave makes the next waiter for name the first one. o is the share that the caller opened, if any: the readers behind
// the caller join it. near says that the caller has the lock and will pass it on. held returns the refusal that the
// other waiters get during that time, and the present instant.
func (l *lines) leave(name string, o opening, near bool, held func() (*Refusal, clock.Instant)) {
	l.mu.Lock()
	ln := l.byName[name]
	if o.share != nil {
		defer o.admit(l.open(ln, name, o)) // after the unlock: a share has locks of its own
	}
	defer l.mu.Unlock()
	if len(ln.others) == 0 {
		delete(l.byName, name)
		return
	}
	if ln.near = near; near {
		ln.learn(held())
	}
	ln.first = ln.others[0]
	close(ln.first.turn)
	ln.others[0] = nil
	ln.others = ln.others[1:]
}

// isNear reports whether a waiter of this process got the lock, so that its Unlock passes the lock to the first waiter
// for name. The lock may have been lost since then.
func (l *lines) isNear(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byName[name].near
}

// mostPasses is the number of times in a row that a lock passes between waiters of one process while waiters of other
// processes are in the queue. The lease carries the count: see [Grant]. A count in the line would start again whenever
// the line is empty, and the line is empty whenever the goroutines of the process pause. All passes count, even passes
// before the other waiters came. In that case those waiters get the name at the next Unlock.
const mostPasses = 8

// pass offers a lease that its owner has ended to the first waiter for name. others says that waiters of other
// processes are in the queue. If never is true, the lease is not passed. Whenever the lease is not passed, next is the
// bid that may still have to join the nodes' queues before the lease is released there.
func (l *lines) pass(name string, from bid.Passed, others, never bool) (passed bool, next *bidder) {
	l.mu.Lock()
	ln := l.byName[name]
	if ln == nil || ln.first.bid == nil {
		l.mu.Unlock()
		return false, nil
	}
	b := ln.first.bid
	if never || others && from.Passes >= mostPasses {
		ln.near = false
		l.mu.Unlock()
		return false, b
	}
	l.mu.Unlock()
	return b.pass(from), nil
}
