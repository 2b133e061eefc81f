package e2e

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/verdict"
)

// This file has Redis Clusters whose servers agree that no hash slot has an owner.

// Nobody has given out the hash slots yet. Each call says so, and works when they are given out.
func TestAClusterWithoutHashSlotsRefusesEveryCall(t *testing.T) {
	t.Parallel()
	c := bareCluster(t, 1, 0)
	server := c.Servers()[0]
	server.MustDo(t, "CLUSTER", "FLUSHSLOTS")
	a := c.client()
	without := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, holdfast.ErrUnavailable) || !strings.Contains(err.Error(), "no server of the cluster has hash slots; redis-cli --cluster fix") {
			t.Errorf("%s: %v, want that no server has hash slots", what, err)
		}
	}
	ctx := t.Context()
	_, err := a.Mutex("n").TryLock(ctx)
	without("TryLock", err)
	_, err = a.Mutex("n").Lock(ctx)
	without("Lock", err)
	_, err = a.Semaphore("s", 2).TryAcquire(ctx)
	without("TryAcquire", err)
	_, err = a.Status(ctx, "n")
	without("Status", err)
	_, err = a.Now(ctx)
	without("Now", err)
	for _, err := range admin.List(ctx, a, admin.ListOptions{}) {
		without("List", err)
	}
	for what, said := range map[string][]verdict.Answer{"Nodes": admin.Nodes(ctx, a), "Trust": admin.Trust(ctx, a)} {
		if len(said) != 1 || said[0].Votes() || !strings.Contains(said[0].String(), "no server of the cluster has hash slots") {
			t.Errorf("%s: %v", what, said)
		}
	}
	if s := a.Stats(); len(s.Nodes) != 0 {
		t.Errorf("%d shards", len(s.Nodes))
	}
	waiter := eventually(t, a.Mutex("n", holdfast.WaitThroughOutages()).Lock)
	server.MustDo(t, "CLUSTER", "ADDSLOTSRANGE", 0, redistest.Slots-1)
	comes(t, waiter, "the waiter")
}

// All hash slots lose their owner while clients work. The waiters stay, and the lock is theirs when the slots are back.
func TestAClusterThatLosesItsHashSlotsEndsNoProcess(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1, 0)
	server := c.Servers()[0]
	a, b := c.client(), c.client()
	l := lock(t, a, "n")
	waiter := eventually(t, b.Mutex("n", holdfast.WaitThroughOutages()).Lock)
	c.inLine("n", 1)
	server.MustDo(t, "CLUSTER", "DELSLOTSRANGE", 0, redistest.Slots-1)
	redistest.Eventually(t, 20*time.Second, "the client to hear it", func() bool {
		_, err := a.Mutex("m").TryLock(t.Context())
		return err != nil && strings.Contains(err.Error(), "no server of the cluster has hash slots")
	})
	if s := a.Stats(); len(s.Nodes) != 0 {
		t.Errorf("%d shards", len(s.Nodes))
	}
	ends(t, l)
	if err := context.Cause(l.Context()); !errors.Is(err, holdfast.ErrLost) {
		t.Errorf("the lease ended with %v", err)
	}
	server.MustDo(t, "CLUSTER", "ADDSLOTSRANGE", 0, redistest.Slots-1)
	if next := comes(t, waiter, "the waiter"); next.Fence() <= l.Fence() {
		t.Errorf("the token %d comes after %d", next.Fence(), l.Fence())
	}
}
