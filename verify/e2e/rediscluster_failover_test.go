package e2e

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// This file hits one shard of a Redis Cluster. The others go on.

// succeeds waits until another client gets the name of a lease whose shard has lost its memory, or may have. The shard
// must refuse it at first, and the lease must have ended by then. The other leases must live.
func (c *cluster) succeeds(other *holdfast.Client, old *holdfast.Lease, others ...*holdfast.Lease) *holdfast.Lease {
	c.t.Helper()
	c.refuses(other, old.Name())
	l := lock(c.t, other, old.Name(), holdfast.WaitThroughOutages())
	if began := time.UnixMicro(l.Fence()); began.Before(old.Deadline()) {
		c.t.Errorf("the next lease of %q began %s before the end of the last one", old.Name(), old.Deadline().Sub(began))
	}
	ends(c.t, old)
	renews(c.t, others...)
	return l
}

func TestAFailoverQuarantinesItsShardOnly(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, 1)
	a, b := c.client(), c.client()
	list := names("n", 1)
	var leases []*holdfast.Lease
	for _, name := range list {
		leases = append(leases, lock(t, a, name))
	}
	nothing := func(*redistest.Server) {}
	for i, fault := range []struct {
		name       string
		begin, end func(*redistest.Server)
	}{
		{"planned", func(s *redistest.Server) {
			if _, err := c.Failover(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}, nothing},
		{"killed", (*redistest.Server).Kill, (*redistest.Server).Restart},
		{"frozen", (*redistest.Server).Freeze, (*redistest.Server).Thaw},
	} {
		t.Run(fault.name, func(t *testing.T) {
			c := &cluster{Cluster: c.Cluster, t: t}
			former, replica := c.Servers()[i], c.Servers()[i+3]
			fault.begin(former)
			redistest.Eventually(t, 20*time.Second, "a takeover", func() bool { return c.MasterOf(redistest.Slot(list[i])) == replica })
			fault.end(former) // a frozen server now executes the renewals that came in between
			others := append(append([]*holdfast.Lease{}, leases[:i]...), leases[i+1:]...)
			l := c.succeeds(b, leases[i], others...)
			late := c.clientOf(c.url(former)) // it asks the former master where the names are
			if _, err := late.Mutex(list[i]).TryLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) && !errors.Is(err, holdfast.ErrUnavailable) {
				t.Errorf("TryLock through the former master: %v", err)
			}
			renews(t, l)
			leases[i] = l
			c.AwaitSettled()
		})
	}
}

func TestFLUSHALLOnAShardQuarantinesThatShardOnly(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, 0)
	a, b := c.client(), c.client()
	list := names("n", 1)
	var leases []*holdfast.Lease
	for _, name := range list {
		leases = append(leases, lock(t, a, name))
	}
	c.master(list[0]).MustDo(t, "FLUSHALL")
	c.succeeds(b, leases[0], leases[1:]...)
}

func TestARestartedShardIsQuarantinedAlone(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, 0)
	a, b := c.client(), c.client()
	list := names("n", 1)
	var leases []*holdfast.Lease
	for _, name := range list {
		leases = append(leases, lock(t, a, name))
	}
	s := c.master(list[0])
	s.Kill()
	s.Restart()
	c.succeeds(b, leases[0], leases[1:]...)
}

// The first lock on a new cluster begins the quarantines of all slots. A shard that does not answer at first begins them
// later, before anybody asks for a lock there.
func TestTheQuarantinesOfANewClusterBeginTogether(t *testing.T) {
	t.Parallel()
	c := bareCluster(t, 3, 0, redistest.NodeTimeout(time.Minute))
	list := names("n", 1)
	client := c.client()
	busy := c.master(list[2])
	busy.Freeze()
	c.refuses(client, list[0])
	c.begun(list[1])
	<-time.After(2 * settings().NodeTimeout) // the first question to the busy shard has failed
	busy.Thaw()
	c.begun(list[2])
}

// No server of the cluster answers a client that has met none yet. A call that waits does so for a second, and with
// WaitThroughOutages until the cluster is back.
func TestALockWaitsForAClusterThatIsDown(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1, 0)
	c.Servers()[0].Kill()
	short := func(cfg *holdfast.Config) { cfg.MaxTTL = 2 * time.Second }
	began := time.Now()
	_, err := c.client(short).Mutex("x").Lock(t.Context())
	if took := time.Since(began); !errors.Is(err, holdfast.ErrUnavailable) || !strings.Contains(err.Error(), "no server of the cluster answers") || took < time.Second {
		t.Errorf("after %s: %v", took, err)
	}
	client := c.client(short)
	if _, err := client.Mutex("x").TryLock(t.Context()); !errors.Is(err, holdfast.ErrUnavailable) {
		t.Errorf("TryLock: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := client.Mutex("x", holdfast.WaitThroughOutages()).Lock(ctx); !errors.Is(err, holdfast.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("with a deadline: %v", err)
	}
	got := make(chan error)
	go func() {
		_, err := client.Mutex("x", holdfast.WaitThroughOutages()).RLock(t.Context())
		got <- err
	}()
	time.Sleep(1500 * time.Millisecond) // longer than a call waits without the option
	c.Servers()[0].Restart()
	if err := <-got; err != nil {
		t.Errorf("through the outage: %v", err)
	}
}
