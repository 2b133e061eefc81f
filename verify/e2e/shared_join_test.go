package e2e

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// Readers of one client that wait together join one lease: they cost few calls, and the release goes to the nodes with
// the last one.
func TestReadersOfOneClientShareALease(t *testing.T) {
	t.Parallel()
	const crowd = 64
	s := newSet(t, 1)
	c, other := s.ready(s.client(patient)), s.ready(s.client(patient))
	w := lock(t, other, "x")
	var in, out sync.WaitGroup
	in.Add(crowd)
	out.Add(1)
	leases := make([]*holdfast.Lease, crowd)
	var wait sync.WaitGroup
	for i := range crowd {
		wait.Go(func() {
			err := error(nil)
			leases[i], err = c.Mutex("x").RLock(t.Context())
			in.Done()
			if err != nil {
				t.Error(err)
				return
			}
			out.Wait() // all hold it at the same time
			unlock(t, leases[i])
			if err := leases[i].Unlock(t.Context()); !errors.Is(err, holdfast.ErrReleased) {
				t.Errorf("unlocked twice: %v", err)
			}
		})
	}
	s.inLine("x", 1)
	<-time.After(2 * window) // the others come to the line of the process meanwhile; this asks nobody
	before := s.calls()[0]
	unlock(t, w)
	in.Wait()
	if t.Failed() {
		return
	}
	for _, l := range leases[1:] {
		if l.Owner() != leases[0].Owner() || l.Fence() != leases[0].Fence() {
			t.Errorf("%v and %v are two leases", leases[0], l)
		}
	}
	if v, _ := s.servers[0].Do("HLEN", nodescript.ReadersKey(nodescript.RecordKey("x"))); v != int64(2) { // and `seen`
		t.Errorf("the node has %v fields for readers", v)
	}
	out.Done()
	wait.Wait()
	// These calls are expected: the release, the claim and its grant, the last release, and a few questions if the
	// machine is busy.
	if n := s.calls()[0] - before; n > 12 {
		t.Errorf("%d readers cost %d calls", crowd, n)
	}
	unlock(t, lock(t, other, "x")) // nobody is left
}

// roomy sets a long window, so that readers join a lease also on a busy machine.
func roomy(c *holdfast.Config) {
	c.Window, c.MaxTTL, c.TTL, c.NodeTimeout = 2*time.Second, 32*time.Second, 16*time.Second, 4*time.Second
}

// A reader joins a lease of its client for a moment after its grant, and only if nobody waits.
func TestAReaderJoinsWhileNobodyWaits(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	c := s.ready(s.client(roomy))
	first := readLock(t, c, "x")
	before := s.calls()[0]
	var more []*holdfast.Lease
	for range 20 {
		more = append(more, readLock(t, c, "x"))
		l, err := c.Mutex("x").TryRLock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		more = append(more, l)
	}
	for _, l := range more {
		if l.Owner() != first.Owner() {
			t.Errorf("%v did not join %v", l, first)
		}
	}
	if n := s.calls()[0] - before; n > 0 {
		t.Errorf("%d readers that joined cost %d calls", len(more), n)
	}
	// With a writer in line nobody joins.
	writer := eventually(t, c.Mutex("x").Lock)
	s.inLine("x", 1)
	if l, err := c.Mutex("x").TryRLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
		t.Errorf("a reader overtook a writer of its client: %v, %v", l, err)
	}
	last := eventually(t, c.Mutex("x").RLock)
	// A call under a lease of the name has it already, although a writer waits.
	nested, err := c.Mutex("x").RLock(first.Context())
	if err != nil {
		t.Fatal(err)
	}
	unlock(t, append(more, first)...)
	if nested.Context().Err() != nil || first.Context().Err() == nil {
		t.Error("the contexts of two handles end together")
	}
	select {
	case l := <-writer:
		t.Fatalf("a writer beside a nested reader: %v", l)
	default:
	}
	unlock(t, nested)
	w := comes(t, writer, "the writer")
	if w.Fence() <= first.Fence() {
		t.Errorf("the writer has the fence %d after a reader's %d", w.Fence(), first.Fence())
	}
	unlock(t, w)
	unlock(t, comes(t, last, "the reader behind the writer"))
}

// A joined reader has its own deadline rules: its TTL counts while it is in use, UnlockAt keeps the name until the
// latest instant of all, and Extend renews the common lease.
func TestSettingsOfJoinedReaders(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	c, other := s.ready(s.client(roomy)), s.ready(s.client(roomy))
	a := readLock(t, c, "x")
	b := readLock(t, c, "x", holdfast.WithTTL(24*time.Second))
	if a.Owner() != b.Owner() {
		t.Fatalf("%v did not join %v", b, a)
	}
	// The longest TTL of all handles counts, also if another handle extends the lease.
	if err := a.Extend(t.Context(), 16*time.Second); err != nil {
		t.Fatal(err)
	}
	if left := time.Until(b.Deadline()); left < 14*time.Second {
		t.Errorf("a reader has a TTL of 24 s, and the lease ends in %s", left)
	}
	if err := a.UnlockAt(t.Context(), time.Now().Add(3*time.Second)); err != nil {
		t.Fatal(err)
	}
	unlock(t, b)
	if _, err := other.Mutex("x").TryLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
		t.Errorf("a writer while readers keep the name: %v", err)
	}
	if l, err := other.Mutex("x").TryRLock(t.Context()); err != nil {
		t.Errorf("a reader while readers keep the name: %v", err)
	} else {
		unlock(t, l)
	}
	unlock(t, lock(t, other, "x"))
}
