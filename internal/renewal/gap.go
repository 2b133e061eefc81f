package renewal

import (
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/fanout"
	"github.com/holdfast-go/holdfast/internal/nodescript"
)

// gap is the end of a gap that a client left to those of other libraries: until then their key is free, and the name
// taken for ours.
type gap struct {
	timer *time.Timer
	end   func() // hands the name on
}

// leaveGap gives the lease back in two steps, with a gap in between. If the client dies meanwhile the name is free
// for ours when the nodes' clocks say so; until then they may differ by a window. e.mu is held.
func (e *Lease) leaveGap(d time.Duration, b *giveback) {
	fan := e.keeper.fan
	now := fan.Now()
	until := now.Add(d + fan.Set().Window)
	bare := nodescript.Lock{Name: e.lock.Name, Private: true} // a lock without the plain key, which stays as it is
	keep := nodescript.LeaveCall(bare, e.grant.Owner, e.grant.Token, fan.StampAt(until))
	both := &either{b: b, answered: make([]bool, fan.N()), done: make([]bool, fan.N())}
	// Not repeated: a release without it hands the name on at once. It goes before the release, see [fanout.Fanout.Together].
	fan.Send(&fanout.Message{Call: keep, To: both, SendBy: now.Add(d)}, nil)
	fan.Send(&fanout.Message{Call: e.releaseCall(), To: both, Persist: e.persist()}, nil)
	last := nodescript.ReleaseCall(e.lock, nodescript.LeftOwner(e.grant.Owner), e.highest)
	e.keeper.endGap(d, func() {
		fan.Send(&fanout.Message{Call: last, Persist: until.Add(time.Second)}, nil)
	})
}

// endGap calls end after d, or when the keeper is closed.
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

// either takes two answers of each node, one of which says that the lease was given back there.
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
