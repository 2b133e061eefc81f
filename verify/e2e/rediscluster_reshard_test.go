package e2e

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/leasetest"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// This file moves many hash slots as fast as the servers can, and waits for no client.

// dash moves the slot of a name with few commands.
func (c *cluster) dash(name string, from, to *redistest.Server) error {
	slot := redistest.Slot(name)
	if _, err := to.Do("CLUSTER", "SETSLOT", slot, "IMPORTING", c.ID(from)); err != nil {
		return err
	}
	if _, err := from.Do("CLUSTER", "SETSLOT", slot, "MIGRATING", c.ID(to)); err != nil {
		return err
	}
	host, port, _ := strings.Cut(to.Addr(), ":")
	for {
		keys, err := from.Do("CLUSTER", "GETKEYSINSLOT", slot, 100)
		if err != nil {
			return err
		}
		list, _ := keys.([]any)
		if len(list) == 0 {
			break
		}
		if _, err := from.Do(append([]any{"MIGRATE", host, port, "", 0, 5000, "KEYS"}, list...)...); err != nil {
			return err
		}
	}
	for _, s := range append([]*redistest.Server{to, from}, c.Servers()...) {
		if _, err := s.Do("CLUSTER", "SETSLOT", slot, "NODE", c.ID(to)); err != nil {
			return err
		}
	}
	return nil
}

// dashes moves the slots of names, each again until it has moved: a new record may come in the middle.
func (c *cluster) dashes(names []string, from, to *redistest.Server) {
	c.t.Helper()
	for _, name := range names {
		var err error
		redistest.Eventually(c.t, time.Minute, "a move", func() bool {
			err = c.dash(name, from, to)
			return err == nil
		})
	}
}

// Hundreds of leases of all kinds are held. All of their slots move around, several times within a quarantine. The servers
// have one clock, so nothing is lost, however late the clients are.
func TestFastReshardsLoseNoLease(t *testing.T) {
	t.Parallel()
	rounds, each := 4, 20
	if !testing.Short() {
		each = 200
	}
	c := newCluster(t, 3, 0)
	clients := []*holdfast.Client{c.client(), c.client(), c.client()}
	servers := c.Servers()
	list := names("n", each)
	parts := make([][]string, 3)
	var leases []*holdfast.Lease
	for i, name := range list {
		parts[i%3] = append(parts[i%3], name) // the slots of one server
		client := clients[i%3]
		var l *holdfast.Lease
		var err error
		switch i / 3 % 4 {
		case 0, 1:
			l, err = client.Mutex(name).Lock(t.Context())
		case 2:
			l, err = client.Mutex(name).RLock(t.Context())
		case 3:
			l, err = client.Semaphore(name, 2).Acquire(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		leases = append(leases, l)
	}
	for round := range rounds {
		for i, part := range parts {
			c.dashes(part, servers[(i+round)%3], servers[(i+round+1)%3])
		}
	}
	renewed(t, leases)
}

// A thousand slots leave one server in one round. The client of all their leases makes a crowd of its own.
func TestAThousandSlotsThatMoveAtOnceLoseNoLease(t *testing.T) {
	t.Parallel()
	n := 60
	if !testing.Short() {
		n = 1000
	}
	c := newCluster(t, 3, 0)
	client, servers := c.client(), c.Servers()
	var list []string
	for i, name := range names("n", n) {
		if i%3 == 0 {
			list = append(list, name)
		}
	}
	leases := make([]*holdfast.Lease, len(list))
	var wait sync.WaitGroup
	for i, name := range list {
		wait.Go(func() { leases[i] = lock(t, client, name, holdfast.WaitThroughOutages()) })
		if i%50 == 49 {
			wait.Wait()
		}
	}
	wait.Wait()
	c.dashes(list, servers[0], servers[1])
	renewed(t, leases)
}

// renewed waits until all leases have been renewed from now on.
func renewed(t testing.TB, leases []*holdfast.Lease) {
	t.Helper()
	before := make([]time.Time, len(leases))
	for i, l := range leases {
		before[i] = l.Deadline()
	}
	for i, l := range leases {
		redistest.Eventually(t, 20*time.Second, "a renewal", func() bool { return leasetest.Renewed(l, before[i]) || l.Context().Err() != nil })
	}
	lives(t, leases...)
}
