package e2e

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

func clusterClient(t *testing.T, c *redistest.Cluster, with func(*holdfast.Config)) *holdfast.Client {
	t.Helper()
	url := "redis+cluster://"
	for i, a := range c.Addrs() {
		if i > 0 {
			url += ","
		}
		url += a
	}
	nodes, err := rueidisnode.Open(url)
	if err != nil {
		t.Fatal(err)
	}
	cfg := holdfast.Config{Nodes: nodes}
	if with != nil {
		with(&cfg)
	}
	client, err := holdfast.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

func TestClusterFirst(t *testing.T) {
	c := redistest.StartCluster(t, 3, 0)
	client := clusterClient(t, c, nil)
	began := time.Now()
	l, err := client.Mutex("job").Lock(t.Context())
	t.Log(time.Since(began), err)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(l)
	other := clusterClient(t, c, nil)
	_, err = other.Mutex("job").TryLock(t.Context())
	t.Log(err)
	if !errors.Is(err, holdfast.ErrHeld) {
		t.Fatal(err)
	}
	st, err := other.Status(t.Context(), "job")
	t.Log(st, err)
	done := make(chan time.Duration)
	go func() {
		l, err := other.Mutex("job").Lock(context.Background())
		t.Log(l, err)
		done <- time.Since(began)
	}()
	time.Sleep(1500 * time.Millisecond)
	at := time.Since(began)
	t.Log(l.Unlock(t.Context()))
	t.Log("handed on after", <-done-at)
	began = time.Now()
	for i := range 200 {
		l, err := client.Mutex(fmt.Sprint("n", i)).Lock(t.Context())
		if err != nil {
			t.Fatal(i, err)
		}
		if err := l.Unlock(t.Context()); err != nil {
			t.Fatal(i, err)
		}
	}
	t.Log("200 cycles", time.Since(began))
	began = time.Now()
	s, err := client.LockAll(t.Context(), []string{"a", "b", "c", "d", "e"})
	t.Log(s, err, time.Since(began))
	t.Log(client.Stats().Nodes)
}

func TestClusterMove(t *testing.T) {
	c := redistest.StartCluster(t, 3, 0)
	client, other := clusterClient(t, c, nil), clusterClient(t, c, nil)
	const n = 60
	var leases []*holdfast.Lease
	for i := range n {
		l, err := client.Mutex(fmt.Sprint("held", i)).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		leases = append(leases, l)
	}
	var slots []int
	for i := range n {
		slots = append(slots, redistest.Slot(fmt.Sprint("held", i)))
	}
	began := time.Now()
	for round := 0; time.Since(began) < 12*time.Second; round++ {
		to := c.Servers()[round%3]
		at := time.Now()
		if err := c.MoveSlots(t.Context(), slots, to); err != nil {
			t.Fatal(err)
		}
		moved := time.Since(at)
		held, un := 0, 0
		for i := range n {
			_, err := other.Mutex(fmt.Sprint("held", i)).TryLock(t.Context())
			switch {
			case errors.Is(err, holdfast.ErrHeld):
				held++
			case errors.Is(err, holdfast.ErrUnavailable):
				un++
				if un == 1 {
					t.Log(err)
				}
			default:
				t.Errorf("TryLock of held%d: %v", i, err)
			}
		}
		t.Log(round, moved, held, un)
		for i, l := range leases {
			if err := l.Context().Err(); err != nil {
				t.Fatalf("lease %d: %v", i, context.Cause(l.Context()))
			}
		}
	}
	for _, l := range leases {
		if err := l.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
