package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/core/rights"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node/goredisnode"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// The rights in docs/guide/rights.md are enough for all calls, including the calls for the queue.
func TestTheDocumentedRightsAreEnough(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	rule := append(documentedRights(t, rights.Locker), "+scan", "+eval_ro")
	var urls []string
	for i, srv := range s.servers {
		srv.MustDo(t, rule...)
		urls = append(urls, strings.Replace(s.urls[i], "redis://", "redis://holdfast:pw@", 1))
	}
	as := func(c *holdfast.Config) {
		nodes, err := rueidisnode.Open(urls...)
		if err != nil {
			t.Fatal(err)
		}
		c.Nodes = nodes
	}
	byGoRedis := func(c *holdfast.Config) {
		var clients []redis.UniversalClient
		for _, srv := range s.servers {
			client := redis.NewClient(&redis.Options{Addr: srv.Addr(), Username: "holdfast", Password: "pw"})
			t.Cleanup(func() { client.Close() })
			clients = append(clients, client)
		}
		nodes, err := goredisnode.Open(clients...)
		if err != nil {
			t.Fatal(err)
		}
		c.Nodes = nodes
	}
	s.servers[0].MustDo(t, "FLUSHALL") // the node loses its memory, so that a client can vouch for it
	admin.Trust(t.Context(), s.client(as))
	holder := lock(t, s.ready(s.client(as)), "x")
	if err := holder.Extend(t.Context(), settings().MaxTTL); err != nil {
		t.Fatal(err)
	}
	var o order
	var wait sync.WaitGroup
	for i := range 5 {
		driver := as
		if i%2 == 1 {
			driver = byGoRedis
		}
		c := s.ready(s.client(driver))
		wait.Go(func() {
			if err := c.Mutex("x").Do(t.Context(), func(context.Context) error { o.add(i); return nil }); err != nil {
				t.Errorf("waiter %d: %v", i, err)
			}
		})
		s.inLine("x", i+1)
	}
	if err := holder.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
	wait.Wait()
	if !slices.IsSorted(o.got) || len(o.got) != 5 {
		t.Errorf("served in the order %v", o.got)
	}
	x := s.client(as).Semaphore("x", 3)
	for range 2 {
		if _, err := x.Acquire(t.Context()); err != nil {
			t.Error(err)
		}
	}
	last, err := x.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan error)
	go func() {
		_, err := s.client(byGoRedis).Semaphore("x", 3).Acquire(t.Context())
		got <- err
	}()
	s.inLineForSlot("x", 1)
	if err := errors.Join(last.Unlock(t.Context()), <-got); err != nil {
		t.Error(err)
	}
	valued := lock(t, s.client(byGoRedis), "valued")
	store(t, valued, "v")
	if v := load(t, valued); string(v) != "v" {
		t.Errorf("found %q", v)
	}
	if v, err := s.client(as).Value(t.Context(), "valued"); string(v) != "v" || err != nil {
		t.Errorf("found %q, %v", v, err)
	}
	if names, err := admin.NamesWithValue(t.Context(), s.client(as)); len(names) != 1 || err != nil {
		t.Errorf("names with a value: %q, %v", names, err)
	}
	for _, driver := range []func(*holdfast.Config){as, byGoRedis} {
		if got := listed(t, s.client(driver), admin.ListOptions{}); len(got) == 0 || got["valued"] == nil {
			t.Errorf("listed %v", got)
		}
	}
	for _, srv := range s.servers {
		if log, err := srv.Do("ACL", "LOG"); err != nil || len(log.([]any)) > 0 {
			t.Errorf("the server refused: %v, %v", log, err)
		}
	}
}

// The rights do not allow commands that would break the locks of other users of the server.
func TestTheDocumentedRightsAreNotMore(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1)
	rule := []any{"ACL", "SETUSER", "holdfast", "on", ">pw"}
	for _, right := range (rights.User{Roles: rights.Locker | rights.Observer | rights.Operator | rights.Admission, Durable: true}).Grants() {
		rule = append(rule, right)
	}
	s.servers[0].MustDo(t, rule...)
	for _, command := range [][]any{
		{"CLIENT", "KILL", "TYPE", "normal"}, {"CLIENT", "PAUSE", "1000"}, {"FUNCTION", "FLUSH"}, {"SCRIPT", "FLUSH"}, {"SCRIPT", "KILL"},
		{"CONFIG", "SET", "maxmemory", "1"}, {"FLUSHALL"}, {"KEYS", "*"}, {"MULTI"}, {"SHUTDOWN"},
	} {
		said, err := s.servers[0].Do(append([]any{"ACL", "DRYRUN", "holdfast"}, command...)...)
		if text, _ := said.(string); err == nil && !strings.Contains(text, "has no permissions") {
			t.Errorf("%v is allowed: %v", command, said)
		}
	}
}

// A user without channels, which is Redis's default for a new user, cannot wait in a queue. The client logs this once
// for each node.
func TestAUserWithoutChannelsIsWarnedOf(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1)
	s.servers[0].MustDo(t, "ACL", "SETUSER", "holdfast", "on", ">pw", "~*", "+@all", "resetchannels")
	var log written
	c := s.client(calm, logging(&log), func(c *holdfast.Config) {
		nodes, err := rueidisnode.Open(strings.Replace(s.urls[0], "redis://", "redis://holdfast:pw@", 1))
		if err != nil {
			t.Fatal(err)
		}
		c.Nodes = nodes
	})
	lock(t, s.ready(c), "x")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go c.Mutex("x").Lock(ctx)
	redistest.Eventually(t, 15*time.Second, "a warning", func() bool { return strings.Contains(log.String(), "node refuses subscriptions") })
	if n := strings.Count(log.String(), "node refuses subscriptions"); n != 1 {
		t.Errorf("%d warnings; want one", n)
	}
}

// documentedRights returns the command that makes a user with the rights of a role that docs/guide/rights.md lists.
func documentedRights(t *testing.T, role rights.Role) []any {
	t.Helper()
	doc, err := os.ReadFile("../../docs/guide/rights.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(doc), "\n- **"+role.String()+"** ")
	_, rest, _ = strings.Cut(rest, ":\n")
	if !found {
		t.Fatalf("docs/guide/rights.md does not list the rights of the role %s any more", role)
	}
	rule := []any{"ACL", "SETUSER", "holdfast", "on", ">pw"}
	for line := range strings.Lines(rest) {
		list, ok := strings.CutPrefix(line, "  `")
		if !ok {
			break
		}
		list, _, _ = strings.Cut(list, "`")
		for _, right := range strings.Fields(list) {
			rule = append(rule, right)
		}
	}
	return rule
}

// The page of rights and the command holdfast acl agree.
func TestTheDocumentedRightsAreThoseOfTheCommand(t *testing.T) {
	t.Parallel()
	for _, role := range eachRole {
		rule := documentedRights(t, role)[5:]
		if got, want := fmt.Sprint(rule), fmt.Sprint(rights.User{Roles: role}.Grants()); got != want {
			t.Errorf("docs/guide/rights.md: %s\n%s\nholdfast acl prints\n%s", role, got, want)
		}
	}
}
