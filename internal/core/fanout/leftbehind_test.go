package fanout

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// hungNode is a node that hangs: it answers EvalSHA only at the end of the context.
type hungNode struct {
	node.Node
	on bool
}

func (h *hungNode) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	if !h.on {
		return h.Node.EvalSHA(ctx, calls)
	}
	return nodemodel.Hung(ctx, calls)
}

func hang(f *fleet, i int) {
	h := &hungNode{Node: f.senders[i].node, on: true}
	f.senders[i].node = h
}

// A renewal waits for a hung node for as long as its lease lasts. The other messages of its pipeline do not.
func TestNoMessageWaitsAsLongAsARenewal(t *testing.T) {
	for _, busy := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := newFleetOf(t, 3)
			defer f.Close(t.Context())
			time.Sleep(time.Second)
			synctest.Wait()
			hang(f, 0)
			send := func(m *Message) { f.Send(m, nil) }
			renewal := func() *Message {
				return &Message{Call: nodescript.QuitCall(lockX, "a"), Until: f.Now().Add(29 * time.Minute)}
			}
			r := newCollector(f.N())
			question := &Message{Call: nodescript.QuitCall(lockX, "b"), To: r, SendBy: f.Now().Add(250 * time.Millisecond)}
			began := f.Now()
			if busy {
				f.delay.Store(int64(30 * time.Millisecond))
				send(renewal())
				send(question)
			} else {
				f.Together(func() { send(renewal()); send(question) })
			}
			select {
			case <-r.done:
			case <-time.After(time.Hour):
			}
			if took := f.Now().Sub(began); took > 2*time.Second {
				t.Errorf("busy %v: the node timeout is 1s, but the answer of the hung node came after %s", busy, took)
			}
		})
	}
}

// Both workers of a node may leave between the decision to wake one of them and the wake-up. The relay then goes on
// with the next node.
func TestARelayGoesOnWithoutAnIdleWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleetOf(t, 3)
		defer f.Close(t.Context())
		time.Sleep(time.Second)
		synctest.Wait()
		hang(f, 0)
		f.delay.Store(int64(30 * time.Millisecond))
		s := f.senders[0]
		// what put does, with a pause of this goroutine between its unlock and its wake
		s.mu.Lock()
		s.queue = append(s.queue, &Message{Call: nodescript.QuitCall(lockX, "a"), Until: f.Now().Add(29 * time.Minute)})
		wake := s.wakes()
		s.mu.Unlock()
		if !wake {
			t.Fatal("no wake")
		}
		for range 2 { // meanwhile others come, and both workers leave
			f.SendTo(0, &Message{Call: nodescript.QuitCall(lockX, "a"), Until: f.Now().Add(29 * time.Minute)})
			time.Sleep(10 * time.Millisecond)
		}
		f.wake(s)
		r := newCollector(f.N())
		began := f.Now()
		f.Send(&Message{Call: nodescript.QuitCall(lockX, "b"), To: r}, func(i int) bool { return i > 0 })
		tick := time.NewTimer(time.Hour)
		for n := 0; n < 1; {
			r.mu.Lock()
			for _, a := range r.answers {
				if a.Verdict != nodescript.Unanswered {
					n++
				}
			}
			r.mu.Unlock()
			select {
			case <-tick.C:
				t.Fatal("no answer in an hour")
			case <-time.After(10 * time.Millisecond):
			}
		}
		if took := f.Now().Sub(began); took > time.Second {
			t.Errorf("the healthy nodes 1 and 2 answered after %s", took)
		}
	})
}
