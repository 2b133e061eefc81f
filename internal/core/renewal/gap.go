package renewal

import (
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// gap is a gap that this client leaves for clients of other libraries. During the gap those clients find the plain key
// free, and clients of Holdfast find the name taken.
type gap struct {
	timer *time.Timer
	end   func() // hands the name on to the next waiter
}

// leaveGap releases the lease in two steps, with a gap in between. The first step frees the plain key and keeps the
// name taken for Holdfast until an instant. The second step hands the name on. If this client dies during the gap,
// each node ends the gap by its own clock. Those clocks may differ by a window. The caller holds e.mu.
func (e *Lease) leaveGap(d time.Duration, b *giveback) {
	fan := e.grant.Fan
	now := fan.Now()
	until := now.Add(d + fan.Set().Window)
	keep := e.lock.LeaveGap(e.grant.Owner, e.grant.Token, fan.StampAt(until))
	both := &either{b: b, answered: make([]bool, fan.N()), done: make([]bool, fan.N())}
	// The leave is sent only once. A node that did not get it gets the release, and hands the name on at once, without
	// a gap. The leave must travel before the release: see [fanout.Fanout.Together].
	fan.Send(&fanout.Message{Call: keep, To: both, SendBy: now.Add(d)}, nil)
	fan.Send(&fanout.Message{Call: e.releaseCall(), To: both, Persist: e.persist()}, nil)
	last := e.lock.EndGap(e.grant.Owner, e.highest)
	e.keeper.endGap(d, func() {
		fan.Send(&fanout.Message{Call: last, Persist: until.Add(time.Second)}, nil)
	})
}

// endGap calls end after d, or when the keeper closes.
func (k *Keeper) endGap(d time.Duration, end func()) {
	k.mu.Lock()
	if k.closed {
		k.mu.Unlock()
		end()
		return
	}
	defer k.mu.Unlock()
	g := &gap{end: end}
	if k.gaps == nil {
		k.gaps = map[*gap]struct{}{}
	}
	k.gaps[g] = struct{}{}
	g.timer = k.fan.AfterFunc(d, func() {
		k.mu.Lock()
		_, there := k.gaps[g]
		delete(k.gaps, g)
		k.mu.Unlock()
		if there {
			end()
		}
	})
}

// either joins each node's answers to two requests, such as a leave and a release, into one answer for b. That answer
// is Done if one of the two is Done, otherwise it is the second one. Without this, b would count each node twice.
type either struct {
	b *giveback

	mu             sync.Mutex
	answered, done []bool // by node
}

// Answered takes one answer of a node. It passes an answer on to b at most once per node.
func (e *either) Answered(node, tag int, a nodescript.Answer) {
	e.mu.Lock()
	last, told := e.answered[node], e.done[node]
	e.answered[node] = true
	e.done[node] = told || a.Verdict == nodescript.Done
	tells := !told && (last || e.done[node])
	e.mu.Unlock()
	if tells {
		e.b.Answered(node, tag, a)
	}
}
