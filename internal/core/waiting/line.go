package waiting

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/bid"
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// lines contains the waiters of this process: one line per name, in the order in which they came. Only the first
// waiter of a line asks the nodes. So a process with many waiters for a name costs the nodes as much as a process with
// one.
type lines struct {
	mu     sync.Mutex
	byName map[string]*line
	shares map[string]opening // by name: the share that was opened last
}

// line is the line of the waiters for one name, with the facts that its first waiters learned from the nodes.
type line struct {
	own    place // memory for the place of the waiter that began the line
	first  *place
	others []*place // the places behind first
	near   bool     // the former first waiter got the lock, and its Unlock will pass the lock on
	found  *found   // the facts that the first waiters learned; nil: none yet
}

// place is the place of one waiter in a line.
type place struct {
	moved   chan struct{} // closes when the waiter is first, or its wait has ended; nil for the waiter that began the line
	bid     *bidder
	lock    nodescript.Kind
	ttl     time.Duration
	through bool // the wait continues while no majority answers
	reader  bool // the waiter is a reader, and joins the share that a reader before it opens
	came    clock.Instant
	over    *Refusal // the reason why the wait ended before the waiter was first
	share   Share    // the share that it joined; nil: none
}

// enter puts the caller at the end of the line for a name. first reports whether the caller is the first in the line.
// If it is not, the caller must call becomeFirst. b is the caller's bid: when the caller is first, another goroutine
// may pass the lock to b. A nil b means that the client has not met the nodes yet: see gets. If a reader can join an
// open share, enter returns the share and no place.
func (l *lines) enter(want Want, b *bidder, now clock.Instant) (p *place, first bool, s Share) {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := place{bid: b, lock: want.Lock, ttl: want.TTL, through: want.Through, reader: want.Open != nil, came: now}
	name := want.Lock.Line()
	if s = l.joinable(name, own.reader, now); s != nil {
		return nil, false, s
	}
	if ln, there := l.byName[name]; there {
		p = new(place) // &own would cost every lock an allocation, also locks that find an empty line
		*p = own
		p.moved = make(chan struct{})
		ln.others = append(ln.others, p)
		return p, false, nil
	}
	if l.byName == nil {
		l.byName = map[string]*line{}
	}
	ln := &line{own: own}
	ln.first = &ln.own
	l.byName[name] = ln
	return ln.first, true, nil
}

// gets sets a new bid for a waiter that had no bid, or whose last bid has ended.
func (l *lines) gets(p *place, b *bidder) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p.bid = b
}

// becomeFirst waits until p is the first in its line, and then returns true. The caller must then call leave.
//
// becomeFirst returns false if ctx or stop ends before that, or if the first waiter ended the wait of p. The refusal is
// then what the first waiter learned last, or nil. becomeFirst also returns false if p joined a share: see
// [place.share]. When met closes, becomeFirst calls draw once.
func (l *lines) becomeFirst(ctx context.Context, stop <-chan struct{}, p *place, met <-chan struct{}, draw func()) (bool, *Refusal) {
	for waits := true; waits; {
		select {
		case <-p.moved:
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
		<-p.moved // closes after the share has reserved the part of this reader: see [opening.admit]
		return false, p.over
	}
	ln := l.byName[p.lock.Line()]
	last := ln.last()
	if i := slices.Index(ln.others, p); i >= 0 {
		ln.others = slices.Delete(ln.others, i, i+1)
		l.mu.Unlock()
		return false, last
	}
	l.mu.Unlock()
	l.leave(p.lock.Line(), opening{}, false, nil) // p became the first in line just before this goroutine locked l.mu
	return false, last
}

// leave removes the first waiter from the line for name, and makes the next waiter the first one. If the caller opened
// a share, o contains it, and the readers in the line join it. near says that the caller got the lock and will pass it
// on. If near is true, leave calls held for the refusal that the other waiters get meanwhile, and for the present
// instant.
func (l *lines) leave(name string, o opening, near bool, held func() (*Refusal, clock.Instant)) {
	l.mu.Lock()
	ln := l.byName[name]
	if o.share != nil {
		defer o.admit(l.open(ln, name, o)) // runs after l.mu is unlocked, because a share has mutexes of its own
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
	close(ln.first.moved)
	ln.others[0] = nil
	ln.others = ln.others[1:]
}

// waiting returns the number of waiters for each name of a lock.
func (l *lines) waiting() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := make(map[string]int, len(l.byName))
	for _, ln := range l.byName { // a semaphore may have a line for each number of slots
		n[ln.own.lock.Name()] += 1 + len(ln.others)
	}
	return n
}

// isNear reports whether the next pass of the lock probably comes from this process. This is so if the waiter before
// the present first waiter got the lock. That lease may have been lost since then.
func (l *lines) isNear(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byName[name].near
}

// waits reports whether the name has a line.
func (l *lines) waits(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byName[name] != nil
}

// mostPasses limits how many times in a row one process passes a lock between its own waiters while waiters of other
// processes are in the nodes' queues. Without a limit, a busy process could keep the others waiting for ever. Each
// lease carries the count: see [Won]. A count in the line would be lost whenever the line is empty, for example when
// all goroutines of the process pause. Passes before the other waiters came count, too. So those waiters may get the
// name at the first Unlock after they came.
const mostPasses = 8

// pass offers a lease that its owner has ended to the first waiter for name. others says that waiters of other
// processes are in the nodes' queues. If never is true, pass only looks for the first waiter. If the waiter may not
// have the lease, pass returns its bid as next. The caller must put next into the nodes' queues before it releases the
// lease.
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
