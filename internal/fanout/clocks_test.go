package fanout

import (
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/clock"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/internal/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// While a move of the clocks settles nothing is sent that would tell that they are right again: whoever
// met them in a bad moment waited for MaxTTL + W, and then found that it had to wait once more.
func TestClocksThatAreRightAgainAreNoticedWhileAMoveSettles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := nodescript.Config{N: 1, MaxTTL: 10 * time.Second, Window: 250 * time.Millisecond, Cluster: "test"}
		var wrong atomic.Int64
		now := func() int64 { return time.Now().Add(30*365*24*time.Hour).UnixMicro() + wrong.Load() }
		n := nodemodel.New("model", now, nodemodel.Info{Run: "run", Role: "master"}, set)
		f := New(Config{Nodes: []node.Node{n}, Set: set, Timeout: time.Second, Clock: clock.Monotonic(), Logger: slog.New(slog.DiscardHandler)})
		defer f.Close(t.Context())
		f.Settle(t.Context())
		if _, _, err := f.Stamp(); err != nil {
			t.Fatal(err)
		}
		wrong.Store(time.Minute.Microseconds())
		time.Sleep(time.Second)
		f.Hail(t.Context())
		if _, _, err := f.Stamp(); err == nil {
			t.Fatal("a move by a minute was followed at once")
		}
		time.Sleep(rereadEvery) // still wrong
		if _, _, err := f.Stamp(); err == nil {
			t.Fatal("a move by a minute was followed")
		}
		wrong.Store(0)
		for range 2 {
			time.Sleep(rereadEvery)
			f.Stamp()
		}
		synctest.Wait()
		if _, _, err := f.Stamp(); err != nil {
			t.Errorf("the clock is right again: %v", err)
		}
	})
}
