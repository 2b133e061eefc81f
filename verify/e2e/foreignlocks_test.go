package e2e

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// These tests use clients of other libraries, which know only the plain key.

// compareAndDelete is the release of Redlock's clients.
// https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/
const compareAndDelete = `if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end`

// foreigner is a lock that another library or a person takes on a node.
type foreigner struct {
	name    string
	take    []any // the command; the name of the lock replaces "K"
	owner   string
	forever bool
	words   string // in the error
}

var foreigners = []foreigner{
	{"redis-cli", []any{"SET", "K", "v", "NX", "PX", 3000}, "v", false, `held by a foreign key ("v") for up to`},
	{"a key without expiry", []any{"SET", "K", "stays"}, "stays", true, `held by a foreign key ("stays") without expiry; it stays until somebody deletes it`},
	{"a value with any bytes", []any{"SET", "K", "\x00\n~\xff", "PX", 3000}, "\x00\n~\xff", false, `"\x00\n~\xff"`},
	{"an empty value", []any{"SET", "K", "", "PX", 3000}, "", false, "a foreign key without a text value"},
	{"a value like ours", []any{"SET", "K", "web-3~client~random", "PX", 3000}, "web-3~client~random", false, "web-3~client~random"},
	{"Redisson", []any{"HSET", "K", "8743c9c0-0795-4907-87fd-6c719a6b4586:1", "1"}, "", true, "held by a foreign key without a text value, without expiry; it stays until somebody deletes it"},
	{"a list", []any{"RPUSH", "K", "a"}, "", true, "held by a foreign key without a text value, without expiry; it stays until somebody deletes it"},
}

func (f foreigner) command(name string) []any {
	c := append([]any(nil), f.take...)
	c[1] = name
	return c
}

func TestAForeignLockIsRespectedAndUntouched(t *testing.T) {
	t.Parallel()
	sets(t, func(t *testing.T, s *set) {
		c := s.ready(s.client(calm))
		for _, f := range foreigners {
			before := map[int]any{}
			for i, srv := range s.servers {
				srv.MustDo(t, f.command(f.name)...)
				before[i] = srv.MustDo(t, "DUMP", f.name)
			}
			const ttl = 3 * time.Second
			ends := time.Now().Add(ttl)
			_, err := c.Mutex(f.name).TryLock(t.Context())
			var held *holdfast.HeldError
			if !errors.As(err, &held) || !held.Holder().Foreign || held.Holder().Owner != f.owner {
				t.Errorf("%s: TryLock: %v", f.name, err)
				continue
			}
			if !strings.Contains(err.Error(), f.words) {
				t.Errorf("%s: %v; want that it says %q", f.name, err, f.words)
			}
			if f.forever != (held.ExpiresIn < 0) || !f.forever && (held.ExpiresIn == 0 || held.ExpiresIn > ttl+time.Millisecond) {
				t.Errorf("%s: ExpiresIn is %s", f.name, held.ExpiresIn)
			}
			for i, srv := range s.servers {
				if after := srv.MustDo(t, "DUMP", f.name); after != before[i] && (f.forever || time.Now().Before(ends)) {
					t.Errorf("%s: node %d: the key was changed", f.name, i)
				}
				if ttl, _ := srv.MustDo(t, "PTTL", f.name).(int64); f.forever != (ttl == -1) || ttl > 3000 {
					t.Errorf("%s: node %d: the key's PTTL is now %d", f.name, i, ttl)
				}
				if r, ok := s.record(i, f.name); ok && r.Owner != "" {
					t.Errorf("%s: node %d keeps a record of %s", f.name, i, r.Owner)
				}
			}
			status, err := c.Status(t.Context(), f.name)
			if err != nil || !status.Held || !status.Holder().Foreign || status.Holder().Owner != f.owner {
				t.Errorf("%s: Status: %+v, %v", f.name, status, err)
			}
		}
	})
}

// A client must not ask for a foreign lock without expiry as fast as the nodes answer.
func TestAWaitForAForeignLockWithoutExpiryPauses(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1)
	c := s.ready(s.client(calm, func(c *holdfast.Config) { c.RetryDelay = 50 * time.Millisecond }))
	s.servers[0].MustDo(t, "SET", "x", "stays")
	asked := s.calls()[0]
	time.AfterFunc(500*time.Millisecond, func() { s.servers[0].Do("DEL", "x") })
	lease := lock(t, c, "x")
	if asked = s.calls()[0] - asked; asked > 500/25+5 {
		t.Errorf("the node was asked %d times in 500 ms; want a pause of 50 ms on average", asked)
	}
	lease.Unlock(t.Context())
}

