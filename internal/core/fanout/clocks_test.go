package fanout

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// stuck is a node that stops answering when the test sets now.
type stuck struct {
	node.Node
	now   atomic.Bool
	asked atomic.Int64
}

func (n *stuck) Eval(ctx context.Context, text string, c node.Call, load ...string) node.Reply {
	n.asked.Add(1)
	if n.now.Load() {
		<-ctx.Done()
		return node.Reply{Err: ctx.Err()}
	}
	return n.Node.Eval(ctx, text, c, load...)
}

// masters returns the nodes of a set. All have the clock now, in µs.
func masters(set nodescript.Config, now func() int64) (nodes []node.Node) {
	for i := range set.N {
		run := fmt.Sprint("run", i)
		nodes = append(nodes, nodemodel.Master(run, now, set))
	}
	return nodes
}

// While a move of the clocks settles, no other message shows that the clocks are right again. Without the reading of
// this test, a client that met the clocks in a bad moment waited for MaxTTL + W, and then for the same time again.
func TestClocksThatAreRightAgainAreNoticedWhileAMoveSettles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := nodescript.Config{N: 3, MaxTTL: 10 * time.Second, Window: 250 * time.Millisecond, Cluster: "test"}
		var wrong atomic.Int64
		now := func() int64 { return nodemodel.Now() + wrong.Load() }
		nodes := masters(set, now)
		hangs := &stuck{Node: nodes[2]} // this node must not delay the answers of the others
		nodes[2] = hangs
		f := New(Config{Nodes: nodes, Set: set, Timeout: 10 * time.Second, Clock: clock.Monotonic(), Random: rand.Uint64, Logger: slog.New(slog.DiscardHandler)})
		defer f.Close(t.Context())
		f.AskVotes(t.Context())
		if _, _, err := f.Stamp(); err != nil {
			t.Fatal(err)
		}
		wrong.Store(time.Minute.Microseconds())
		time.Sleep(time.Second)
		f.AskVotes(t.Context())
		hangs.now.Store(true)
		if _, _, err := f.Stamp(); err == nil {
			t.Fatal("a move by a minute was followed at once")
		}
		time.Sleep(2 * rereadEvery) // the clocks are still wrong
		if _, _, err := f.Stamp(); err == nil {
			t.Fatal("a move by a minute was followed")
		}
		wrong.Store(0)
		for range 2 {
			time.Sleep(2 * rereadEvery)
			f.Stamp()
		}
		time.Sleep(set.Window)
		if _, _, err := f.Stamp(); err != nil {
			t.Errorf("the clock is right again: %v", err)
		}
	})
}

// Right clocks lie nearly a window apart, and the client's clock drifts from them. So a node that comes back seems to
// be more than a window off the others, which were read earlier. It refuses stamps until the client reads all clocks
// again. (verify/sim found this with seed 700063: the client could use that node only after the next regular reading.)
func TestANodeWhoseClockSeemsOffBecauseTheOthersWereReadLongAgoVotesSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := nodescript.Config{N: 3, MaxTTL: 10 * time.Second, Window: 250 * time.Millisecond, Cluster: "test"}
		began := time.Now()
		now := func() int64 { return time.Now().Add(30*365*24*time.Hour - time.Since(began)/1250).UnixMicro() } // loses 0.8 ms a second
		early := func() int64 { return now() - 240_000 }
		back := &stuck{Node: nodemodel.Master("early", early, set)}
		back.now.Store(true)
		f := New(Config{Nodes: append(masters(set, now)[:2], back), Set: set, Timeout: time.Second, Clock: clock.Monotonic(), Random: rand.Uint64, Logger: slog.New(slog.DiscardHandler)})
		defer f.Close(t.Context())
		f.AskVotes(t.Context())
		time.Sleep(40 * time.Second) // the next regular reading comes after 62.5 s
		back.now.Store(false)
		f.voters[2].askVote()
		time.Sleep(2 * rereadEvery)
		if off, known := f.Offset(2); !known || off.Abs() > set.Window*6/10 {
			t.Errorf("the node that is back still seems to be %s off the stamps, %v; its clock is 240 ms behind the others", off, known)
		}
	})
}

// Clocks drift apart while a client has no work. If the client learned of this only with its next stamp, it could not
// follow the clocks for MaxTTL + W. A client that only tries now and then would never get a lock again.
func TestAnIdleClientGoesWithTheClocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := nodescript.Config{N: 3, MaxTTL: 10 * time.Second, Window: 250 * time.Millisecond, Cluster: "test"}
		var apart atomic.Int64
		now := func() int64 { return nodemodel.Now() + apart.Load() }
		nodes := masters(set, now)
		hangs := &stuck{Node: nodes[2]}
		nodes[2] = hangs
		f := New(Config{Nodes: nodes, Set: set, Timeout: 10 * time.Second, Clock: clock.Monotonic(), Random: rand.Uint64, Logger: slog.New(slog.DiscardHandler)})
		f.AskVotes(t.Context())
		if _, _, err := f.Stamp(); err != nil {
			t.Fatal(err)
		}
		hangs.now.Store(true)
		for range 24 * 60 { // in one day the clocks drift apart by 4 s
			time.Sleep(time.Minute)
			apart.Add(3000)
		}
		stamp, _, err := f.Stamp()
		if off := time.Duration(stamp-now()) * time.Microsecond; err != nil || off.Abs() > 10*3*time.Millisecond {
			t.Errorf("after a day in which nothing was locked the stamp is %s off the clocks; %v", off, err)
		}
		f.Close(t.Context())
		before := hangs.asked.Load()
		time.Sleep(time.Hour)
		if n := hangs.asked.Load() - before; n > 0 {
			t.Errorf("asked %d times after Close", n)
		}
	})
}

