package e2e

import (
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// In these tests requests come late, or without a stamp that confirms the clock, while a node's clock is hours behind
// for a moment. Such a request must not end a record or the guard too early.

// through puts a proxy before each node, for the clients that the test makes until it calls direct.
func (s *set) through(t *testing.T) (ways network, direct func()) {
	t.Helper()
	urls := s.urls
	ways = proxies(t, s.servers...)
	s.urls = ways.urls()
	return ways, func() { s.urls = urls }
}

// tap keeps the last command of one kind. It may also treat the commands that pass.
type tap struct {
	mu   sync.Mutex
	last []any
}

func (k *tap) keep(c []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.last = nil
	for _, word := range c {
		k.last = append(k.last, word)
	}
}

func (k *tap) kept(t *testing.T) []any {
	t.Helper()
	var last []any
	redistest.Eventually(t, 10*time.Second, "the command was sent", func() bool {
		k.mu.Lock()
		defer k.mu.Unlock()
		last = k.last
		return last != nil
	})
	return last
}

func withTTL(ttl time.Duration, private bool) func(*holdfast.Config) {
	return func(c *holdfast.Config) { c.MaxTTL, c.TTL, c.Private = ttl, ttl, private }
}

// nobodyElse fails the test if another client gets a name while a lease on the name is alive.
func nobodyElse(t *testing.T, other *holdfast.Client, name string, lease *holdfast.Lease) {
	t.Helper()
	second, err := other.Mutex(name).TryLock(t.Context())
	if err == nil && lease.Context().Err() == nil && time.Now().Before(lease.Deadline()) {
		t.Errorf("two holders: one believes for another %s, with token %d; one has token %d", time.Until(lease.Deadline()), lease.Fence(), second.Fence())
	}
}

// The guard lives for an hour. A request of admission comes 70 minutes late, while the clock shows the time of its
// sending again. The request must not set the guard's end to an hour after that time. Otherwise the guard would soon be
// missing, the node would look idle, and no client would notice a later loss by the clock.
func TestALateAdmitDoesNotSetTheGuardsEndBack(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3, redistest.WithClock())
	s.each(all(3), func(srv *redistest.Server) { srv.Step(-70 * time.Minute) })
	ways, direct := s.through(t)
	var admit tap
	ways[2].Treat(func(c []string) redistest.Treatment {
		if len(c) == 8 && strings.EqualFold(c[0], "EVAL") { // the arguments are stamp - W, stamp + W, challenge, nonce, U or nothing
			admit.keep(c)
		}
		return redistest.Treatment{}
	})
	s.ready(s.client(withTTL(10*time.Second, false))).Close()
	direct()
	late := admit.kept(t)
	from, err := strconv.ParseInt(late[3].(string), 10, 64)
	if err != nil {
		t.Fatal(err)
	}

	s.each(all(3), func(srv *redistest.Server) { srv.Step(0) })
	ways, direct = s.through(t)
	holder := s.ready(s.client(withTTL(10*time.Second, false)))
	direct()
	other := s.ready(s.client(withTTL(10*time.Second, false)))
	ways[1].BlackHole(true)
	lease := lock(t, holder, "x") // nodes 0 and 2 grant the lease

	s.servers[2].SetClock(from + window.Microseconds()/2)
	t.Logf("the late request is answered %v", s.servers[2].MustDo(t, late...))
	s.servers[2].Step(130 * time.Minute)
	_, _ = other.Status(t.Context(), "x") // this reads the record, which has expired by that clock
	s.servers[2].Step(0)
	nobodyElse(t, other, "x", lease)
}

// A release comes 130 minutes late. It comes to a node that never had its lease, or to a node where another owner has
// the name now.
func TestALateReleaseDoesNotShortenAnothersRecord(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3, redistest.WithClock())
	s.each(all(3), func(srv *redistest.Server) { srv.Step(-130 * time.Minute) })
	ways, direct := s.through(t)
	before := s.ready(s.client(withTTL(10*time.Second, true)))
	direct()
	var release tap
	ways[2].Treat(func(c []string) redistest.Treatment {
		if !strings.EqualFold(c[0], "EVALSHA") {
			return redistest.Treatment{}
		}
		// The arguments are owner, highest, above, never.
		if len(c) == 8 && c[3] == nodescript.RecordKey("x") && len(c[5]) == 16 && c[7] == "0" {
			release.keep(c)
		}
		return redistest.Treatment{Delay: time.Hour}
	})
	_ = lock(t, before, "x").Unlock(t.Context()) // nodes 0 and 1 had the lease
	late := release.kept(t)
	highest, err := strconv.ParseInt(late[5].(string), 10, 64)
	if err != nil {
		t.Fatal(err)
	}

	s.each(all(3), func(srv *redistest.Server) { srv.Step(0) })
	ways, direct = s.through(t)
	holder := s.ready(s.client(withTTL(10*time.Second, true)))
	direct()
	other := s.ready(s.client(withTTL(10*time.Second, true)))
	ways[1].BlackHole(true)
	lease := lock(t, holder, "x") // nodes 0 and 2 grant the lease

	s.servers[2].SetClock(highest + 1000)
	t.Logf("the late release is answered %v", s.servers[2].MustDo(t, late...))
	s.servers[2].Step(0)
	nobodyElse(t, other, "x", lease)
}

// UnlockAt comes to a node whose clock is 130 minutes behind for a moment.
func TestUnlockAtKeepsTheNameAlsoWhereAClockIsBehind(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3, redistest.WithClock())
	ways, direct := s.through(t)
	holder := s.ready(s.client(withTTL(10*time.Second, true)))
	direct()
	other := s.ready(s.client(withTTL(10*time.Second, true)))
	ways[1].BlackHole(true)
	lease := lock(t, holder, "x") // nodes 0 and 2 grant the lease
	s.servers[2].Step(-130 * time.Minute)
	at := time.Now().Add(8 * time.Second)
	if err := lease.UnlockAt(t.Context(), at); err != nil {
		t.Fatal(err)
	}
	s.servers[2].Step(0)
	if _, err := other.Mutex("x").TryLock(t.Context()); err == nil {
		t.Errorf("the name was free %s before its instant", time.Until(at))
	}
}

// A client releases a name while the clock of one node is two hours behind. By that clock the record must not get a
// short life. The next lease of the name may keep this life: it does not set the record's life again if the previous
// token is recent.
func TestAReleaseByAClockThatIsBehindDoesNotShortenTheNextLease(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3, redistest.WithClock())
	ways, direct := s.through(t)
	first, holder := s.ready(s.client(withTTL(10*time.Second, true))), s.ready(s.client(withTTL(10*time.Second, true)))
	direct()
	other := s.ready(s.client(withTTL(10*time.Second, true)))
	ways[1].BlackHole(true)
	before := lock(t, first, "x") // nodes 0 and 2 grant the lease
	stays := nodescript.Config{N: 3, MaxTTL: 10 * time.Second, Window: window, Cluster: "test"}.Stays()
	s.servers[2].Step(-stays + 1200*time.Millisecond)
	if err := before.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.servers[2].Step(0)
	lease := lock(t, holder, "x")      // nodes 0 and 2 grant the lease
	s.servers[2].Step(2 * time.Second) // after this step, a key with too short an expiry is gone
	_, _ = other.Status(t.Context(), "x")
	s.servers[2].Step(0)
	nobodyElse(t, other, "x", lease)
}
