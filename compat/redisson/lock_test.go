package redisson_test

import (
	"context"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/compat/redisson"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// A lease is stored as Redisson stores it: a hash with a field, the count, and an expiry. Nothing is left afterwards.
func TestALeaseHasRedissonsLayout(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := client(t, goredis(t, s), nil)
	l := mustLock(t, c, "orders")
	got := hash(t, s, "orders")
	if len(got) != 2 || got[l.Owner()] != "1" || got["mode"] != "write" {
		t.Errorf("the hash is %v, want a field %s with 1, and the mode", got, l.Owner())
	}
	if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}:[0-9]+$`).MatchString(l.Owner()) {
		t.Errorf("the field %q is not UUID:thread", l.Owner())
	}
	if left := s.MustDo(t, "PTTL", "orders").(int64); left < 20_000 || left > 30_000 {
		t.Errorf("the key expires in %d ms, want 30 s", left)
	}
	if d := time.Until(l.Deadline()); d > 29_800*time.Millisecond || d < 20*time.Second {
		t.Errorf("the deadline is in %v; it must be a hundredth and more before the expiry", d)
	}
	if l.Fence() != 0 {
		t.Errorf("the token is %d without a token key", l.Fence())
	}
	mustUnlock(t, l)
	if got := context.Cause(l.Context()); !errors.Is(got, holdfast.ErrReleased) {
		t.Errorf("the context ended with %v", got)
	}
	if err := l.Unlock(t.Context()); !errors.Is(err, holdfast.ErrReleased) {
		t.Errorf("a second Unlock: %v", err)
	}
	empty(t, s)
}

// A thread of Java has the lock. TryLock and a short Lock are refused, and the key does not change.
func TestAJavaHolderIsRespectedAndUntouched(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, []string{s.URL()}, nil)
	j := java{t: t, server: s, name: "orders"}
	j.lock(20 * time.Second)
	j.lock(20 * time.Second) // twice: the count is 2
	_, err := c.Mutex("orders").TryLock(t.Context())
	var held *redisson.HeldError
	if !errors.As(err, &held) || !errors.Is(err, holdfast.ErrHeld) {
		t.Fatalf("TryLock: %v", err)
	}
	if held.Holder != thread || held.Count != 2 || held.ExpiresIn <= 0 || held.ExpiresIn > 20*time.Second || held.Mode != "" {
		t.Errorf("the error has %+v", held)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := c.Mutex("orders").Lock(ctx); !errors.Is(err, holdfast.ErrHeld) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Lock: %v", err)
	}
	if got := hash(t, s, "orders"); len(got) != 1 || got[thread] != "2" {
		t.Errorf("the hash is %v now", got)
	}
	j.unlock()
	if _, err := c.Mutex("orders").TryLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
		t.Errorf("TryLock beside a count of 1: %v", err)
	}
	j.unlock()
	mustUnlock(t, mustLock(t, c, "orders"))
	empty(t, s)
}

// Java's script is refused while a lease is held, and gets the lease's remaining time.
func TestALeaseKeepsJavaOut(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, []string{s.URL()}, nil)
	j := java{t: t, server: s, name: "orders"}
	l := mustLock(t, c, "orders")
	if got, ok := j.lock(time.Second).(int64); !ok || got < 20_000 {
		t.Errorf("java's tryLock says %v; want the remaining ms", got)
	}
	mustUnlock(t, l)
	if got := j.lock(time.Second); got != nil {
		t.Errorf("java's tryLock says %v after Unlock", got)
	}
}

// Keys with a prefix of a NameMapper, and names with a brace, are Redisson's.
func TestKeysFollowNameMapperAndBraces(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, []string{s.URL()}, func(c *redisson.Config) { c.MapName = func(name string) string { return "app:" + name } })
	j := java{t: t, server: s, name: "app:orders"}
	j.lock(20 * time.Second)
	got := make(chan *redisson.Lease)
	go func() { got <- mustLock(t, c, "orders") }()
	subscribed(t, s, "app:orders")
	j.unlock()
	l := take(t, got)
	if hash(t, s, "app:orders")[l.Owner()] != "1" || l.Name() != "orders" {
		t.Errorf("the lease %v is not at app:orders", l)
	}
	mustUnlock(t, l)

	done := make(chan *redisson.Lease)
	first := mustLock(t, c, "{7}:x")
	go func() { done <- mustLock(t, c, "{7}:x") }()
	redistest.Eventually(t, within, "the channel of a name with braces", func() bool {
		return s.MustDo(t, "PUBSUB", "NUMSUB", "redisson_lock__channel:app:{7}:x").([]any)[1].(int64) > 0
	})
	mustUnlock(t, first)
	mustUnlock(t, take(t, done))
}

// A key of another kind is a clear error from TryLock and Lock, at once, and is not touched.
func TestAKeyOfAnotherKindIsAClearError(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, []string{s.URL()}, nil)
	s.MustDo(t, "SET", "plain", "web-3/4711~c1~r2", "PX", 60_000)
	s.MustDo(t, "RPUSH", "list", "x")
	for name, want := range map[string][]string{
		"plain": {"WRONGTYPE", "is a string", "web-3/4711~c1~r2", "expires in", "use this package for all clients"},
		"list":  {"WRONGTYPE", "is a list", "never expires", "use another name"},
	} {
		_, err := c.Mutex(name).Lock(t.Context())
		_, err2 := c.Mutex(name).TryLock(t.Context())
		for _, err := range []error{err, err2} {
			if !errors.Is(err, redisson.ErrWrongKind) || errors.Is(err, holdfast.ErrHeld) {
				t.Errorf("%s: %v", name, err)
				continue
			}
			for _, w := range want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%s: %q does not contain %q", name, err, w)
				}
			}
		}
	}
	if got := s.MustDo(t, "GET", "plain"); got != "web-3/4711~c1~r2" {
		t.Errorf("the string is %v now", got)
	}
}

// A hash that is no lock keeps Redisson out, so it keeps this package out. The error names a field of it.
func TestAHashOfSomebodyElseKeepsUsOut(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, []string{s.URL()}, nil)
	s.MustDo(t, "HSET", "invoice", "total\nH1 1 -", "12 EUR")
	_, err := c.Mutex("invoice").TryLock(t.Context())
	var held *redisson.HeldError
	if !errors.As(err, &held) || held.Holder != "total\nH1 1 -" || held.Count != 0 || held.ExpiresIn >= 0 {
		t.Fatalf("%v", err)
	}
	if !strings.Contains(err.Error(), `total\nH1 1 -`) || !strings.Contains(err.Error(), "never expires") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%q", err)
	}
}

// The rights of the package comment are enough, also for waiting and for handles.
func TestTheDocumentedRightsAreEnough(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, rights, found := strings.Cut(string(text), "// # Rights")
	rule := []any{"ACL", "SETUSER", "app", "on", ">pw", "~orders", "~redisson_lock_token:{orders}", "~redisson_unlock_latch:{orders}:*",
		"~{orders}:*", "~redisson_lock_queue:{orders}", "~redisson_lock_timeout:{orders}",
		"&redisson_lock__channel:{orders}", "&redisson_lock__channel:{orders}:*", "&redisson_rwlock:{orders}", "+auth", "+hello", "+ping", "+select", "+client|setname", "+info"}
	for _, word := range strings.FieldsFunc(rights, func(r rune) bool { return strings.ContainsRune(" \n(),:/", r) }) {
		if strings.HasPrefix(word, "+") {
			rule = append(rule, word)
		}
	}
	if !found || len(rule) < 25 {
		t.Fatalf("the package comment names no rights: %v", rule)
	}
	s.MustDo(t, rule...)
	c := open(t, []string{"redis://app:pw@" + s.Addr()}, func(c *redisson.Config) { c.Fenced, c.Poll = true, time.Hour })
	l := mustLock(t, c, "orders")
	mustUnlock(t, mustLockIn(t, c, l))
	got := make(chan *redisson.Lease)
	go func() { got <- mustLock(t, c, "orders") }()
	subscribed(t, s, "orders")
	mustUnlock(t, l)
	mustUnlock(t, take(t, got))
	j := javaRW{t, s, "orders", thread}
	j.read(time.Hour)
	r := mustRLock(t, c, "orders")
	go func() { got <- mustLock(t, c, "orders") }()
	redistest.Eventually(t, within, "a subscription", func() bool {
		return s.MustDo(t, "PUBSUB", "NUMSUB", "redisson_rwlock:{orders}").([]any)[1].(int64) > 0
	})
	mustUnlock(t, r)
	s.MustDo(t, "RPUSH", "redisson_lock_queue:{orders}", "a:1")
	j.readUnlock()
	mustUnlock(t, take(t, got))
	if denied := s.MustDo(t, "ACL", "LOG").([]any); len(denied) > 0 {
		t.Errorf("denied: %v", denied)
	}
}

func TestBadInputGetsAClearError(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, []string{s.URL()}, nil)
	if _, err := c.Mutex("").TryLock(t.Context()); !errors.Is(err, holdfast.ErrBadName) {
		t.Errorf("an empty name: %v", err)
	}
	l := mustLock(t, c, "x")
	if err := l.Extend(t.Context(), time.Millisecond); !errors.Is(err, holdfast.ErrBadTTL) || !strings.Contains(err.Error(), "100ms") {
		t.Errorf("Extend by 1 ms: %v", err)
	}
	mustUnlock(t, l)
	for want, change := range map[string]func(*redisson.Config){
		"Nodes has 0":            func(c *redisson.Config) { c.Nodes = nil },
		"the same server":        func(c *redisson.Config) { c.Nodes = append(c.Nodes, c.Nodes[0]) },
		"TTL is 1ms":             func(c *redisson.Config) { c.TTL = time.Millisecond },
		"Poll is 1ms":            func(c *redisson.Config) { c.Poll = time.Millisecond },
		"NodeTimeout is 20s":     func(c *redisson.Config) { c.NodeTimeout = 20 * time.Second },
		"Nodes[0] is nil":        func(c *redisson.Config) { c.Nodes[0] = nil },
		"tokens need a single":   func(c *redisson.Config) { c.Fenced, c.Nodes = true, append(c.Nodes, goredis(t, redistest.Start(t))...) },
		"implement node.Sharded": func(c *redisson.Config) { c.Sharded, c.Nodes[0] = true, plainNode{c.Nodes[0]} },
	} {
		config := redisson.Config{Nodes: goredis(t, s)}
		change(&config)
		if _, err := redisson.New(config); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := c.Mutex("x").Lock(t.Context()); !errors.Is(err, holdfast.ErrClosed) {
		t.Errorf("Lock after Close: %v", err)
	}
}