// While a host sleeps, its timers do not run, so the client does not read the clocks, and the clocks may drift apart by
// more than a window. A stamp that was drawn before the next reading kept the client from following the clocks for
// MaxTTL + W.
func TestAHostThatSleptForLongReadsTheClocksBeforeAStamp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := nodescript.Config{N: 3, MaxTTL: 10 * time.Second, Window: 250 * time.Millisecond, Cluster: "test"}
		var slept, apart atomic.Int64 // in µs
		now := func() int64 {
			return nodemodel.Now() + slept.Load() + apart.Load()
		}
		nodes := masters(set, now)
		hangs := &stuck{Node: nodes[2]}
		nodes[2] = hangs
		awake := clock.Monotonic()
		steady := func() clock.Instant { return awake().Add(time.Duration(slept.Load()) * time.Microsecond) }
		f := New(Config{Nodes: nodes, Set: set, Timeout: time.Second, Clock: steady, Random: rand.Uint64, Logger: slog.New(slog.DiscardHandler)})
		defer f.Close(t.Context())
		f.AskVotes(t.Context())
		if _, _, err := f.Stamp(); err != nil {
			t.Fatal(err)
		}
		hangs.now.Store(true)
		slept.Add((2 * time.Hour).Microseconds())
		apart.Add((2 * set.Window).Microseconds())
		for _, when := range []string{"when it wakes", "a moment later"} {
			f.Settle(t.Context())
			stamp, _, err := f.Stamp()
			if off := time.Duration(stamp-now()) * time.Microsecond; err != nil || off.Abs() > time.Millisecond {
				t.Errorf("%s a stamp is %s off the clocks; %v", when, off, err)
			}
			time.Sleep(time.Second)
			f.AskVotes(t.Context())
		}
	})
}

// late is a node whose answers take the times in takes, one after the other.
type late struct {
	node.Node
	takes []time.Duration
}

func (n *late) Eval(ctx context.Context, text string, c node.Call, load ...string) node.Reply {
	if len(n.takes) > 0 {
		takes := n.takes[0]
		n.takes = n.takes[1:]
		select {
		case <-time.After(takes):
		case <-ctx.Done():
			return node.Reply{Err: ctx.Err()}
		}
	}
	return n.Node.Eval(ctx, text, c, load...)
}

// The quickest answer about a node's clock counts, not the last answer. One answer is enough if no other answer comes
// in time.
func TestTheQuickestOfThreeReadingsCounts(t *testing.T) {
	const ms = time.Millisecond
	for _, takes := range [][]time.Duration{{30 * ms, 10 * ms, 20 * ms}, {10 * ms, time.Hour}, {20 * ms, 10 * ms, time.Hour}} {
		synctest.Test(t, func(t *testing.T) {
			set := nodescript.Config{N: 1, MaxTTL: 10 * time.Second, Window: 250 * ms, Cluster: "test"}
			n := &late{Node: nodemodel.Master("run", nodemodel.Now, set), takes: slices.Clone(takes)}
			f := New(Config{Nodes: []node.Node{n}, Set: set, Timeout: time.Second, Clock: clock.Monotonic(), Random: rand.Uint64, Logger: slog.New(slog.DiscardHandler)})
			defer f.Close(t.Context())
			start := time.Now()
			_, r, err := f.voters[0].hello(t.Context(), time.Second)
			if took := r.Received.Sub(r.Sent); err != nil || took != 10*ms || len(n.takes) > 0 {
				t.Errorf("of answers after %v one that took %s counts; %v", takes, took, err)
			}
			if took := time.Since(start); took > time.Second {
				t.Errorf("answers after %v were waited for for %s", takes, took)
			}
		})
	}
}

// A client's clock that is being set right runs 400 µs a second ahead of the nodes' clocks for hours, while the client
// works. The client must not treat this as a move of the nodes' clocks, because after a move it would get no lock for
// MaxTTL + W.
func TestAClientWhoseClockIsSetRightIsNeverKeptWaiting(t *testing.T) {
	for _, rate := range []time.Duration{-1000, 400, 1000} { // in µs a second
		t.Run(fmt.Sprint(int64(rate)), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				set := nodescript.Config{N: 3, MaxTTL: 10 * time.Second, Window: 250 * time.Millisecond, Cluster: "test"}
				nodes := masters(set, nodemodel.Now)
				steady := clock.Monotonic()
				slewed := func() clock.Instant { i := steady(); return i + i/1_000_000*clock.Instant(rate) }
				f := New(Config{Nodes: nodes, Set: set, Timeout: time.Second, Clock: slewed, Random: rand.Uint64, Logger: slog.New(slog.DiscardHandler)})
				defer f.Close(t.Context())
				f.AskVotes(t.Context())
				for range 3 * 3600 {
					time.Sleep(time.Second)
					stamp, _, err := f.Stamp()
					if off := time.Duration(stamp-nodemodel.Now()) * time.Microsecond; err != nil || off.Abs() > set.Window/2 {
						t.Fatalf("a stamp is %s off the nodes' clocks; %v", off, err)
					}
				}
			})
		})
	}
}
