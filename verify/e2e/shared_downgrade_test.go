package e2e

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/leasetest"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// readers returns the owners that a node stores as readers of a name.
func (s *set) readers(i int, name string) map[string]bool {
	s.t.Helper()
	v, _ := s.servers[i].Do("HKEYS", nodescript.ReadersKey(nodescript.RecordKey(name)))
	owners := map[string]bool{}
	list, _ := v.([]any)
	for _, o := range list {
		if o != "seen" {
			owners[o.(string)] = true
		}
	}
	return owners
}

// A writer becomes a reader without a gap: readers that wait come in, and writers wait on.
func TestDowngrade(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 5} {
		t.Run(fmt.Sprint(n, " nodes"), func(t *testing.T) {
			t.Parallel()
			s := newSet(t, n)
			c, r, w := s.ready(s.client()), s.ready(s.client()), s.ready(s.client())
			l := lock(t, c, "x")
			fence, owner, ctx := l.Fence(), l.Owner(), l.Context()
			reader := eventually(t, r.Mutex("x").RLock)
			s.inLine("x", 1)
			<-time.After(4 * late)
			writer := eventually(t, w.Mutex("x").Lock)
			s.inLine("x", 2)
			if n == 5 {
				s.kill(s.servers[0])
			}
			if err := l.Downgrade(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Mutex("x").TryLock(l.Context()); !errors.Is(err, holdfast.ErrUpgrade) {
				t.Fatalf("TryLock under a downgraded lease: %v", err)
			}
			if err := l.Downgrade(t.Context()); err != nil || !l.Shared() {
				t.Errorf("a second downgrade: %v, shared: %v", err, l.Shared())
			}
			beside := comes(t, reader, "a reader beside a downgraded writer")
			if ctx.Err() != nil {
				t.Fatalf("the context of a downgraded lease ended: %v", context.Cause(ctx))
			}
			if l.Fence() <= fence || l.Owner() == owner {
				t.Errorf("a downgraded lease has the fence %d and the owner %s; it had %d and %s", l.Fence(), l.Owner(), fence, owner)
			}
			unlock(t, beside)
			// The lease is renewed as any other.
			first := l.Deadline()
			redistest.Eventually(t, 20*time.Second, "two renewals", func() bool { return l.Deadline().After(first.Add(time.Second)) })
			if err := l.Extend(t.Context(), 2*time.Second); err != nil || ctx.Err() != nil {
				t.Errorf("extend: %v; the context's cause: %v", err, context.Cause(ctx))
			}
			select {
			case l := <-writer:
				t.Fatalf("a writer beside a downgraded lease: %v", l)
			default:
			}
			last := l.Fence()
			unlock(t, l)
			after := comes(t, writer, "the writer")
			if after.Fence() <= last {
				t.Errorf("the writer has the fence %d after a downgraded lease with %d", after.Fence(), last)
			}
			unlock(t, after)
		})
	}
}

// A downgrade fails while another exclusive handle is in use, and changes nothing.
// From the call of Downgrade on, its requests are the only renewals of the lease. So they may need no memory either.
func TestADowngradeWhereMemoryIsFull(t *testing.T) {
	t.Parallel()
	for _, private := range []bool{false, true} {
		t.Run(fmt.Sprintf("private %t", private), func(t *testing.T) {
			t.Parallel()
			s := newSet(t, 3)
			l := lock(t, s.ready(s.client(func(c *holdfast.Config) { c.Private = private })), "x")
			s.each(all(3), func(srv *redistest.Server) { srv.MustDo(t, "CONFIG", "SET", "maxmemory", "1") })
			if err := l.Downgrade(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := l.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestDowngradeUnderAnotherHandle(t *testing.T) {
	t.Parallel()
	s := plainSet(t, 1)
	c := s.ready(s.client())
	outer := lock(t, c, "x")
	inner, err := c.Mutex("x").Lock(outer.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []*holdfast.Lease{outer, inner} {
		if err := l.Downgrade(t.Context()); err == nil || outer.Shared() || inner.Shared() {
			t.Errorf("downgrade under two exclusive handles: %v", err)
		}
	}
	writer := make(chan error, 1)
	go func() {
		_, err := c.Mutex("x").Lock(outer.Context())
		writer <- err
	}()
	unlock(t, inner)
	redistest.Eventually(t, 20*time.Second, "the downgrade, or the other handle", func() bool {
		select {
		case err := <-writer:
			writer <- err
			return true
		default:
			return outer.Downgrade(t.Context()) == nil
		}
	})
	if err := <-writer; outer.Shared() != errors.Is(err, holdfast.ErrUpgrade) {
		t.Errorf("downgraded: %v; a Lock that waited under the lease: %v", outer.Shared(), err)
	}
	slot, err := c.Semaphore("x", 2).Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := slot.Downgrade(t.Context()); err == nil {
		t.Error("a slot of a semaphore was downgraded")
	}
	unlock(t, slot)
	if err := slot.Downgrade(t.Context()); !errors.Is(err, holdfast.ErrReleased) {
		t.Errorf("downgrade of a lease that is over: %v", err)
	}
}

// A downgrade that a majority of the nodes does not answer goes on after its context, and ends with the lease at the
// latest.
func TestDowngradeWithoutAQuorum(t *testing.T) {
	t.Parallel()
	for _, ends := range []string{"goes on", "is lost", "is released"} {
		t.Run(ends, func(t *testing.T) {
			t.Parallel()
			s := newSet(t, 3)
			c := s.ready(s.client(patient))
			l := lock(t, c, "x", holdfast.WithTTL(4*time.Second))
			s.each([]int{1, 2}, (*redistest.Server).Freeze)
			short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			if err := l.Downgrade(short); !errors.Is(err, context.DeadlineExceeded) || !l.Shared() {
				t.Fatalf("downgrade without a quorum: %v, shared: %v", err, l.Shared())
			}
			former := l.Owner()
			switch ends {
			case "goes on":
				s.each([]int{1, 2}, (*redistest.Server).Thaw)
				redistest.Eventually(t, 20*time.Second, "a majority with the reader", func() bool {
					n := 0
					for i := range s.servers {
						if s.readers(i, "x")[former] {
							n++
						}
					}
					return n >= 2
				})
				first := l.Deadline()
				redistest.Eventually(t, 20*time.Second, "a renewal", func() bool { return leasetest.Renewed(l, first) })
				unlock(t, l)
			case "is lost":
				select {
				case <-l.Context().Done():
				case <-time.After(20 * time.Second):
					t.Fatal("nobody is told of a lost lease")
				}
				if err := l.Unlock(t.Context()); !errors.Is(err, holdfast.ErrLost) {
					t.Errorf("Unlock of a lost lease: %v", err)
				}
				<-time.After(2 * window) // the last request of the downgrade comes too late then
				s.each([]int{1, 2}, (*redistest.Server).Thaw)
			case "is released":
				over, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
				defer cancel()
				if err := l.Unlock(over); err == nil {
					t.Error("a majority of frozen nodes has confirmed a release")
				}
				s.each([]int{1, 2}, (*redistest.Server).Thaw)
			}
			// The next writer need not wait for the end of a lease.
			redistest.Eventually(t, 20*time.Second, "all nodes to be free", func() bool {
				for i := range s.servers {
					if len(s.readers(i, "x")) > 0 || !s.clean("x", i) {
						return false
					}
				}
				return true
			})
			unlock(t, lock(t, s.client(patient), "x"))
		})
	}
}

// A node that missed a downgrade still has the writer's lease. The client releases it there as soon as it reaches the
// node.
func TestANodeThatMissedADowngradeIsFreed(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	net := s.network()
	c := s.ready(s.client(patient, net.via(t, viaRueidis)))
	l := lock(t, c, "x")
	redistest.Eventually(t, 20*time.Second, "the lease on all nodes", func() bool {
		r, ok := s.record(2, "x")
		return ok && r.Owner == l.Owner()
	})
	net[2].Cut(true)
	if err := l.Downgrade(t.Context()); err != nil {
		t.Fatal(err)
	}
	unlock(t, l)
	if s.clean("x", 2) {
		t.Fatal("the node is not cut off")
	}
	net[2].Cut(false)
	redistest.Eventually(t, 20*time.Second, "all nodes to be free", func() bool { return s.clean("x", all(3)...) })
}
