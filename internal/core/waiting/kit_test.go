package waiting

import (
	"context"
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
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// This file contains clients on modelled nodes that vote, for bubbles of testing/synctest.

// three returns the locker of a client on three nodes that it has met. wrap returns the node that the client sees in
// place of each model.
func three(t *testing.T, wrap func(i int, m *nodemodel.Node) node.Node) *Locker {
	t.Helper()
	set, models := voting(0, 0, 0)
	var nodes []node.Node
	for i, m := range models {
		nodes = append(nodes, wrap(i, m))
	}
	return met(t, locker(t, set, time.Second, nodes...))
}

// hearing returns the locker of a client on three nodes of one kind. The nodes vote, and the client hears them.
func hearing[T node.Node](t *testing.T, of func(m *nodemodel.Node) T) (*Locker, []T) {
	t.Helper()
	var nodes []T
	l := three(t, func(i int, m *nodemodel.Node) node.Node {
		nodes = append(nodes, of(m))
		return nodes[i]
	})
	l.Inbox.open(t.Context())
	l.Fan.AskVotes(t.Context())
	return l, nodes
}

// taken gives a lock to another client on some nodes. A nil on means all nodes. It returns the owner and the token.
func (l *Locker) taken(t *testing.T, lock *nodescript.Exclusive, ttl time.Duration, on func(node int) bool) (owner string, token int64) {
	t.Helper()
	token, _, err := l.Fan.Stamp()
	if err != nil {
		t.Fatal(err)
	}
	owner = nodescript.NewOwner("other", "client of its own", token, []byte("random"))
	l.Fan.Send(&fanout.Message{Call: nodescript.AcquireCall(lock.Lock(), owner, token, ttl)}, on)
	synctest.Wait()
	return owner, token
}

// voting returns nodes that vote. ahead contains the lead of each node's clock.
func voting(ahead ...time.Duration) (nodescript.Config, []*nodemodel.Node) {
	return votingWithin(250*time.Millisecond, ahead...)
}

// votingWithin does the same as voting, with the given window.
func votingWithin(window time.Duration, ahead ...time.Duration) (nodescript.Config, []*nodemodel.Node) {
	set := nodescript.Config{N: len(ahead), MaxTTL: 40 * window, Window: window, Cluster: "test"}
	var nodes []*nodemodel.Node
	for i, ahead := range ahead {
		run := fmt.Sprintf("run%d", i)
		clock := func() int64 { return nodemodel.Now() + ahead.Microseconds() }
		m := nodemodel.Master(run, clock, set)
		m.Set(nodescript.GuardKey, set.String()+" "+run, 0)
		m.HSet(nodescript.AdmissionKey, "run", run)
		m.HSet(nodescript.AdmissionKey, "config", set.String())
		m.HSet(nodescript.AdmissionKey, "evicted", "0")
		m.HSet(nodescript.AdmissionKey, "id", "id-"+run)
		nodes = append(nodes, m)
	}
	return set, nodes
}

// met returns l after it has met its nodes.
func met(t testing.TB, l *Locker) *Locker {
	t.Helper()
	if answers := l.Fan.Settle(t.Context()); answers != nil {
		t.Fatalf("no stamps: %+v", answers)
	}
	return l
}

var clients int // the number of clients so far; each client needs its own inbox

// locker returns a client's locker on nodes that it has not met.
func locker(t testing.TB, set nodescript.Config, timeout time.Duration, nodes ...node.Node) *Locker {
	fan := fanout.New(fanout.Config{
		Nodes: nodes, Set: set, Timeout: timeout, Clock: clock.Monotonic(), Random: rand.Uint64, Logger: slog.New(slog.DiscardHandler),
	})
	t.Cleanup(func() { fan.Close(t.Context()) })
	clients++
	client := fmt.Sprint("client", clients)
	var owners atomic.Int64
	return &Locker{
		Fan: fan, RetryDelay: timeout, Stop: make(chan struct{}), Inbox: NewInbox(fan, client),
		NewOwner: func(client string, ticket int64) string {
			return nodescript.NewOwner("label", client, ticket, []byte(fmt.Sprintf("random%d", owners.Add(1))))
		},
	}
}

// bid returns the bid of a waiter for the name x.
func (l *Locker) bid(t *testing.T) *bidder {
	t.Helper()
	var ticket int64
	b, _, err := l.waiter(nodescript.NewExclusive(nodescript.Lock{Name: "x"}), 10*time.Second, &ticket)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// listens reports whether the subscription on a node works.
func (b *Inbox) listens(node int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.up[node]
}

// Wait waits for a lock without further settings.
func (l *Locker) Wait(ctx context.Context, lock nodescript.Kind, ttl time.Duration, told func(*Refusal)) (Grant, *Refusal) {
	return l.WaitFor(ctx, Want{Lock: lock, TTL: ttl, Told: told})
}
