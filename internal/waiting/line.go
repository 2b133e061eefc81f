package waiting

import (
	"context"
	"sync"
)

// lines are the waiters of this process, by name: first come, first served. Only the
// first of each line talks to the nodes.
type lines struct {
	mu     sync.Mutex
	byName map[string]*line
}

// line is the waiters of one name; first is not in others.
type line struct {
	first  *bid // of the first
	others []*place
	passes int  // how often the lock was passed on in here, in a row
	near   bool // who was first before has the lock, and will pass it on
}

// place is that of a waiter who is not the first.
type place struct {
	turn chan struct{} // closed when it becomes the first
	bid  *bid
}

// enter gives the caller the last place in line for name, whose turn is to be waited for; nil: it
// is the first. b is its bid, to which the lock may be passed as soon as it is the first; nil: its
// client has not met the nodes yet, see gets.
func (l *lines) enter(name string, b *bid) *place {
	l.mu.Lock()
	defer l.mu.Unlock()
	ln, there := l.byName[name]
	if !there {
		if l.byName == nil {
			l.byName = map[string]*line{}
		}
		l.byName[name] = &line{first: b}
		return nil
	}
	p := &place{turn: make(chan struct{}), bid: b}
	ln.others = append(ln.others, p)
	return p
}

// gets notes the bid of a waiter that entered the line without one.
func (l *lines) gets(name string, p *place, b *bid) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p.bid = b
	select {
	case <-p.turn:
		l.byName[name].first = b
	default:
	}
}

// turn waits until p is the first in line for name, and reports whether it is: not, if ctx or stop
// ended first. leave must be called by whoever is. draw is called when met is closed.
func (l *lines) turn(ctx context.Context, stop <-chan struct{}, name string, p *place, met <-chan struct{}, draw func()) bool {
	for waits := true; waits; {
		select {
		case <-p.turn:
			return true
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
	ln := l.byName[name]
	for i, other := range ln.others {
		if other == p {
			ln.others = append(ln.others[:i], ln.others[i+1:]...)
			l.mu.Unlock()
			return false
		}
	}
	l.mu.Unlock()
	l.leave(name, false) // its turn came at the same moment
	return false
}

// leave makes the next waiter for name the first. won says that the caller has the lock.
func (l *lines) leave(name string, won bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ln := l.byName[name]
	ln.first, ln.near = nil, won
	if len(ln.others) == 0 {
		delete(l.byName, name)
		return
	}
	ln.first = ln.others[0].bid
	close(ln.others[0].turn)
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

// bids notes that the first in line for name has another bid.
func (l *lines) bids(name string, b *bid) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.byName[name].first = b
}

// mostPasses is how often in a row a lock goes from one waiter of a process to the next
// while waiters of others stand in the queue.
const mostPasses = 8

// pass offers a lease that its owner has ended to the first in line for name. others says
// that waiters of other processes are in the queue. If it is not passed, next is who may
// still have to join the nodes' queues, before it is given back there.
func (l *lines) pass(name string, from handed, others, fair bool) (passed bool, next *bid) {
	l.mu.Lock()
	ln := l.byName[name]
	if ln == nil || ln.first == nil {
		l.mu.Unlock()
		return false, nil
	}
	b := ln.first
	if fair || others && ln.passes >= mostPasses {
		ln.passes, ln.near = 0, false
		l.mu.Unlock()
		return false, b
	}
	if !others {
		ln.passes = 0
	}
	ln.passes++
	l.mu.Unlock()
	return b.pass(from), nil
}
