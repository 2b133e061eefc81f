package e2e

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// For client a, the address of node 2 moves to another live server, server 3. That server votes, but is a stranger for
// node 1, which a can reach. Server 2, which client b uses, still lives. Client.Nodes is the first call of a that meets
// server 3.
func TestALookMeetsAnotherServerAsAGreetingDoes(t *testing.T) {
	t.Parallel()
	s := newSet(t, 4)
	b, ofB := s.behind(0, 1, 2)
	s.ready(b)
	// Server 3 votes although it is a stranger, because client c once had the wrong list.
	c, _ := s.behind(0, 1, 3)
	redistest.Eventually(t, 5*time.Second, "c", func() bool { n, _ := standing(t, c); return n >= 2 })
	time.Sleep(100 * time.Millisecond)
	c.Close()
	a, ofA := s.behind(0, 1, 2)
	s.ready(a)
	for i := range 20 {
		ofB[1].Cut(true) // b works with nodes 0 and 2
		held, err := b.Mutex("x").TryLock(t.Context())
		if err != nil {
			t.Logf("b: %v", err)
			ofB[1].Cut(false)
			continue
		}
		ofA[0].Cut(true) // a reaches only node 1, and the address of node 2
		ofA[2].Redirect(s.servers[3].Addr())
		time.Sleep(20 * time.Millisecond)
		ns := admin.Nodes(t.Context(), a)
		other, err := a.Mutex("x").TryLock(t.Context())
		if err == nil && held.Context().Err() == nil {
			t.Fatalf("try %d: two holders: B %s for another %s, A %s; a's nodes: %v", i, held.Owner(), time.Until(held.Deadline()), other.Owner(), ns)
		}
		t.Logf("try %d: a: %.200v; %.300v", i, err, ns)
		held.Unlock(t.Context())
		ofA[2].Redirect(s.servers[2].Addr())
		ofA[0].Cut(false)
		ofB[1].Cut(false)
		s.ready(a)
	}
}

// A durable server comes back with "appendfsync everysec". A client that greets the server refuses it. A client whose
// first call is a look (Client.Nodes) must refuse it too. Earlier such a client let the server vote and locked on it.
func TestALookChecksThatANodeIsDurable(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1, redistest.Durable())
	c, net := s.behind(0)
	_ = c
	durable := func(c *holdfast.Config) { c.Durable = true }
	a := s.client(durable, net.via(t, viaRueidis))
	s.ready(a)
	s.servers[0].Kill()
	s.servers[0].Restart()
	s.servers[0].MustDo(t, "CONFIG", "SET", "appendfsync", "everysec")
	time.Sleep(50 * time.Millisecond)
	n := admin.Nodes(t.Context(), a)
	l, err := a.Mutex("x").TryLock(t.Context())
	fresh := admin.Nodes(t.Context(), s.client(durable))
	if err == nil {
		t.Errorf("a lease %s on a node that is less durable than declared; who looked: %v; a fresh client: %v", l.Owner(), n, fresh)
		time.Sleep(3 * time.Second)
		t.Logf("3 s later it is still held: %v; %v", l.Context().Err() == nil, admin.Nodes(t.Context(), a))
	} else {
		t.Log(n, err)
	}
}
