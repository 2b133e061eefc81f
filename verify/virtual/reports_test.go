package virtual

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/leasetest"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// retransmitted delivers each report of the first second 200 ms late, as TCP does after one lost packet.
type retransmitted struct {
	*far
	until time.Time
	said  func(string)
}

func (s *retransmitted) Eval(ctx context.Context, text string, c node.Call, load ...string) node.Reply {
	if text == nodescript.PeersText() && time.Now().Before(s.until) {
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return node.Reply{Err: ctx.Err()}
		}
	}
	r := s.far.Eval(ctx, text, c, load...)
	if text == nodescript.PeersText() {
		s.said(r.Value)
	}
	return r
}

// Node 0 is in both lists. It knows B's list, and a round trip to it takes less than half a window. A's first report
// reaches node 0 too late. So node 0 answers, within two windows, that the stamp is off its clock (O). A must not take
// this answer for silence. Otherwise A counts the votes of two strangers, and relies on them for ten minutes.
func TestALateReportBringsTheObjectionsOfASharedNode(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newTwoLists(t)
		b, _ := s.client(0, 3, 4)
		defer b.Close()
		admin.Nodes(t.Context(), b)
		held := lock(t, b, "x")
		unused, ways := s.client(0, 1, 2)
		defer unused.Close()
		ways[0].there.Store(int64(60 * time.Millisecond))
		ways[0].back.Store(int64(60 * time.Millisecond))
		began := time.Now()
		first := &retransmitted{far: ways[0], until: began.Add(time.Second), said: func(v string) {
			t.Logf("node 0 answers a report after %s: %.20q", time.Since(began), v)
		}}
		a := open(t, s.set, holdfast.Config{}, []node.Node{first, ways[1], ways[2]})
		defer a.Close()
		other, err := a.Mutex("x").TryLock(t.Context())
		if err != nil {
			t.Log(err)
			return
		}
		time.Sleep(time.Minute)
		if other.Context().Err() == nil && held.Context().Err() == nil {
			t.Errorf("two holders after a minute: B for another %s, A for another %s", time.Until(held.Deadline()), time.Until(other.Deadline()))
		}
	})
}

// Node 0 is in both lists, works, and knows B's list. A round trip to it takes 1.3 windows, most of it in one
// direction. So it refuses A's reports, because their stamps are off its clock (O). A must not take this answer for
// silence.
func TestASharedNodeThatIsFarInOneDirectionObjects(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newTwoLists(t)
		b, _ := s.client(0, 3, 4)
		defer b.Close()
		admin.Nodes(t.Context(), b)
		held := lock(t, b, "x")
		a, ways := s.client(0, 1, 2)
		defer a.Close()
		ways[0].there.Store(int64(300 * time.Millisecond))
		for i := range 60 {
			if other, err := a.Mutex("x").TryLock(t.Context()); err == nil && held.Context().Err() == nil {
				n, why := leasetest.Standing(t, a)
				t.Fatalf("try %d: two holders: B for another %s, A for another %s; %d nodes vote for A: %s", i, time.Until(held.Deadline()), time.Until(other.Deadline()), n, why)
			}
			time.Sleep(time.Second)
		}
		_, why := leasetest.Standing(t, a)
		t.Log(why)
	})
}

// once makes one pipeline fail, as when its connection breaks.
type once struct {
	*flip
	breaks atomic.Bool
}

func (b *once) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	if b.breaks.CompareAndSwap(true, false) {
		return nodemodel.Failed(calls, errors.New("connection lost"))
	}
	return b.flip.EvalSHA(ctx, calls)
}

// Three of five nodes are healthy, but one connection to them breaks every few seconds. Another node hangs, and another
// address leads to a stranger. None of these faults alone costs a lease.
func TestATrustedVoteDoesNotWaitForReportsOfOthers(t *testing.T) {
	t.Parallel()
	total := 0
	for _, ttl := range []time.Duration{2 * time.Second, 5 * time.Second} {
		for _, trip := range []time.Duration{2, 50} {
			for mode := range 4 {
				hung, stranger := mode&1 != 0, mode&2 != 0
				synctest.Test(t, func(t *testing.T) {
					set := nodeSet(5, ttl)
					servers := manyNodes(6, set)
					other, _ := clientOf(t, servers[:5], set)
					defer other.Close()
					stop := make(chan struct{})
					defer close(stop)
					ol := lock(t, other, "other")
					defer func() { ol.Unlock(context.Background()) }()
					if stranger {
						servers[4] = servers[5]
					}
					var ways []*once
					steady := clock.Monotonic()
					for i := range 5 {
						ways = append(ways, &once{flip: newFlip(steady, i, servers[i], trip*time.Millisecond/2)})
					}
					c := open(t, set, holdfast.Config{NodeTimeout: 500 * time.Millisecond}, ways)
					defer c.Close()
					admin.Nodes(t.Context(), c)
					var held []*holdfast.Lease
					lost := 0
					var why error
					for i := range 2 { // all leases share the client's voters, so two show what twenty would
						held = append(held, lock(t, c, fmt.Sprint("held", i)))
					}
					if hung {
						ways[3].way.Store(int64(time.Hour))
					}
					for i := range 30 {
						time.Sleep(3*time.Second + 37*time.Millisecond)
						ways[i%3].breaks.Store(true)
						for k, l := range held {
							if l.Context().Err() != nil {
								lost++
								why = context.Cause(l.Context())
								var err error
								for held[k], err = c.Mutex(fmt.Sprint("held", k)).Lock(t.Context()); err != nil; {
									held[k], err = c.Mutex(fmt.Sprint("held", k)).Lock(t.Context())
								}
							}
						}
					}
					if lost > 0 {
						total += lost
					}
					t.Logf("TTL %v, trip %v, hung %v, stranger %v: %d leases lost %.300v", ttl, trip*time.Millisecond, hung, stranger, lost, why)
					for _, l := range held {
						l.Unlock(context.Background())
					}
				})
			}
		}
	}
	if total > 0 {
		t.Errorf("%d leases lost", total)
	}
}
