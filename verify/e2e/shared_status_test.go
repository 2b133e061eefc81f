package e2e

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/verdict"
)

// If readers have a lock, the error of another call gives their number and names the first ten. Status names all
// readers, even a reader that a minority of the nodes does not know.
func TestReadersAreListed(t *testing.T) {
	t.Parallel()
	const readers = 12
	s := newSet(t, 3)
	var leases []*holdfast.Lease
	for i := range readers {
		label := func(c *holdfast.Config) { patient(c); c.Label = fmt.Sprintf("reader-%02d", i) }
		leases = append(leases, readLock(t, s.ready(s.client(label)), "x"))
	}
	other := s.ready(s.client(patient))
	var held *holdfast.HeldError
	if _, err := other.Mutex("x").TryLock(t.Context()); !errors.As(err, &held) {
		t.Fatal(err)
	}
	if held.Readers != readers || len(held.Holders) != 10 {
		t.Errorf("the error has %d readers, and lists %d", held.Readers, len(held.Holders))
	}
	for i, h := range held.Holders {
		if h.Owner != leases[i].Owner() || !h.Shared || h.Own {
			t.Errorf("reader %d is %+v, want %s", i, h, leases[i].Owner())
		}
	}
	if text := held.Error(); !strings.Contains(text, `lock "x": held shared by reader-00 and 11 others for up to `) {
		t.Error(text)
	}
	st, err := other.Status(t.Context(), "x")
	if err != nil || !st.Held || st.Readers != readers || len(st.Holders) != readers {
		t.Fatalf("status: %+v, %v", st, err)
	}
	for i, h := range st.Holders {
		if h.Owner != leases[i].Owner() || !h.Shared || h.Fence != leases[i].Fence() || h.Until.IsZero() {
			t.Errorf("reader %d is %+v, want %v", i, h, leases[i])
		}
	}
	for _, n := range st.Nodes {
		if n.Readers != readers || n.Reason != verdict.ReasonHeld || !strings.HasPrefix(n.Said(), "held shared by reader-00 and 11 others") {
			t.Errorf("a node says %q of %d readers", n.Said(), n.Readers)
		}
	}
	unlock(t, leases[1:]...)
	if st, err = other.Status(t.Context(), "x"); err != nil || st.Readers != 1 || st.Holder().Owner != leases[0].Owner() {
		t.Errorf("status with one reader: %+v, %v", st, err)
	}
	unlock(t, leases[0])
	if st, err = other.Status(t.Context(), "x"); err != nil || st.Held || st.Readers != 0 {
		t.Errorf("status of a free lock: %+v, %v", st, err)
	}
	unlock(t, lock(t, other, "x"))
}

// A node whose readers cannot be read grants nothing. Status must not call the lock free.
func TestStatusOfUnreadableReaders(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	c := s.ready(s.client(patient))
	l := readLock(t, c, "x")
	for i, srv := range s.servers {
		redistest.Eventually(t, 20*time.Second, "the reader on all nodes", func() bool { return s.readers(i, "x")[l.Owner()] })
		srv.MustDo(t, "HSET", nodescript.ReadersKey(nodescript.RecordKey("x")), "garbage", "1")
	}
	if _, err := c.Mutex("x").TryLock(t.Context()); !errors.Is(err, holdfast.ErrUnavailable) {
		t.Fatalf("TryLock: %v", err)
	}
	st, err := c.Status(t.Context(), "x")
	if !errors.Is(err, holdfast.ErrUnavailable) {
		t.Fatalf("status: %+v, %v", st, err)
	}
	for _, n := range st.Nodes {
		if n.Reason != verdict.ReasonCorrupt {
			t.Errorf("a node says %q", n.Said())
		}
	}
}

// A reader has the lock, and the nodes reserve it for a second reader that waits. The status names both. The lock has
// one reader and is not free.
func TestAStatusWithAReaderAndAClaim(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	c := s.ready(s.client(steady))
	l, err := c.Mutex("x").RLock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, srv := range s.servers {
		srv.MustDo(t, "HSET", nodescript.ReadersKey(nodescript.RecordKey("x")), "web~client~1-1~r",
			nodescript.Micros(0)+nodescript.Micros(time.Now().Add(time.Minute).UnixMicro()))
	}
	st, err := c.Status(t.Context(), "x")
	if err != nil || !st.Held || st.Holder().Offered || st.Holder().Owner != l.Owner() || st.Readers != 1 {
		t.Errorf("held %t by %+v, %d readers, %v", st.Held, st.Holders, st.Readers, err)
	}
	// A call for an owner without the lock returns an error that names the holder.
	if _, err := admin.Unlock(t.Context(), c, "x", admin.UnlockOptions{Owners: []string{"other"}}); !errors.Is(err, holdfast.ErrHeld) {
		t.Errorf("an unlock of another owner: %v", err)
	}
}
