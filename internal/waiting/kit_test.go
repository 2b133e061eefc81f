package waiting

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/clock"
	"github.com/holdfast-go/holdfast/internal/fanout"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/internal/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// The kit: clients on modelled nodes that vote, for bubbles of testing/synctest.

// three is the locker of a client on three nodes; wrap is what stands before each. It has met
// them when it is returned.
func three(t *testing.T, wrap func(i int, m *nodemodel.Node) node.Node) *Locker {
	t.Helper()
	set, models := voting(0, 0, 0)
	var nodes []node.Node
	for i, m := range models {
		nodes = append(nodes, wrap(i, m))
	}
	return met(t, locker(t, set, time.Second, nodes...))
}

// hearing is the locker of a client on three nodes of a kind, which vote, and which it hears.
func hearing[T node.Node](t *testing.T, of func(m *nodemodel.Node) T) (*Locker, []T) {
	t.Helper()
	var nodes []T
	l := three(t, func(i int, m *nodemodel.Node) node.Node {
		nodes = append(nodes, of(m))
		return nodes[i]
	})
	l.Inbox.open(t.Context())
	l.Fan.Hail(t.Context())
	return l, nodes
}

// taken gives a lock to another client, on some nodes; nil means all. It returns its owner and token.
func (l *Locker) taken(t *testing.T, lock nodescript.Lock, ttl time.Duration, on func(node int) bool) (owner string, token int64) {
	t.Helper()
	token, _, err := l.Fan.Stamp()
	if err != nil {
		t.Fatal(err)
	}
	owner = nodescript.NewOwner("other", "client of its own", token, []byte("random"))
	l.Fan.Send(&fanout.Message{Call: nodescript.AcquireCall(lock, owner, token, ttl)}, on)
	synctest.Wait()
	return owner, token
}

// voting are nodes that vote, whose clocks are so far ahead.
func voting(ahead ...time.Duration) (nodescript.Config, []*nodemodel.Node) {
	return votingWithin(250*time.Millisecond, ahead...)
}

// votingWithin is voting, with a window.
func votingWithin(window time.Duration, ahead ...time.Duration) (nodescript.Config, []*nodemodel.Node) {
	set := nodescript.Config{N: len(ahead), MaxTTL: 40 * window, Window: window, Cluster: "test"}
	var nodes []*nodemodel.Node
	for i, ahead := range ahead {
		run := fmt.Sprintf("run%d", i)
		clock := func() int64 { return micros() + ahead.Microseconds() }
		m := nodemodel.New(run, clock, nodemodel.Info{Run: run, Role: "master", Policy: "noeviction", Version: "model"}, set)
		m.Set(nodescript.GuardKey, set.String()+" "+run, 0)
		m.HSet(nodescript.AdmissionKey, "run", run)
		m.HSet(nodescript.AdmissionKey, "config", set.String())
		m.HSet(nodescript.AdmissionKey, "evicted", "0")
		m.HSet(nodescript.AdmissionKey, "id", "id-"+run)
		nodes = append(nodes, m)
	}
	return set, nodes
}

// met is l when it has met its nodes.
func met(t *testing.T, l *Locker) *Locker {
	t.Helper()
	if answers := l.Fan.Settle(t.Context()); answers != nil {
		t.Fatalf("no stamps: %+v", answers)
	}
	return l
}

var clients int // made so far: no two have one inbox

// locker is a client's locker on nodes that it has not met.
func locker(t *testing.T, set nodescript.Config, timeout time.Duration, nodes ...node.Node) *Locker {
	fan := fanout.New(fanout.Config{
		Nodes: nodes, Set: set, Timeout: timeout, Clock: clock.Monotonic(), Random: rand.Uint64, Logger: slog.New(slog.DiscardHandler),
	})
	t.Cleanup(func() { fan.Close(t.Context()) })
	clients++
	client := fmt.Sprint("client", clients)
	var owners atomic.Int64
	return &Locker{
		Fan: fan, RetryDelay: timeout, Stop: make(chan struct{}), Inbox: NewInbox(fan, client),
		NewOwner: func(ticket int64) string {
			return nodescript.NewOwner("label", client, ticket, []byte(fmt.Sprintf("random%d", owners.Add(1))))
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

// listens reports whether the subscription on a node stands.
func (b *Inbox) listens(node int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.up[node]
}
