package waiting

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/clock"
	"github.com/holdfast-go/holdfast/internal/fanout"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/internal/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// The kit: a client on three modelled nodes that vote, for bubbles of testing/synctest.

// three is the client's locker; wrap is what stands before each node. It has met them when it
// is returned.
func three(t *testing.T, wrap func(i int, m *nodemodel.Node) node.Node) *Locker {
	t.Helper()
	set := nodescript.Config{N: 3, MaxTTL: 10 * time.Second, Window: 250 * time.Millisecond, Cluster: "test"}
	var nodes []node.Node
	for i := range set.N {
		run := fmt.Sprintf("run%d", i)
		m := nodemodel.New(run, micros, nodemodel.Info{Run: run, Role: "master", Policy: "noeviction", Version: "model"}, set)
		m.Set(nodescript.GuardKey, set.String()+" "+run, 0)
		m.HSet(nodescript.AdmissionKey, "run", run)
		m.HSet(nodescript.AdmissionKey, "config", set.String())
		m.HSet(nodescript.AdmissionKey, "evicted", "0")
		nodes = append(nodes, wrap(i, m))
	}
	l := locker(t, set, time.Second, nodes...)
	if answers := l.Fan.Settle(t.Context()); answers != nil {
		t.Fatalf("no stamps: %+v", answers)
	}
	return l
}

// locker is a client's locker on nodes that it has not met.
func locker(t *testing.T, set nodescript.Config, timeout time.Duration, nodes ...node.Node) *Locker {
	fan := fanout.New(fanout.Config{
		Nodes: nodes, Set: set, Timeout: timeout, Clock: clock.Monotonic(), Random: rand.Uint64, Logger: slog.New(slog.DiscardHandler),
	})
	t.Cleanup(func() { fan.Close(t.Context()) })
	owners := 0
	return &Locker{
		Fan: fan, RetryDelay: timeout, Stop: make(chan struct{}), Inbox: NewInbox(fan, "client"),
		NewOwner: func(ticket int64) string {
			owners++
			return nodescript.NewOwner("label", "client", ticket, []byte(fmt.Sprintf("random%d", owners)))
		},
	}
}

// micros is what the clocks of modelled nodes say in a bubble.
func micros() int64 { return time.Now().Add(30 * 365 * 24 * time.Hour).UnixMicro() }

// bid is the bid of a waiter for x.
func (l *Locker) bid(t *testing.T) *bid {
	t.Helper()
	var ticket int64
	b, err := l.waiter(nodescript.Lock{Name: "x"}, 10*time.Second, &ticket)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
