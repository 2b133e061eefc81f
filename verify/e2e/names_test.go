package e2e

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

var goodNames = map[string]string{
	"one letter":        "x",
	"a path":            "orders/42",
	"spaces":            " nightly  report ",
	"a newline":         "a\nb\r\nc",
	"NUL":               "a\x00b",
	"only NUL":          "\x00",
	"a tag":             "{user:7}:cart",
	"only a tag":        "{user:7}",
	"nested braces":     "{a{b}c}",
	"an empty tag last": "{a}{}",
	"UTF-8":             "Grüße, 世界 🔒",
	"no UTF-8 at all":   "\xff\xfe\x80",
	"quotes":            `"it's" \ back`,
	"a glob":            "*?[a-z]",
	"1 KiB":             strings.Repeat("n", 1024),
	"nearly ours":       "holdfast:nod",
	"ours in between":   "a:holdfast:b",
	"a Lua placeholder": "@GUARD@",
	"like a record key": "{x}:holdfas",
}

func TestAnyNameCanBeLocked(t *testing.T) {
	t.Parallel()
	sets(t, func(t *testing.T, s *set) {
		a, b := s.ready(s.client(calm)), s.ready(s.client(calm))
		leases := map[string]*holdfast.Lease{}
		for what, name := range goodNames { // all leases exist at the same time, so no two names are one lock
			leases[what] = lock(t, a, name)
		}
		for what, name := range goodNames {
			lease := leases[what]
			if lease.Name() != name {
				t.Errorf("%s: the lease's name is %q", what, lease.Name())
			}
			var held *holdfast.HeldError
			if _, err := b.Mutex(name).TryLock(t.Context()); !errors.As(err, &held) || held.Holder().Owner != lease.Owner() || held.Name != name {
				t.Errorf("%s: TryLock of the held lock: %v", what, err)
			}
			st, err := b.Status(t.Context(), name)
			if err != nil || st.Holder().Owner != lease.Owner() || st.Holder().Fence != lease.Fence() || st.Name != name {
				t.Errorf("%s: Status: %+v, %v", what, st, err)
			}
			// A majority has the lease at once. A node that missed it gets it by the next renewal.
			redistest.Eventually(t, 5*time.Second, what+": the plain key on the first node", func() bool { return s.plain(0, name) == lease.Owner() })
			if err := lease.Extend(t.Context(), 3*time.Second); err != nil {
				t.Errorf("%s: Extend: %v", what, err)
			}
			if err := lease.Unlock(t.Context()); err != nil {
				t.Errorf("%s: Unlock: %v", what, err)
			}
			lock(t, b, name).Unlock(t.Context())
		}
	})
}

func TestAPrefixIsPartOfTheKeyOnly(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1)
	prefixed := s.ready(s.client(calm, func(c *holdfast.Config) { c.Prefix = "billing:" }))
	bare := s.ready(s.client(calm))
	lease := lock(t, prefixed, "nightly")
	if lease.Name() != "nightly" || s.plain(0, "billing:nightly") != lease.Owner() {
		t.Errorf("name %q, plain key %q", lease.Name(), s.plain(0, "billing:nightly"))
	}
	lock(t, bare, "nightly").Unlock(t.Context())
	if _, err := bare.Mutex("billing:nightly").TryLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
		t.Errorf("TryLock of the whole key without prefix: %v", err)
	}
	if _, err := prefixed.Mutex(strings.Repeat("n", 1024)).TryLock(t.Context()); err == nil || !strings.Contains(err.Error(), "1032 bytes") {
		t.Errorf("a name that is too long with its prefix: %v", err)
	}
}

// silent counts the calls to a node.
type silent struct {
	node.Node
	calls atomic.Int32
}

func (n *silent) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	n.calls.Add(int32(len(calls)))
	return n.Node.EvalSHA(ctx, calls)
}

func (n *silent) Eval(ctx context.Context, text string, call node.Call, load ...string) node.Reply {
	n.calls.Add(1)
	return n.Node.Eval(ctx, text, call, load...)
}

