package e2e

import (
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/verdict"
)

// One server has one vote, no matter under how many addresses it is in the list.

// said returns the answer of each node to a TryLock that must fail.
func said(t *testing.T, err error) []verdict.Answer {
	t.Helper()
	var none *holdfast.UnavailableError
	if !errors.As(err, &none) {
		t.Fatalf("%v; want an UnavailableError", err)
	}
	return none.Nodes
}

// twins returns the number of nodes that c refuses because they are a second address of another node.
func twins(t *testing.T, c *holdfast.Client) (n int) {
	for _, s := range admin.Nodes(t.Context(), c) {
		if s.Reason == verdict.ReasonDuplicate && s.Value != "" {
			n++
		}
	}
	return n
}

func TestAServerListedTwiceVotesOnce(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	// The list contains server A, server B, and A again. So without B it has no majority.
	net := network{redistest.NewProxy(t, s.servers[0].Addr()), redistest.NewProxy(t, s.servers[1].Addr()), redistest.NewProxy(t, s.servers[0].Addr())}
	for _, d := range drivers {
		c := s.client(calm, net.via(t, d))
		lock(t, c, "x").Unlock(t.Context())
		if n := twins(t, c); n != 1 {
			t.Errorf("%s: %d nodes are refused as twins; want one: %v", d.name, n, admin.Nodes(t.Context(), c))
		}
		net[1].Cut(true)
		_, err := c.Mutex("x").TryLock(t.Context())
		nodes := said(t, err)
		if nodes[0].Reason != verdict.ReasonDuplicate && nodes[2].Reason != verdict.ReasonDuplicate {
			t.Errorf("%s: the error does not name the twin: %v", d.name, err)
		}
		net[1].Cut(false)
		redistest.Eventually(t, soon, "nothing of ours left", func() bool { return s.ours("x") == "" })
	}
}

func TestAnAddressThatLaterLeadsToAnotherNodesServerLosesItsVote(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	net := s.network()
	c := s.ready(s.client(calm, net.via(t, viaRueidis)))
	lease := lock(t, c, "x")
	net[2].Redirect(s.servers[0].Addr())
	// The other two nodes continue to hold the lease.
	for range 3 {
		if !awaitRenewal(lease) {
			t.Fatal("lost with two of three nodes in place")
		}
	}
	if n := twins(t, c); n != 1 {
		t.Errorf("%d nodes are refused as twins; want one: %v", n, admin.Nodes(t.Context(), c))
	}
	s.kill(s.servers[1])
	if l, err := c.Mutex("y").TryLock(t.Context()); err == nil {
		t.Errorf("acquired by two addresses of one server: %s", l.Owner())
	}
	s.servers[1].Restart()
	s.vouch(s.servers[1])
	net[2].Redirect(s.servers[2].Addr())
	s.ready(c) // all three nodes vote again
	lock(t, c, "y", holdfast.WaitThroughOutages()).Unlock(t.Context())
}

func TestTwoAddressesThatChangePlacesKeepTheirVotes(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	net := s.network()
	c := s.ready(s.client(calm, net.via(t, viaRueidis)))
	lock(t, c, "x").Unlock(t.Context())
	net[0].Redirect(s.servers[1].Addr())
	net[1].Redirect(s.servers[0].Addr())
	s.ready(c)
	lock(t, c, "x").Unlock(t.Context())
	// The three addresses now change their servers in a ring. The nodes must become ready again.
	for i := range net {
		net[i].Redirect(s.servers[(i+2)%3].Addr())
	}
	s.ready(c)
	lock(t, c, "x").Unlock(t.Context())
}

// If an address led to a server earlier, that must not block the server's new address.
func TestAServerThatMovedToAnotherAddressOfTheListVotesThere(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	net := s.network()
	c := s.ready(s.client(calm, net.via(t, viaRueidis)))
	spare := redistest.Start(t)
	net[0].Redirect(s.servers[1].Addr())
	net[1].Redirect(spare.Addr())
	s.vouch(spare)
	start := time.Now()
	s.ready(c)
	t.Logf("all votes again after %s", time.Since(start).Round(time.Millisecond))
	lock(t, c, "x").Unlock(t.Context())
}
