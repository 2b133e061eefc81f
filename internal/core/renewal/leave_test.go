package renewal

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
	"github.com/holdfast-go/holdfast/internal/core/waiting"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// away is a node that a test can cut off.
type away struct {
	*nodemodel.Node
	cut atomic.Bool
}

func (n *away) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	if !n.cut.Load() {
		return n.Node.EvalSHA(ctx, calls)
	}
	return nodemodel.Failed(calls, errors.New("connection lost"))
}

func (n *away) Eval(ctx context.Context, text string, c node.Call, load ...string) node.Reply {
	if n.cut.Load() {
		return node.Reply{Err: errors.New("connection lost")}
	}
	return n.Node.Eval(ctx, text, c, load...)
}

// A client won a lease with a stamp that this node did not get. Leave must not keep the node's grant of an earlier
// stamp. The client also releases that grant if the node was away when Leave was sent.
func TestWhatLeaveDoesNotFindIsReleased(t *testing.T) {
	for name, cut := range map[string]bool{"at once": false, "when the node is back": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const ttl, window = 10 * time.Second, 50 * time.Millisecond
				n := &away{Node: oneNode(ttl, window)}
				fan, k := settled(t, n, ttl, window)
				lock := nodescript.NewExclusive(nodescript.Lock{Name: "x"})
				before, _, _ := fan.Stamp()
				fan.Send(&fanout.Message{Call: nodescript.AcquireCall(lock.Lock(), "a~b~c", before, ttl)}, nil)
				synctest.Wait()
				token, sent, _ := fan.Stamp()
				keeps := func() string {
					for _, key := range n.Keys() {
						if key.Name == nodescript.RecordKey("x") {
							r, _ := nodescript.ParseRecord(key.Text)
							return r.Owner
						}
					}
					return ""
				}
				if keeps() != "a~b~c" {
					t.Fatalf("the node keeps %q, want what was granted first", keeps())
				}
				e := k.Keep(t.Context(), lock, waiting.Won{Owner: "a~b~c", Token: token, Sent: sent, Deadline: quorum.Deadline(sent, ttl, window)}, ttl, nil)
				n.cut.Store(cut)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				_ = e.Leave(ctx, time.Second)
				n.cut.Store(false)
				time.Sleep(time.Second)
				if keeps() != "" {
					t.Errorf("a second later it keeps it for %q", keeps())
				}
			})
		})
	}
}

// oneNode returns a node of a set of one node.
func oneNode(ttl, window time.Duration) *nodemodel.Node {
	set := nodescript.Config{N: 1, MaxTTL: ttl, Window: window, Cluster: "test"}
	n := nodemodel.Master("run", nodemodel.Now, set)
	n.Serve()
	return n
}

// settled returns a client of such a node, which draws stamps, and its keeper.
func settled(t *testing.T, n node.Node, ttl, window time.Duration) (*fanout.Fanout, *Keeper) {
	t.Helper()
	fan := fanout.New(fanout.Config{
		Nodes: []node.Node{n}, Set: nodescript.Config{N: 1, MaxTTL: ttl, Window: window, Cluster: "test"},
		Timeout: 100 * time.Millisecond, Clock: clock.Monotonic(), Random: rand.Uint64, Logger: slog.New(slog.DiscardHandler),
	})
	t.Cleanup(func() { fan.Close(context.Background()) })
	k := NewKeeper(fan)
	t.Cleanup(k.Close)
	fan.AskVotes(t.Context())
	time.Sleep(time.Second) // the node votes after this
	if fan.Settle(t.Context()) != nil {
		t.Fatal("no stamps")
	}
	return fan, k
}

// behind is a node to which renewals come late: the test gets them.
type behind struct {
	*nodemodel.Node
	late chan node.Call
}

func (n *behind) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	const renewal = 5 // arguments
	if len(calls) > 1 || len(calls[0].Args) != renewal {
		return n.Node.EvalSHA(ctx, calls)
	}
	c := calls[0]
	n.late <- node.Call{SHA: c.SHA, Keys: append([]string{}, c.Keys...), Args: append([]string{}, c.Args...)}
	return []node.Reply{{Err: errors.New("connection lost")}}
}

// A renewal that comes after Leave does not bring the lease back. Other readers may have the name then, so only the
// tombstone keeps the renewal out. It must be above all stamps of the lease, not only above the token.
func TestALateRenewalBringsBackNoReaderThatLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ttl, window = 10 * time.Second, 500 * time.Millisecond
		n := &behind{oneNode(ttl, window), make(chan node.Call, 10)}
		fan, k := settled(t, n, ttl, window)
		lock := nodescript.NewShared(nodescript.Lock{Name: "x"})
		owner := nodescript.ReaderOwner("a~b~c")
		token, sent, _ := fan.Stamp()
		fan.Send(&fanout.Message{Call: nodescript.AcquireCall(lock.Lock(), owner, token, ttl)}, nil)
		synctest.Wait()
		e := k.Keep(t.Context(), lock, waiting.Won{Owner: owner, Token: token, Sent: sent, Deadline: quorum.Deadline(sent, ttl, window)}, ttl, nil)
		time.Sleep(50 * time.Millisecond) // the renewal has a later stamp
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		_ = e.Renew(ctx)
		if err := e.Leave(t.Context(), 20*time.Millisecond); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
		for calls := len(n.late); calls > 0; calls-- {
			if r := n.Node.EvalSHA(t.Context(), []node.Call{<-n.late}); r[0].Err != nil || r[0].Value[0] != 'L' {
				t.Errorf("the node answered a renewal that came after Leave: %+v", r)
			}
			if calls == 1 {
				return
			}
		}
		t.Error("no renewal was sent")
	})
}