// Every method refuses each of these names with advice, and sends no request to a node. An unreachable node would give
// a different error.
func TestANameThatCannotBeLockedIsRefusedBeforeTheNetwork(t *testing.T) {
	t.Parallel()
	nodes, err := rueidisnode.Open("redis://127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	counted := &silent{Node: nodes[0]}
	cfg := settings()
	cfg.Nodes = []node.Node{counted}
	c, err := holdfast.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, bad := range []struct{ name, says string }{
		{"", "empty"},
		{strings.Repeat("n", 1025), "1025 bytes; at most 1024"},
		{nodescript.GuardKey, `begins with "holdfast:node"`},
		{nodescript.AdmissionKey, `begins with "holdfast:node"`},
		{"holdfast:nodes", `begins with "holdfast:node"`},
		{nodescript.RecordKey("x"), "ends like a key of Holdfast's own"},
		{nodescript.RecordKey("{x}y"), "ends like a key of Holdfast's own"},
		{"x:holdfast", "ends like a key of Holdfast's own"},
		{"{x}:holdfast:queue", "ends like a key of Holdfast's own"},
		{"{x}:holdfast:value", "ends like a key of Holdfast's own"},
		{"a{b", "unbalanced braces"},
		{"a}b", "unbalanced braces"},
		{"}{", "unbalanced braces"},
		{"{a}}", "unbalanced braces"},
		{"{}x", "empty first pair of braces"},
		{"x{}{a}", "empty first pair of braces"},
	} {
		m := c.Mutex(bad.name)
		_, lockErr := m.Lock(t.Context())
		_, tryErr := m.TryLock(t.Context())
		_, statusErr := c.Status(t.Context(), bad.name)
		for what, err := range map[string]error{"Lock": lockErr, "TryLock": tryErr, "Do": m.Do(t.Context(), nil), "Status": statusErr} {
			if err == nil || !strings.HasPrefix(err.Error(), "holdfast: ") || !strings.Contains(err.Error(), bad.says) ||
				errors.Is(err, holdfast.ErrUnavailable) || errors.Is(err, holdfast.ErrHeld) {
				t.Errorf("%s of %.20q: %v; want an error that says %q", what, bad.name, err, bad.says)
			}
		}
	}
	for _, ttl := range []time.Duration{-1, 0, 1599 * time.Millisecond, 2*time.Second + 1} {
		_, err := c.Mutex("x", holdfast.WithTTL(ttl)).TryLock(t.Context())
		if err == nil || !strings.Contains(err.Error(), "TTL is "+ttl.String()+"; it must be from 8 × Window = 1.6s to MaxTTL = 2s") {
			t.Errorf("WithTTL(%s): %v", ttl, err)
		}
	}
	if n := counted.calls.Load(); n != 0 {
		t.Errorf("a node got %d calls", n)
	}
	if _, err := c.Mutex("x").TryLock(t.Context()); counted.calls.Load() == 0 {
		t.Errorf("a good name does not reach the node either: %v", err)
	}
}

func TestABadNameIsAFactOfItsOwn(t *testing.T) {
	t.Parallel()
	c := newSet(t, 1).client()
	for _, name := range []string{"", "holdfast:node", "{", strings.Repeat("x", 1025)} {
		_, locked := c.Mutex(name).Lock(t.Context())
		_, tried := c.Mutex(name).TryLock(t.Context())
		done := c.Mutex(name).Do(t.Context(), func(context.Context) error { return nil })
		_, looked := c.Status(t.Context(), name)
		for _, err := range []error{locked, tried, done, looked} {
			if !errors.Is(err, holdfast.ErrBadName) || !strings.Contains(err.Error(), "name") {
				t.Errorf("%.20q: %v; want ErrBadName", name, err)
			}
		}
	}
	if _, err := c.Mutex("x", holdfast.WithTTL(1)).TryLock(t.Context()); err == nil || errors.Is(err, holdfast.ErrBadName) {
		t.Errorf("a bad TTL: %v", err)
	}
}
