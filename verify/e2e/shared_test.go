package e2e

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/verdict"
)

// readLock takes name shared or fails the test.
func readLock(t testing.TB, c *holdfast.Client, name string, opts ...holdfast.Option) *holdfast.Lease {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	l, err := c.Mutex(name, opts...).RLock(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// unlock releases leases or fails the test.
func unlock(t testing.TB, leases ...*holdfast.Lease) {
	t.Helper()
	for _, l := range leases {
		if err := l.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// comes waits for a lease that a goroutine takes.
func comes(t testing.TB, got chan *holdfast.Lease, who string) *holdfast.Lease {
	t.Helper()
	select {
	case l := <-got:
		if l == nil {
			t.Fatalf("%s did not get the lock", who)
		}
		return l
	case <-time.After(20 * time.Second):
		t.Fatalf("%s does not get the lock", who)
	}
	return nil
}

// eventually takes a lock in a goroutine.
func eventually(t testing.TB, take func(ctx context.Context) (*holdfast.Lease, error)) chan *holdfast.Lease {
	got := make(chan *holdfast.Lease, 1)
	go func() {
		l, err := take(t.Context())
		if err != nil {
			t.Error(err)
		}
		got <- l
	}()
	return got
}

// Readers of several clients have a lock together, and exclude writers. A writer excludes readers. Tokens grow with
// each writer.
func TestReadersExcludeWritersOnly(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 5} {
		t.Run(fmt.Sprint(n, " nodes"), func(t *testing.T) {
			t.Parallel()
			s := plainSet(t, n)
			a, b := s.ready(s.client(patient)), s.ready(s.client(patient))
			w := lock(t, a, "x")
			if l, err := b.Mutex("x").TryRLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
				t.Fatalf("a reader beside a writer: %v, %v", l, err)
			}
			unlock(t, w)
			ra, rb := readLock(t, a, "x"), readLock(t, b, "x")
			if !ra.Shared() || !rb.Shared() || w.Shared() {
				t.Errorf("shared: %v, %v, and %v for a writer", ra.Shared(), rb.Shared(), w.Shared())
			}
			if min(ra.Fence(), rb.Fence()) <= w.Fence() {
				t.Errorf("readers have the fences %d and %d after a writer's %d", ra.Fence(), rb.Fence(), w.Fence())
			}
			var held *holdfast.HeldError
			if l, err := b.Mutex("x").TryLock(t.Context()); !errors.As(err, &held) {
				t.Fatalf("a writer beside readers: %v, %v", l, err)
			}
			unlock(t, ra)
			if l, err := a.Mutex("x").TryLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
				t.Fatalf("a writer beside the last reader: %v, %v", l, err)
			}
			unlock(t, rb)
			w2 := lock(t, a, "x")
			if w2.Fence() <= max(ra.Fence(), rb.Fence()) {
				t.Errorf("a writer has the fence %d after readers with %d and %d", w2.Fence(), ra.Fence(), rb.Fence())
			}
			unlock(t, w2)
			if err := w2.Unlock(t.Context()); !errors.Is(err, holdfast.ErrReleased) {
				t.Errorf("unlocked twice: %v", err)
			}
			if err := rb.Unlock(t.Context()); !errors.Is(err, holdfast.ErrReleased) {
				t.Errorf("a reader unlocked twice: %v", err)
			}
		})
	}
}

// A lock that its caller has shared cannot become exclusive, and the call says so at once. The other direction works.
func TestAReaderCannotBecomeAWriter(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1)
	c := s.ready(s.client(patient))
	m := c.Mutex("x")
	r := readLock(t, c, "x")
	for what, take := range map[string]func(ctx context.Context) (*holdfast.Lease, error){"Lock": m.Lock, "TryLock": m.TryLock} {
		if l, err := take(r.Context()); !errors.Is(err, holdfast.ErrUpgrade) || errors.Is(err, holdfast.ErrHeld) {
			t.Fatalf("%s under a shared lease: %v, %v", what, l, err)
		}
	}
	if s, err := c.LockAll(r.Context(), []string{"w", "x"}); !errors.Is(err, holdfast.ErrUpgrade) {
		t.Errorf("LockAll under a shared lease: %v, %v", s, err)
	}
	nested, err := m.RLock(r.Context())
	if err != nil {
		t.Fatal(err)
	}
	if l, err := m.Lock(nested.Context()); !errors.Is(err, holdfast.ErrUpgrade) {
		t.Errorf("Lock under a nested reader: %v, %v", l, err)
	}
	unlock(t, nested, r)
	if l, err := m.RLock(r.Context()); !errors.Is(err, holdfast.ErrReleased) {
		t.Errorf("RLock under a lease that is over: %v, %v", l, err)
	}

	w := lock(t, c, "x")
	before := s.calls()[0]
	one, err1 := m.RLock(w.Context())
	two, err2 := m.TryRLock(w.Context()) // readers under one lease do not exclude each other
	if err1 != nil || err2 != nil || !one.Shared() || one.Fence() != w.Fence() {
		t.Fatalf("readers under a writer: %v, %v, %v, %v", one, err1, two, err2)
	}
	if n := s.calls()[0] - before; n != 0 {
		t.Errorf("readers under a writer cost %d calls", n)
	}
	if l, err := m.TryLock(w.Context()); !errors.Is(err, holdfast.ErrHeld) {
		t.Errorf("a writer beside readers under one lease: %v, %v", l, err)
	}
	if l, err := m.Lock(one.Context()); !errors.Is(err, holdfast.ErrUpgrade) {
		t.Errorf("Lock under a reader under a writer: %v, %v", l, err)
	}
	writer := eventually(t, func(context.Context) (*holdfast.Lease, error) { return m.Lock(w.Context()) })
	unlock(t, one, two)
	unlock(t, comes(t, writer, "the writer behind readers under one lease"), w)
	if l, err := c.Mutex("x", holdfast.Reentrant(false)).RLock(lock(t, c, "x").Context()); !errors.Is(err, holdfast.ErrReentrant) {
		t.Errorf("RLock with Reentrant(false): %v, %v", l, err)
	}
}