func TestAWaitEndsWhenAForeignLockExpires(t *testing.T) {
	t.Parallel()
	sets(t, func(t *testing.T, s *set) {
		// The nodes know when the foreign lock ends.
		c := s.ready(s.client(calm, func(c *holdfast.Config) { c.RetryDelay = 10 * time.Second }))
		var ends time.Time
		for _, srv := range s.servers {
			srv.MustDo(t, "SET", "x", "v", "NX", "PX", 700)
			ends = time.Now().Add(700 * time.Millisecond)
		}
		lock(t, c, "x").Unlock(t.Context())
		if late := time.Since(ends); late < -700*time.Millisecond || late > 5*time.Second {
			t.Errorf("acquired %s after the foreign lock's end", late)
		}
	})
}

func TestForeignClientsAreRefusedWhileOursIsHeld(t *testing.T) {
	t.Parallel()
	sets(t, func(t *testing.T, s *set) {
		c := s.ready(s.client(calm))
		lease := lock(t, c, "x")
		which := all(len(s.servers))
		s.each(which, func(srv *redistest.Server) {
			// Lock returns after the answers of a majority. The other nodes may store the plain key a little later.
			redistest.Eventually(t, soon, "the plain key on every node", func() bool {
				v, _ := srv.Do("GET", "x")
				return v == lease.Owner()
			})
			if v := srv.MustDo(t, "SET", "x", "theirs", "NX", "PX", 3000); v != nil {
				t.Errorf("SET NX took a held lock: %v", v)
			}
			if v := srv.MustDo(t, "EVAL", compareAndDelete, 1, "x", "theirs"); v != int64(0) {
				t.Errorf("a foreign release deleted our key: %v", v)
			}
		})
		if !awaitRenewal(lease) {
			t.Fatal("lost")
		}
		if err := lease.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
		redistest.Eventually(t, soon, "nothing of ours left", func() bool { return s.ours("x") == "" })
		s.each(which, func(srv *redistest.Server) {
			if v := srv.MustDo(t, "SET", "x", "theirs", "NX", "PX", 60_000); v != "OK" {
				t.Errorf("SET NX after Unlock: %v", v)
			}
		})
		if _, err := c.Mutex("x").TryLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
			t.Errorf("TryLock of a foreign lock: %v", err)
		}
		s.each(which, func(srv *redistest.Server) {
			if v := srv.MustDo(t, "EVAL", compareAndDelete, 1, "x", "theirs"); v != int64(1) {
				t.Errorf("a foreign client cannot release its own key: %v", v)
			}
		})
		lock(t, c, "x").Unlock(t.Context())
	})
}

// The plain key of a lease may stay after the lease, because of a wrong clock or because Redis expires it late. Such a
// key belongs to Holdfast and is not foreign.
func TestALeftoverOfAnExpiredLeaseOfOursIsNotForeign(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1)
	c := s.ready(s.client(calm))
	lease := lock(t, c, "x")
	r, _ := s.record(0, "x")
	lease.Unlock(t.Context())
	now := time.Now().UnixMicro()
	r.Expiry = now - 1
	s.servers[0].MustDo(t, "SET", nodescript.RecordKey("x"), r.String())
	s.servers[0].MustDo(t, "SET", "x", r.Owner, "PX", 60_000)
	next, err := c.Mutex("x").TryLock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if s.plain(0, "x") != next.Owner() {
		t.Errorf("the plain key is %q; want the new owner %q", s.plain(0, "x"), next.Owner())
	}
}

func TestPrivateLocksExcludeEachOtherWithoutThePlainKey(t *testing.T) {
	t.Parallel()
	sets(t, func(t *testing.T, s *set) {
		private := func(c *holdfast.Config) { c.Private = true }
		a, b := s.ready(s.client(calm, private)), s.ready(s.client(calm, private))
		public := s.ready(s.client(calm))
		lease := lock(t, a, "x")
		if !awaitRenewal(lease) {
			t.Fatal("lost")
		}
		for i, srv := range s.servers {
			if v := srv.MustDo(t, "EXISTS", "x"); v != int64(0) {
				t.Errorf("node %d has the plain key of a private lock", i)
			}
		}
		for _, other := range []*holdfast.Client{b, public} {
			var held *holdfast.HeldError
			if _, err := other.Mutex("x").TryLock(t.Context()); !errors.As(err, &held) || held.Holder().Owner != lease.Owner() || held.Holder().Foreign {
				t.Errorf("TryLock of a held private lock: %v", err)
			}
		}
		for i, srv := range s.servers {
			if v := srv.MustDo(t, "EXISTS", "x"); v != int64(0) {
				t.Errorf("node %d: the attempt of a client that is not private left the plain key", i)
			}
		}
		if err := lease.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
		next := lock(t, b, "x")
		if next.Fence() <= lease.Fence() {
			t.Errorf("token %d after %d", next.Fence(), lease.Fence())
		}
		// A foreign key on the name does not matter to a private lock.
		s.each(all(len(s.servers)), func(srv *redistest.Server) { srv.MustDo(t, "SET", "x", thief) })
		if !awaitRenewal(next) {
			t.Fatal("lost to a foreign key")
		}
		if err := next.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		if s.plain(0, "x") != thief {
			t.Error("a private lock touched the plain key")
		}
	})
}
