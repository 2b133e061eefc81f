package renewal

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"slices"
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

// slow is a node that agrees to every renewal. It handles one renewal at a time, and each takes the time each.
type slow struct {
	*nodemodel.Node
	extend string        // the digest of extend
	turn   chan struct{} // a mutex that does not stop the time of a bubble
	each   time.Duration
	dead   func() bool // calls made now get no answer
}

func (n *slow) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	if n.dead() {
		return nodemodel.Hung(ctx, calls)
	}
	replies := make([]node.Reply, len(calls))
	n.turn <- struct{}{}
	defer func() { <-n.turn }()
	for i, c := range calls {
		renewals := len(c.Args) / 5
		time.Sleep(time.Duration(renewals) * n.each)
		switch {
		case c.SHA != n.extend:
			replies[i].Value = "D"
		case renewals == 1:
			replies[i].Value = "E"
		default:
			replies[i].Value = nodescript.Join(slices.Repeat([]string{"E"}, renewals))
		}
	}
	return replies
}

// serve makes the node vote, and returns a node set of it alone. The caller closes it.
func (n *slow) serve(t *testing.T, set nodescript.Config) *fanout.Fanout {
	m := nodemodel.Master("run", nodemodel.Now, set)
	m.Set(nodescript.GuardKey, set.String()+" run", 0)
	m.HSet(nodescript.AdmissionKey, "run", "run")
	m.HSet(nodescript.AdmissionKey, "config", set.String())
	m.HSet(nodescript.AdmissionKey, "evicted", "0")
	n.Node, n.extend = m, nodescript.NewScripts(set, "run").SHA(nodescript.Extend)
	fan := fanout.New(fanout.Config{
		Nodes: []node.Node{n}, Set: set, Timeout: time.Second, Clock: clock.Monotonic(), Random: rand.Uint64, Logger: slog.New(slog.DiscardHandler),
	})
	if a := fan.AskVotes(t.Context())[0]; a.Verdict != nodescript.Done {
		t.Fatalf("the node does not vote: %+v", a)
	}
	return fan
}

// crowded checks that a client loses none of its leases, of 10 s each. Each renewal takes the node the time each, and
// calls made while dead returns true get no answer.
func crowded(t *testing.T, leases int, each time.Duration, dead func(since time.Duration) bool) {
	const ttl = 10 * time.Second
	synctest.Test(t, func(t *testing.T) {
		set := nodescript.Config{N: 1, MaxTTL: ttl, Window: 250 * time.Millisecond, Cluster: "test"}
		began := time.Now()
		n := &slow{turn: make(chan struct{}, 1), each: each, dead: func() bool { return dead(time.Since(began)) }}
		fan := n.serve(t, set)
		defer fan.Close(t.Context())
		k := NewKeeper(fan)
		defer k.Close()
		now := fan.Now()
		for range leases {
			k.Keep(t.Context(), nodescript.NewExclusive(nodescript.Lock{Name: "x"}), waiting.Won{
				Owner: "a~b~c", Token: 1, Sent: now, Deadline: quorum.Deadline(now, ttl, set.Window),
			}, ttl, nil)
		}
		time.Sleep(2 * ttl)
		if held := len(k.Held()); held < leases {
			t.Errorf("%d of %d leases were lost, of a node that answers", leases-held, leases)
		}
	})
}

// After a pause of the process all its leases are due at once. There are more leases than the node renews in a window,
// and the client does not send renewals that waited longer. Without a limit most renewals would be in vain, and most
// repetitions too.
func TestManyLeasesThatAreDueAtOnceAreAllRenewed(t *testing.T) {
	const each = 100 * time.Microsecond // 2,500 renewals in a window, and all in 1.6 s
	crowded(t, 16_000, each, func(time.Duration) bool { return false })
}

// The connections of many renewals die without a word. The node answers later calls, so other renewals, and later ones
// of the same leases, do not wait for those.
func TestRenewalsThatHangKeepNoOthersWaiting(t *testing.T) {
	crowded(t, 4000, 10*time.Microsecond, func(since time.Duration) bool { return since > 2*time.Second && since < 3500*time.Millisecond })
}

// The nodes of one node set hang, and the client has more leases there than renewals may be under way. The leases of
// another node set are renewed meanwhile.
func TestANodeSetThatHangsKeepsNoOtherWaiting(t *testing.T) {
	const ttl = 10 * time.Second
	synctest.Test(t, func(t *testing.T) {
		set := nodescript.Config{N: 1, MaxTTL: ttl, Window: 250 * time.Millisecond, Cluster: "test"}
		began := time.Now()
		serve := func(dead bool) *fanout.Fanout {
			n := &slow{turn: make(chan struct{}, 1), dead: func() bool { return dead && time.Since(began) > time.Second }}
			return n.serve(t, set)
		}
		well, sick := serve(false), serve(true)
		defer well.Close(t.Context())
		defer sick.Close(t.Context())
		k := NewKeeper(well)
		defer k.Close()
		keep := func(fan *fanout.Fanout) *Lease {
			now := fan.Now()
			return k.Keep(t.Context(), nodescript.NewExclusive(nodescript.Lock{Name: "x"}), waiting.Won{
				Owner: "a~b~c", Token: 1, Sent: now, Deadline: quorum.Deadline(now, ttl, set.Window), Fan: fan,
			}, ttl, nil)
		}
		for range 4 * mostOut {
			keep(sick)
		}
		var healthy []*Lease
		for range 100 {
			healthy = append(healthy, keep(well))
		}
		for range 3 * ttl / time.Second {
			time.Sleep(time.Second)
			for _, e := range healthy {
				if left := e.Deadline().Sub(well.Now()); left < ttl/3 {
					t.Fatalf("after %s a lease of the healthy node set has %s left", time.Since(began), left)
				}
			}
		}
		if held := len(k.Held()); held != len(healthy) {
			t.Errorf("%d leases are held, want the %d of the healthy node set", held, len(healthy))
		}
	})
}
