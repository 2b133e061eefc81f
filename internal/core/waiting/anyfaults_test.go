package waiting

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// ill is a node that is in one of several states. The test selects the state.
type ill struct {
	*nodemodel.Node
	how atomic.Int32
}

// These are the states of a node.
const (
	well    int32 = iota
	hangs         // the node runs no calls
	cut           // the node cannot be reached
	unheard       // the node runs its calls, and the answers are lost
	dials         // the node cannot be reached, and the attempt takes time
	ways
)

func (n *ill) err(ctx context.Context) error {
	switch n.how.Load() {
	case hangs:
		<-ctx.Done()
		return ctx.Err()
	case cut:
		return errCut
	case dials:
		<-ctx.Done()
		return node.NotSent(ctx.Err())
	}
	return nil
}

func (n *ill) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	time.Sleep(200 * time.Microsecond)
	if err := n.err(ctx); err != nil {
		return nodemodel.Failed(calls, err)
	}
	replies := n.Node.EvalSHA(ctx, calls)
	if n.how.Load() == unheard {
		time.Sleep(time.Millisecond)
		return nodemodel.Failed(calls, errors.New("connection lost"))
	}
	return replies
}

func (n *ill) Eval(ctx context.Context, text string, c node.Call, load ...string) node.Reply {
	if err := n.err(ctx); err != nil {
		return node.Reply{Err: err}
	}
	return n.Node.Eval(ctx, text, c, load...)
}

// Nodes fail in any way while clients wait, win, release, pass on or give up. When the nodes are well again, no queue
// contains an owner that does not wait, and no node keeps a released lock.
func TestNobodyStaysInLineWhateverNodesDo(t *testing.T) {
	worlds, won := uint64(400), 0
	if testing.Short() {
		worlds = 150
	}
	for seed := range worlds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { won += whatever(t, rand.New(rand.NewPCG(seed, 7))) })
		})
	}
	if won < int(worlds)/4 {
		t.Errorf("somebody got the lock %d times in %d worlds: the test does not show what it should", won, worlds)
	}
}

// whatever runs one world. It returns the number of times that a client got the lock.
func whatever(t *testing.T, r *rand.Rand) (won int) {
	upTo := func(d time.Duration) time.Duration { return time.Duration(r.Int64N(int64(d))) }
	l, nodes := hearing(t, func(m *nodemodel.Node) *ill { return &ill{Node: m} })
	const ttl = 10 * time.Second
	lock := nodescript.NewExclusive(nodescript.Lock{Name: "x"})
	others := 3*time.Second + upTo(6*time.Second)
	other, stamp := l.taken(t, lock, others, nil)

	waiters, kept := 1+r.IntN(2), false
	ended := make(chan bool, waiters)
	for range waiters {
		hold, patience, gives := upTo(pickOf(r, 20*time.Millisecond, 15*time.Second)), time.Second+upTo(30*time.Second), r.IntN(4) > 0
		kept = kept || !gives
		go func() {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			g, refused := l.Wait(ctx, lock, ttl, func(*Refusal) {})
			if refused == nil {
				time.Sleep(min(hold, g.Deadline.Sub(l.Fan.Now())))
				g.End()
				if gives {
					l.Pass(lock, g.Won, g.Token, g.Sent.Add(ttl), func(passed bool, _ time.Duration) {
						if !passed {
							l.Fan.Send(&fanout.Message{Call: nodescript.ReleaseCall(lock.Lock(), g.Owner, g.Token), Persist: g.Sent.Add(ttl + l.Fan.Set().Window)}, nil)
						}
					})
				}
			}
			ended <- refused == nil
		}()
		time.Sleep(upTo(500 * time.Millisecond))
	}
	if gives := r.IntN(2) == 0; gives {
		after := upTo(3 * time.Second)
		time.AfterFunc(after, func() {
			l.Fan.Send(&fanout.Message{Call: nodescript.ReleaseCall(lock.Lock(), other, stamp), Persist: l.Fan.Now().Add(others)}, nil)
		})
	}
	worst, second := nodes[r.IntN(3)], nodes[r.IntN(3)]
	for range 1 + r.IntN(4) {
		time.Sleep(upTo(2500 * time.Millisecond))
		worst.how.Store(r.Int32N(ways))
		if second != worst && r.IntN(4) == 0 {
			second.how.Store(r.Int32N(ways))
			time.Sleep(upTo(time.Second))
			second.how.Store(well)
		}
	}
	for range waiters {
		if <-ended {
			won++
		}
	}
	time.Sleep(upTo(13 * time.Second))
	for _, n := range nodes {
		n.how.Store(well)
	}
	time.Sleep(2500 * time.Millisecond)
	for i, n := range nodes {
		for _, k := range n.Keys() {
			if len(k.Waiting) > 0 {
				t.Errorf("nobody waits, and in line on node%d are %q", i, k.Waiting)
			}
			if k.Name != nodescript.RecordKey(lock.Name()) || kept {
				continue
			}
			if r, err := nodescript.ParseRecord(k.Text); err != nil || r.Owner != other && r.Expiry > nodemodel.Now() {
				t.Errorf("all was given back, and node%d keeps %+v, %v", i, r, err)
			}
		}
	}
	return won
}

func pickOf[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }
