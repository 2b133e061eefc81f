package e2e

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
	"github.com/holdfast-go/holdfast/verdict"
)

// In these tests the clients' lists of nodes share some members, under one name of the node set.

// listed opens a client on some servers of the set.
func (s *set) listed(which ...int) *holdfast.Client {
	s.t.Helper()
	return s.client(func(c *holdfast.Config) {
		var urls []string
		for _, i := range which {
			urls = append(urls, s.urls[i])
		}
		nodes, err := rueidisnode.Open(urls...)
		if err != nil {
			s.t.Fatal(err)
		}
		c.Nodes = nodes
	})
}

// behind opens a client on some servers of the set, each with its own proxy.
func (s *set) behind(which ...int) (*holdfast.Client, network) {
	s.t.Helper()
	return s.behindWith(func(*holdfast.Config) {}, which...)
}

// behindWith does the same as behind, and change changes the configuration of the client.
func (s *set) behindWith(change func(*holdfast.Config), which ...int) (*holdfast.Client, network) {
	s.t.Helper()
	var servers []*redistest.Server
	for _, i := range which {
		servers = append(servers, s.servers[i])
	}
	net := proxies(s.t, servers...)
	return s.client(change, net.via(s.t, viaRueidis)), net
}

// betweenTries is the pause of tests that try again and again. Without a pause they take a processor for seconds.
const betweenTries = 5 * time.Millisecond

// exclude makes both clients try the name. Client a cannot reach the second node of its list, and client b cannot reach
// the first. So with their third nodes the clients have disjoint majorities.
func exclude(t *testing.T, a, b *holdfast.Client, ofA, ofB network) {
	t.Helper()
	ofA[1].Cut(true)
	defer ofA[1].Cut(false)
	ofB[0].Cut(true)
	defer ofB[0].Cut(false)
	var held *holdfast.Lease
	redistest.Eventually(t, soon, "one of them gets the name", func() (ok bool) {
		var err error
		if held, err = a.Mutex("x").TryLock(t.Context()); err != nil {
			a, b = b, a
		}
		return err == nil
	})
	// The quarantine of a new node ends during this time.
	for until := time.Now().Add(soon / 2); time.Now().Before(until); {
		if other, err := b.Mutex("x").TryLock(t.Context()); err == nil && held.Context().Err() == nil {
			t.Fatalf("two holders: %s and %s", held.Owner(), other.Owner())
		}
		<-time.After(betweenTries)
	}
	_ = held.Unlock(t.Context())
}

func TestListsThatShareAMajorityHaveOneHolder(t *testing.T) {
	t.Parallel()
	s := newSet(t, 4)
	a, ofA := s.behind(0, 1, 2)
	s.ready(a)
	b, ofB := s.behind(0, 1, 3)
	redistest.Eventually(t, 5*time.Second, "what the lists share votes for the newcomer", func() bool { n, _ := standing(t, b); return n >= 2 })
	exclude(t, a, b, ofA, ofB)
	s.ready(a)
	redistest.Eventually(t, 5*time.Second, "what the lists share votes for the newcomer", func() bool { n, _ := standing(t, b); return n >= 2 })
	// The first client continues with all its nodes. The new client has only the nodes of both lists.
	if n, why := standing(t, a); n != 3 {
		t.Errorf("%d of 3 nodes vote for the client that was there first: %s", n, why)
	}
	n, why := standing(t, b)
	if n != 2 {
		t.Errorf("%d nodes vote for the client with another list; want the two that both lists have", n)
	}
	for _, want := range []string{ofA[2].URL(), ofB[2].URL(), "stop the old server, or give all clients the same list"} {
		if !strings.Contains(why, want) {
			t.Errorf("the newcomer is not told of %q: %s", want, why)
		}
	}
	lock(t, b, "y").Unlock(t.Context())
	// The conflict ends by itself when the clients of the other list are gone.
	a.Close()
	s.ready(b)
}

func TestAnAddressThatMovedWhileItsOldServerLivesHasOneHolder(t *testing.T) {
	t.Parallel()
	s := newSet(t, 4)
	a, ofA := s.behind(0, 1, 2)
	s.ready(a)
	// From now on a host name leads to the new server. The first client connected before that.
	b, ofB := s.behind(0, 1, 3)
	redistest.Eventually(t, 5*time.Second, "the shared nodes vote for the newcomer", func() bool { n, _ := standing(t, b); return n >= 2 })
	exclude(t, a, b, ofA, ofB)
	// Now the old client also gets to the new server. Then there is only one list again.
	ofA[2].Redirect(s.servers[3].Addr())
	s.ready(b)
	s.ready(a)
}

// The place of a server that no client uses goes to another server. So a client that was away comes back as the
// newcomer.
func TestAMemberThatNobodyUsesGivesItsPlaceUp(t *testing.T) {
	t.Parallel()
	s := newSet(t, 4)
	a := s.ready(s.listed(0, 1, 2))
	a.Close()
	b, ofB := s.behind(0, 1, 3)
	s.ready(b)
	back, ofBack := s.behind(0, 1, 2)
	redistest.Eventually(t, 5*time.Second, "the shared nodes vote", func() bool { n, _ := standing(t, back); return n == 2 })
	exclude(t, b, back, ofB, ofBack)
}

// A list that shares only a minority with another list gets no quorum, and the error gives the reason.
func TestListsThatShareAMinorityAreToldOfEachOther(t *testing.T) {
	t.Parallel()
	s := newSet(t, 5)
	s.ready(s.listed(0, 1, 2))
	b := s.listed(0, 3, 4)
	redistest.Eventually(t, 5*time.Second, "the newcomer is refused", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := b.Mutex("x").TryLock(ctx)
		return errors.Is(err, holdfast.ErrUnavailable) && strings.Contains(err.Error(), s.urls[1]) && strings.Contains(err.Error(), s.urls[3])
	})
}

// A server that just started gets no place while clients see all members alive, no matter how long the server runs.
func TestANewServerHasThePlaceOfADeadOneOnly(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	long := func(c *holdfast.Config) { c.MaxTTL = 3 * time.Second }
	proxied := func(which ...*redistest.Server) (*holdfast.Client, network) {
		net := proxies(t, which...)
		return s.client(long, net.via(t, viaRueidis)), net
	}
	a, ofA := proxied(s.servers...)
	s.ready(a)
	held := lock(t, a, "x")
	b, ofB := proxied(s.servers[0], s.servers[1], redistest.Start(t))
	refused := func() verdict.Answer { return admin.Nodes(t.Context(), b)[2] }
	redistest.Eventually(t, 5*time.Second, "the new server is in quarantine", func() bool { return refused().Reason == verdict.ReasonQuarantined })
	redistest.Eventually(t, 8*time.Second, "the new server is a stranger", func() bool { return refused().Cause == verdict.CauseStranger })
	ofA[1].Cut(true)
	ofB[0].Cut(true)
	for until := time.Now().Add(4500 * time.Millisecond); time.Now().Before(until) && held.Context().Err() == nil; {
		if other, err := b.Mutex("x").TryLock(t.Context()); err == nil && held.Context().Err() == nil {
			t.Fatalf("two holders: %s and %s", held.Owner(), other.Owner())
		}
		<-time.After(betweenTries)
	}
	if err := held.Context().Err(); err != nil {
		t.Errorf("the client that was there first lost its lock: %v", context.Cause(held.Context()))
	}
}

// An operator replaces one of three nodes while clients with the old list run. The old server is stopped first.
func TestANodeIsReplacedWhileClientsRun(t *testing.T) {
	t.Parallel()
	s := newSet(t, 4)
	a := s.ready(s.listed(0, 1, 2))
	s.servers[2].Kill()
	b := s.listed(0, 1, 3)
	s.ready(b)
	lock(t, b, "x").Unlock(t.Context())
	lock(t, a, "x").Unlock(t.Context())
}

// A server that restarts with its data is the same member. A server without data waits for its earlier place, and
// clients wait for it as for a quarantine.
func TestARestartIsNoOtherList(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	a, b := s.ready(s.client()), s.ready(s.client())
	for range 2 { // the server restarts with its data, twice in a row
		s.servers[0].MustDo(t, "SAVE")
		s.servers[0].Kill()
		s.servers[0].Restart()
		for _, c := range []*holdfast.Client{a, b} {
			if why := admin.Nodes(t.Context(), c)[0]; why.Cause == verdict.CausePlace || why.Reason == verdict.ReasonMisconfigured {
				t.Errorf("a server that kept its data is a stranger: %s", why)
			}
		}
	}
	s.ready(a)
	kept := nodescript.Config{MaxTTL: settings().MaxTTL, Window: window}.MemberKept()
	for i := range inShort(len(s.servers), 1) {
		s.servers[i].Kill()
		s.servers[i].Restart()
		s.vouch(s.servers[i])
		start := time.Now()
		s.ready(a)
		s.ready(b)
		if took := time.Since(start); took > kept+time.Second {
			t.Errorf("node %d votes again after %s; a member is kept for %s", i, took, kept)
		}
	}
}

// A list contains a server that just started and has a voucher (quarantine of 2 W). The server must not take the place
// of a live member on nodes that all clients reach and inform.
func TestAVouchedNewServerTakesNoPlaceOfALiveOne(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	a, ofA := s.behind(0, 1, 2)
	s.ready(a)
	s.servers = append(s.servers, redistest.Start(t))
	s.vouch(s.servers[3])
	b, ofB := s.behind(0, 1, 3)
	for until := time.Now().Add(soon / 4); time.Now().Before(until); {
		if n, why := standing(t, b); n > 2 {
			t.Fatalf("%d nodes vote for the newcomer: %s", n, why)
		}
		<-time.After(betweenTries)
	}
	exclude(t, a, b, ofA, ofB)
}

// Node 0 is far from a client that works with nodes 0 and 1. When node 2 starts, the client knows nothing against it.
// The answer of node 0, that another list has that place, is still on its way.
func TestANewcomersVoteWaitsForTheObjectionOfAFarNode(t *testing.T) {
	t.Parallel()
	s := newSet(t, 5)
	s.servers[2].Freeze()
	a, ofA := s.behind(0, 1, 2)
	ofA[0].DelayReplies(60 * time.Millisecond) // round trips of less than two windows are allowed
	atWork := func() bool {
		l, err := a.Mutex("warm").TryLock(t.Context())
		return err == nil && l.Unlock(t.Context()) == nil
	}
	redistest.Eventually(t, soon, "a client works with nodes 0 and 1", atWork)
	b, _ := s.behind(0, 3, 4)
	var held *holdfast.Lease
	redistest.Eventually(t, soon, "another gets the lock on nodes 0 and 3", func() (ok bool) {
		var err error
		held, err = b.Mutex("x").TryLock(t.Context())
		return atWork() && err == nil
	})
	s.servers[2].Thaw()
	for until := time.Now().Add(soon / 2); time.Now().Before(until); { // the quarantine of node 2 ends during this time
		if other, err := a.Mutex("x").TryLock(t.Context()); err == nil && held.Context().Err() == nil {
			t.Fatalf("two holders: %s and %s", held.Owner(), other.Owner())
		}
	}
	if _, why := standing(t, a); !strings.Contains(why, "give all clients the same list") {
		t.Errorf("node 2 does not count, but not since the lists differ: %s", why)
	}
}

// A live server waits for the place of a dead member until all leases with the dead member's vote have ended. It must
// wait even if it already votes. In this test the holder has the lease on the dead node and on one node that the other
// client also reaches, but not on the other client's second node.
func TestAServerThatStandsByWaitsForTheLeasesOfTheDeadOne(t *testing.T) {
	t.Parallel()
	s := newSet(t, 4)
	long := func(c *holdfast.Config) { c.MaxTTL, c.TTL = 6*time.Second, 6*time.Second }
	open := func(which ...int) (*holdfast.Client, network) { return s.behindWith(long, which...) }
	a, ofA := open(0, 1, 2)
	s.ready(a)
	b, _ := open(0, 1, 3)
	redistest.Eventually(t, 5*time.Second, "the shared nodes vote for the newcomer", func() bool { n, _ := standing(t, b); return n == 2 })
	ofA[1].Cut(true)
	held := lock(t, a, "x") // nodes 0 and 2 grant the lease
	s.servers[2].Kill()
	s.servers[0].Kill() // so the lease cannot be renewed; nodes 1 and 3 are a majority of the other list
	for held.Context().Err() == nil {
		if other, err := b.Mutex("x").TryLock(t.Context()); err == nil && held.Context().Err() == nil {
			t.Fatalf("two holders: %s, for another %s, and %s", held.Owner(), time.Until(held.Deadline()), other.Owner())
		}
		time.Sleep(20 * time.Millisecond)
	}
	redistest.Eventually(t, 15*time.Second, "the other list gets the name when the place is free", func() bool {
		_, err := b.Mutex("x").TryLock(t.Context())
		return err == nil
	})
}

// The new client's report comes again while the clock of the one common node shows the time of its sending again. For
// that clock, the times at which other clients saw their members later are in the future. These times must still count.
func TestALateReportTakesNoPlace(t *testing.T) {
	t.Parallel()
	s := newSet(t, 5, redistest.WithClock())
	long := func(c *holdfast.Config) { c.MaxTTL, c.TTL = 10*time.Second, 10*time.Second }
	open := func(which ...int) (*holdfast.Client, network) { return s.behindWith(long, which...) }
	a, _ := open(0, 1, 2)
	s.ready(a)

	var mu sync.Mutex
	var late []string
	b, ofB := open(0, 3, 4)
	ofB[0].Treat(func(c []string) redistest.Treatment {
		mu.Lock()
		defer mu.Unlock()
		// This call runs the script peers, with a report of three servers.
		if late == nil && len(c) == 3+7+3*3 && strings.EqualFold(c[0], "EVAL") && strings.Contains(c[5], "protocol=") {
			late = append([]string(nil), c...)
		}
		return redistest.Treatment{}
	})
	for range 3 {
		n, _ := standing(t, b)
		t.Logf("%d nodes vote for B, which came later", n)
	}
	mu.Lock()
	repeated := late
	mu.Unlock()
	time.Sleep(3 * time.Second) // since then A has reported that it saw nodes 1 and 2
	l := lock(t, a, "x")        // nodes 0, 1 and 2 grant the lease

	low, _ := strconv.ParseInt(repeated[3], 10, 64)
	args := make([]any, len(repeated))
	for i, w := range repeated {
		args[i] = w
	}
	srv := s.servers[0]
	srv.SetClock(low + 120_000)
	t.Logf("the late report is answered %.60q", srv.MustDo(t, args...))
	srv.Step(0)
	for until := time.Now().Add(4 * time.Second); time.Now().Before(until) && l.Context().Err() == nil; time.Sleep(50 * time.Millisecond) {
		if got, err := b.Mutex("x").TryLock(t.Context()); err == nil {
			if l.Context().Err() == nil && time.Now().Before(l.Deadline()) {
				t.Errorf("two holders: A token %d, for another %s; B token %d", l.Fence(), time.Until(l.Deadline()), got.Fence())
			}
			return
		}
	}
	_, why := standing(t, b)
	t.Logf("B: %s", why)
}

// The one common node of both lists answers later than the other nodes, by less than a window. It says that the new
// client's servers are strangers. The client must hear this before the votes of these servers count for the first time.
func TestASharedNodeThatAnswersLaterIsHeardFirst(t *testing.T) {
	t.Parallel()
	s := newSet(t, 5)
	a, _ := s.behind(0, 1, 2)
	held := lock(t, s.ready(a), "x")
	b, ways := s.behind(0, 3, 4)
	ways[0].DelayReplies(window / 2)
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		got, err := b.Mutex("x").TryLock(t.Context())
		if err == nil && held.Context().Err() == nil {
			t.Fatalf("two holders: A has token %d for another %s, B token %d", held.Fence(), time.Until(held.Deadline()), got.Fence())
		}
	}
	if n, why := standing(t, b); n > 1 || !strings.Contains(why, "configuration differs") {
		t.Errorf("%d nodes vote for B: %s", n, why)
	}
}
