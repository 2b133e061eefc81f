package renewal

import (
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// gap is a gap that the client leaves for clients of other libraries. Until its end the plain key is free for these
// clients, and the name is taken for clients of Holdfast.
type gap struct {
	timer *time.Timer
	end   func() // hands the name on
}

// leaveGap releases the lease in two steps, with a gap in between. If the client dies during the gap, the nodes free
// the name for clients of Holdfast by their own clocks. Those clocks may differ by a window. The caller holds e.mu.
func (e *Lease) leaveGap(d time.Duration, b *giveback) {
	fan := e.keeper.fan
	now := fan.Now()
	until := now.Add(d + fan.Set().Window)
	keep := e.lock.LeaveGap(e.grant.Owner, e.grant.Token, fan.StampAt(until))
	both := &either{b: b, answered: make([]bool, fan.N()), done: make([]bool, fan.N())}
	// The leave is sent once. If it does not reach a node, the release ends the lease there and hands the name on at
	// once, without a gap. The leave must go before the release: see [fanout.Fanout.Together].
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
	defer k.mu.Unlock()
	if k.closed {
		end()
		return
	}
	g := &gap{end: end}
	if k.gaps == nil {
		k.gaps = map[*gap]struct{}{}
	}
	k.gaps[g] = struct{}{}
	g.timer = time.AfterFunc(d, func() {
		k.mu.Lock()
		_, there := k.gaps[g]
		delete(k.gaps, g)
		k.mu.Unlock()
		if there {
			end()
		}
	})
}

// either takes each node's answers to the leave and to the release. It gives b one answer per node: Done if one of the
// two answers is Done, else the second answer.
type either struct {
	b *giveback

	mu             sync.Mutex
	answered, done []bool // by node
}

// Answered takes a node's answer.
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
