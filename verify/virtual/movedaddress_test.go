package virtual

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/environment"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/leasetest"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// flip is an address that leads to one server at a time, and can change it.
type flip struct {
	to    atomic.Pointer[nodemodel.Node]
	clock clock.Clock
	way   atomic.Int64
	peers atomic.Pointer[func()] // called before each report of members
	addr  string
}

func (f *flip) Environment() environment.Sources {
	return environment.Sources{Clock: f.clock, Random: rand.Uint64}
}
func (f *flip) Close()       {}
func (f *flip) Addr() string { return f.addr }
func (f *flip) Listen(ctx context.Context, _ string, _ func(string)) error {
	<-ctx.Done()
	return ctx.Err()
}
func (f *flip) pass(ctx context.Context) error {
	select {
	case <-time.After(time.Duration(f.way.Load())):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
func (f *flip) Eval(ctx context.Context, text string, c node.Call, load ...string) node.Reply {
	to := f.to.Load()
	if tell := f.peers.Load(); text == nodescript.PeersText() && tell != nil {
		(*tell)()
	}
	if err := f.pass(ctx); err != nil {
		return node.Reply{Err: err}
	}
	r := to.Eval(ctx, text, c, load...)
	if err := f.pass(ctx); err != nil {
		return node.Reply{Err: err}
	}
	return r
}
func (f *flip) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	to := f.to.Load()
	if err := f.pass(ctx); err != nil {
		return nodemodel.Failed(calls, err)
	}
	replies := to.EvalSHA(ctx, calls)
	if err := f.pass(ctx); err != nil {
		return nodemodel.Failed(calls, err)
	}
	return replies
}

// newFlip returns address i, which leads to a server, in the time way.
func newFlip(steady clock.Clock, i int, to *nodemodel.Node, way time.Duration) *flip {
	f := &flip{clock: steady, addr: fmt.Sprint("addr", i)}
	f.to.Store(to)
	f.way.Store(int64(way))
	return f
}

// flips returns the addresses of servers. Each way takes 1 ms.
func flips(servers ...*nodemodel.Node) (ways []*flip) {
	steady := clock.Monotonic()
	for i, s := range servers {
		ways = append(ways, newFlip(steady, i, s, time.Millisecond))
	}
	return ways
}

// clientOf returns a client of modelled nodes, and its ways to them.
func clientOf(t *testing.T, servers []*nodemodel.Node, set nodescript.Config) (*holdfast.Client, []*flip) {
	ways := flips(servers...)
	return open(t, set, holdfast.Config{NodeTimeout: 500 * time.Millisecond}, ways), ways
}

// Node 0 hangs for A. Node 1 is in both lists, reachable, and calls A's third server a stranger. A's third address
// leads for a moment to a server that is no node (a replica), and then back, while a report waits for node 0.
func TestAnObjectionOutlastsAnIDThatIsLostAndRegained(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		set := nodeSet(3, 10*time.Second)
		servers := manyNodes(5, set)
		servers[4].Info.Role = "slave"
		client := func(which ...int) (*holdfast.Client, []*flip) {
			var list []*nodemodel.Node
			for _, i := range which {
				list = append(list, servers[i])
			}
			ways := flips(list...)
			return open(t, set, holdfast.Config{}, ways), ways
		}
		b, ofB := client(0, 1, 2)
		defer b.Close()
		admin.Nodes(t.Context(), b)
		time.Sleep(time.Second)

		a, ofA := client(0, 1, 3)
		defer a.Close()
		admin.Nodes(t.Context(), a)
		l, err := a.Mutex("work").Lock(t.Context()) // this makes A work, so that it reports
		if err != nil {
			t.Fatal(err)
		}
		defer l.Unlock(context.Background())
		n, why := leasetest.Standing(t, a)
		t.Logf("%d nodes vote for A: %s", n, why)

		ofB[1].way.Store(int64(time.Hour)) // B holds x on nodes 0 and 2
		held, err := b.Mutex("x").TryLock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ofA[0].way.Store(int64(time.Hour)) // A gets no answer from node 0
		cut := time.Now()
		look := func() {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
			defer cancel()
			admin.Nodes(ctx, a)
		}
		for try := range 5 {
			// No node hears both clients. So after MaxTTL, node 1 may give the place of B's server to A's.
			if time.Since(cut) > set.MaxTTL-2*time.Second {
				break
			}
			reported := make(chan struct{}, 1)
			met := func() {
				select {
				case reported <- struct{}{}:
				default:
				}
			}
			ofA[1].peers.Store(&met)
			<-reported
			time.Sleep(20 * time.Millisecond) // by then node 1 has answered that server 3 is a stranger
			ofA[2].to.Store(servers[4])
			look()
			ofA[2].to.Store(servers[3])
			look()
			time.Sleep(600 * time.Millisecond)
			other, err := a.Mutex("x").TryLock(t.Context())
			n, why := leasetest.Standing(t, a)
			t.Logf("try %d: %d nodes vote for A: %.200s; %.200v", try, n, why, err)
			if err == nil && held.Context().Err() == nil {
				t.Fatalf("two holders: B for another %s, A %s", time.Until(held.Deadline()), time.Until(other.Deadline()))
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
}

// sited is an address whose driver proves where it leads. A proof hangs while hangs is set.
type sited struct {
	*flip
	hangs  atomic.Bool
	proofs atomic.Int64
	last   atomic.Int64 // when the last proof that was answered began, in µs
}

func (s *sited) Met() node.Identity { return node.Identity{} }

func (s *sited) Identify(ctx context.Context) (node.Identity, error) {
	began := time.Now()
	s.proofs.Add(1)
	if s.hangs.Load() {
		<-ctx.Done()
		return node.Identity{}, ctx.Err()
	}
	if err := s.pass(ctx); err != nil {
		return node.Identity{}, err
	}
	s.last.Store(began.UnixMicro())
	return node.Identity{Run: s.to.Load().Info.Run, Up: time.Hour, Dials: int(s.proofs.Load())}, nil
}

// sitedClient returns a client of one modelled node whose driver proves where its address leads.
func sitedClient(t *testing.T, server *nodemodel.Node, set nodescript.Config) (*holdfast.Client, *sited) {
	w := &sited{flip: flips(server)[0]}
	return open(t, set, holdfast.Config{NodeTimeout: 500 * time.Millisecond}, []*sited{w}), w
}

// The address moves to a server that this client cannot reach. Its old connections still renew its lease.
func TestALeaseEndsWithoutAProof(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		set := nodeSet(1, 10*time.Second)
		c, way := sitedClient(t, manyNodes(1, set)[0], set)
		defer c.Close()
		l := lock(t, c, "x")
		time.Sleep(time.Minute)
		if err := l.Context().Err(); err != nil {
			t.Fatalf("the lease ended while proofs came: %v", context.Cause(l.Context()))
		}
		way.hangs.Store(true)
		select {
		case <-l.Context().Done():
		case <-time.After(time.Minute):
			t.Fatal("the client relies on its lease a minute after the last proof")
		}
		if held := time.Since(time.UnixMicro(way.last.Load())); held >= set.Quarantine() || held < set.MaxTTL*3/4 {
			t.Errorf("the client relies on its lease for %s after the last proof began; the other server votes after %s", held, set.Quarantine())
		}
	})
}

// A fleet of 100 clients makes proofs all the time, but not all at once.
func TestAFleetSpreadsItsProofs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		set := nodeSet(1, 10*time.Second)
		server := manyNodes(1, set)[0]
		var ways []*sited
		for i := range 100 {
			c, way := sitedClient(t, server, set)
			defer c.Close()
			lock(t, c, fmt.Sprint("x", i))
			ways = append(ways, way)
		}
		all := func() (n int64) {
			for _, w := range ways {
				n += w.proofs.Load()
			}
			return n
		}
		time.Sleep(10 * time.Second) // the clients began together
		began, most := all(), int64(0)
		for range 30 {
			before := all()
			time.Sleep(time.Second)
			most = max(most, all()-before)
		}
		if a := float64(all()-began) / 30; a < 50 || a > 65 || most > 90 {
			t.Errorf("100 clients dial the node %.1f times a second, in one second %d times; want 57, and at most 90", a, most)
		} else {
			t.Logf("100 clients dial the node %.1f times a second, in one second at most %d times", a, most)
		}
	})
}
