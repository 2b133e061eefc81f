package e2e

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/rights"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node/goredisnode"
)

// services are the managed services of docs/guide/managed.md, with the commands that their documentation says they
// refuse. A real server without these commands is all that these tests have of a service.
var services = map[string]struct {
	unknown string // the answer is "ERR unknown command"
	denied  string // a user may not run it: the answer is NOPERM
}{
	"ElastiCache": {unknown: "BGREWRITEAOF BGSAVE CONFIG DEBUG MIGRATE REPLICAOF SAVE SHUTDOWN SLAVEOF SYNC"},
	"MemoryDB": { // but for its cluster mode: see TestAServerThatCannotBeANodeSaysWhy
		unknown: "BGREWRITEAOF BGSAVE CONFIG DEBUG MIGRATE MODULE PSYNC REPLICAOF SAVE SHUTDOWN SLAVEOF SYNC",
		denied:  "-acl|deluser -acl|load -acl|save -acl|setuser",
	},
	"Memorystore for Redis": {
		unknown: "BGREWRITEAOF BGSAVE CLUSTER COMMAND CONFIG DEBUG LASTSAVE MIGRATE MONITOR OBJECT REPLICAOF SAVE SHUTDOWN", denied: "-acl",
	},
	"Memorystore for Valkey": {
		denied: "-acl -bgrewriteaof -bgsave -config -debug -migrate -monitor -replicaof -save -shutdown -slaveof -sync",
	},
	"Azure Cache for Redis": {unknown: "BGREWRITEAOF BGSAVE CONFIG DEBUG MIGRATE SAVE SHUTDOWN SLAVEOF"},
}

// No service refuses a command that the work of a role needs, on either driver.
func TestServicesRefuseNothingThatTheWorkNeeds(t *testing.T) {
	t.Parallel()
	for name, service := range services {
		for _, role := range []rights.Role{rights.Locker, rights.Observer, rights.Admission} {
			t.Run(name+"/"+role.String(), func(t *testing.T) {
				t.Parallel()
				w := newWard(t, redistest.Without(strings.Fields(service.unknown)...))
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				if role == rights.Observer {
					w.held(t.Context())
				}
				w.grants(append(rights.User{Roles: role}.Grants(), strings.Fields(service.denied)...))
				if err := works[role](ctx, w); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// Without CLIENT, go-redis gets no connection, because goredisnode gives each connection a name. rueidisnode gives its
// connections a name only where that is allowed.
func TestAServiceWithoutCLIENTNeedsRueidis(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1, redistest.Without("CLIENT"))
	c := s.client()
	votesNow(t, c)
	lock(t, c, "x").Unlock(t.Context())

	rdb := redis.NewClient(&redis.Options{Addr: s.servers[0].Addr()})
	t.Cleanup(func() { _ = rdb.Close() })
	n, err := goredisnode.New(rdb)
	_, err = failoverClient(t, opened(t, n, err)).Mutex("x").TryLock(t.Context())
	if !errors.Is(err, holdfast.ErrUnavailable) || !strings.Contains(err.Error(), "unknown command 'client', with args beginning with: 'setname'") {
		t.Errorf("go-redis: %v; want the refusal of CLIENT SETNAME", err)
	}
}

// Without messages a waiter still gets the lock, because it asks once a second. A waiter that cannot subscribe has no
// place in a queue, and the log says so.
func TestAServiceWithoutMessagesServesWaiters(t *testing.T) {
	t.Parallel()
	for _, missing := range []string{"SUBSCRIBE", "PUBLISH"} {
		t.Run(missing, func(t *testing.T) {
			t.Parallel()
			s := newSet(t, 1, redistest.Without(missing))
			var log written
			holder, waiter := s.client(), s.client(logging(&log))
			votesNow(t, holder)
			l := lock(t, holder, "x")
			next := begun(t.Context(), waiter.Mutex("x").Lock)
			if missing == "SUBSCRIBE" {
				redistest.Eventually(t, 15*time.Second, "a warning", func() bool { return strings.Contains(log.String(), "node refuses subscriptions") })
				if n := s.queued(0, "x"); n != 0 {
					t.Errorf("%d waiters in the queue; want none", n)
				}
			} else {
				s.inLine("x", 1)
			}
			if err := l.Unlock(t.Context()); err != nil {
				t.Fatal(err)
			}
			l, err := next()
			if err != nil {
				t.Fatalf("the waiter: %v", err)
			}
			l.Unlock(t.Context())
		})
	}
}

// A node votes without EVALSHA or WAIT, but a lock that needs the command says why it fails.
func TestAServiceWithoutACommandSaysWhyItGrantsNothing(t *testing.T) {
	t.Parallel()
	for command, test := range map[string]struct{ parameters, want string }{
		"EVALSHA": {"", "unknown command 'EVALSHA'"},
		"WAIT":    {"?replicated=true&wait=1", "the server refused WAIT: ERR unknown command 'WAIT'"},
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			s := newSet(t, 1, redistest.Without(command))
			s.urls[0] += test.parameters
			c := s.client()
			votesNow(t, c)
			if _, err := c.Mutex("x").TryLock(t.Context()); !errors.Is(err, holdfast.ErrUnavailable) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("TryLock: %v; want %q", err, test.want)
			}
		})
	}
}
