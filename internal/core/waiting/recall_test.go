package waiting

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// One node of three is down, and one is in quarantine. Their refusals decide a round before the third node, which votes,
// has answered. The wait lasts until the quarantine ends.
func TestAQuarantineIsWaitedForBesideANodeThatIsDown(t *testing.T) {
	for _, way := range []time.Duration{0, time.Millisecond, 20 * time.Millisecond} {
		t.Run(fmt.Sprint("nodes ", way, " away"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				set, models := voting(0, 0, 0)
				models[1].Del(nodescript.GuardKey)
				down := &downNode{Node: models[0]}
				l := met(t, locker(t, set, time.Second, down, models[1], far{models[2], way}))
				l.Fan.AskVotes(t.Context())
				down.is.Store(true)
				began := time.Now()
				g, r := l.Wait(t.Context(), nodescript.NewExclusive(nodescript.Lock{Name: "x"}), set.MaxTTL, func(*Refusal) {})
				if took := time.Since(began); r != nil || took < set.MaxTTL/2 {
					t.Fatalf("after %s: %+v, %+v; want the lock, after the quarantine", took, g, r)
				}
			})
		})
	}
}

// downNode is a node whose server can end.
type downNode struct {
	*nodemodel.Node
	is atomic.Bool
}

var errRefused = errors.New("connection refused")

func (n *downNode) Eval(ctx context.Context, text string, c node.Call, load ...string) node.Reply {
	if n.is.Load() {
		return node.Reply{Err: errRefused}
	}
	return n.Node.Eval(ctx, text, c, load...)
}

func (n *downNode) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	if n.is.Load() {
		return nodemodel.Failed(calls, errRefused)
	}
	return n.Node.EvalSHA(ctx, calls)
}

// A wait must last through the quarantine of a majority, even if the third node refuses at once and for good. That
// refusal decides a round before the quarantined nodes have answered it.
func TestAQuarantineIsWaitedForBesideANodeThatRefuses(t *testing.T) {
	for what, refuses := range map[string]func(m *nodemodel.Node){
		"an evicting policy":    func(m *nodemodel.Node) { m.Info.MaxMemory, m.Info.Policy = 1, "allkeys-lru" },
		"another configuration": func(m *nodemodel.Node) { m.HSet(nodescript.AdmissionKey, "config", "another") },
	} {
		for _, way := range []time.Duration{0, time.Millisecond, 20 * time.Millisecond} {
			t.Run(fmt.Sprint(what, ", nodes ", way, " away"), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					set, models := voting(0, 0, 0)
					var nodes []node.Node
					for i, m := range models {
						m.Del(nodescript.GuardKey)
						if i == 0 {
							refuses(m)
							nodes = append(nodes, m)
							continue
						}
						nodes = append(nodes, far{m, way})
					}
					l := locker(t, set, time.Second, nodes...)
					began := time.Now()
					g, r := l.Wait(t.Context(), nodescript.NewExclusive(nodescript.Lock{Name: "x"}), set.MaxTTL, func(*Refusal) {})
					if took := time.Since(began); r != nil || took < set.MaxTTL {
						t.Fatalf("after %s: %+v, %+v; want the lock, after the quarantine", took, g, r)
					}
				})
			})
		}
	}
}