// RDo gives its function the shared lease, and reports a loss.
func TestWorkUnderASharedLock(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	c, other := s.ready(s.client(patient)), s.ready(s.client(patient))
	err := c.Mutex("x").RDo(t.Context(), func(ctx context.Context) error {
		if l, ok := holdfast.FromContext(ctx); !ok || !l.Shared() {
			t.Errorf("the work has the lease %v", l)
		}
		return other.Mutex("x").TryRDo(ctx, func(context.Context) error { return context.Canceled })
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the work's error is %v", err)
	}
	unlock(t, lock(t, other, "x"))
}

// A shared lease is lost when a majority of the nodes no longer has it. All its handles are told.
func TestALostSharedLease(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	c := s.ready(s.client())
	a := readLock(t, c, "x")
	b, err := c.Mutex("x").RLock(a.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, 1} {
		key := nodescript.RecordKey("x")
		s.servers[i].MustDo(t, "DEL", key, nodescript.ReadersKey(key), "x")
	}
	for _, l := range []*holdfast.Lease{a, b} {
		select {
		case <-l.Context().Done():
		case <-time.After(20 * time.Second):
			t.Fatal("nobody is told of a lost lease")
		}
		if err := context.Cause(l.Context()); !errors.Is(err, holdfast.ErrLost) {
			t.Errorf("the cause of the end is %v", err)
		}
		if err := l.Unlock(t.Context()); !errors.Is(err, holdfast.ErrLost) {
			t.Errorf("Unlock of a lost lease: %v", err)
		}
	}
	unlock(t, readLock(t, c, "x"))
}

// A client of the protocol before this one knows no readers. The nodes refuse it, and it refuses the nodes.
func TestAClientOfAnEarlierProtocolIsRefused(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1)
	earlier := fmt.Sprintf("protocol=%d", nodescript.Protocol-1)
	var un *holdfast.UnavailableError
	refused := func(c *holdfast.Client) bool {
		_, err := c.Mutex("x").TryRLock(t.Context())
		return errors.As(err, &un) && un.Nodes[0].Reason == verdict.ReasonMisconfigured
	}
	now := s.config().String()
	old := earlier + now[len(earlier):]
	s.servers[0].MustDo(t, "HSET", nodescript.AdmissionKey, "config", old)
	c := s.client()
	redistest.Eventually(t, 15*time.Second, "the nodes of an earlier protocol to be refused", func() bool { return refused(c) })
	if d := un.Nodes[0].Settings; len(d) != 1 || d[0].Setting != "protocol" {
		t.Errorf("the settings that differ are %+v", d)
	}
}

// A reader stores no value, also under an exclusive lease of its caller and after a downgrade.
func TestAReaderStoresNoValue(t *testing.T) {
	t.Parallel()
	s := plainSet(t, 1)
	c := s.ready(s.client(patient))
	refused := func(who string, l *holdfast.Lease) {
		t.Helper()
		if err := l.Store(t.Context(), []byte(who)); !errors.Is(err, holdfast.ErrNoValue) {
			t.Errorf("Store of %s: %v", who, err)
		}
		if v, err := l.Load(t.Context()); !errors.Is(err, holdfast.ErrNoValue) {
			t.Errorf("Load of %s: %q, %v", who, v, err)
		}
	}
	w := lock(t, c, "x")
	under, err := c.Mutex("x").RLock(w.Context())
	if err != nil {
		t.Fatal(err)
	}
	refused("a reader under a writer", under)
	unlock(t, under)
	if err := w.Downgrade(t.Context()); err != nil {
		t.Fatal(err)
	}
	refused("a downgraded writer", w)
	unlock(t, w)
	r := readLock(t, c, "x")
	refused("a reader", r)
	unlock(t, r)
}
