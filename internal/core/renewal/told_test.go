package renewal

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/waiting"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// The client announces all losses of leases that are lost together before the nodes learn of most of the losses.
// Informing the nodes takes much longer. Without this order, holders relied on some leases after their deadlines.
func TestLossesThatAreMetTogetherAreAnnouncedBeforeTheNodesAreTold(t *testing.T) {
	const leases = 20_000
	synctest.Test(t, func(t *testing.T) {
		set := nodescript.Config{N: 1, MaxTTL: 10 * time.Second, Window: 250 * time.Millisecond, Cluster: "test"}
		m := nodemodel.Master("run", nodemodel.Now, set)
		m.Serve()
		fan := fanout.New(fanout.Config{
			Nodes: []node.Node{m}, Set: set, Timeout: time.Second, Clock: clock.Monotonic(), Random: rand.Uint64, Logger: slog.New(slog.DiscardHandler),
		})
		defer fan.Close(t.Context())
		fan.AskVotes(t.Context())
		k := NewKeeper(fan)
		var announced, kept atomic.Int64
		k.Explain = func(_ *Lease, why *LostError) error {
			if announced.Add(1) == leases {
				kept.Store(int64(len(k.Held()))) // the leases of whose loss the nodes do not know yet
			}
			return why
		}
		now := fan.Now()
		for i := range leases {
			k.Keep(t.Context(), nodescript.NewExclusive(nodescript.Lock{Name: fmt.Sprint("x", i)}), waiting.Won{
				Owner: "a~b~c", Token: 1, Sent: now.Add(time.Minute), Deadline: now.Add(3 * time.Second),
			}, 10*time.Second, nil)
		}
		time.Sleep(4 * time.Second)
		if announced.Load() != leases || kept.Load() < leases/2 {
			t.Errorf("%d of %d leases were announced; when the last was, the nodes had been told of %d", announced.Load(), leases, leases-kept.Load())
		}
		t.Logf("when the last was announced, the nodes had been told of %d", leases-kept.Load())
		k.Close()
		if left := len(k.Held()); left > 0 {
			t.Errorf("the nodes were not told of %d leases", left)
		}
	})
}
