package interop

import (
	"context"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/compat/redisson"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// Go's release wakes a Java waiter of each kind, but RSpinLock, which polls: without a message the waiter sleeps for 30
// s. A release of Java wakes Go where Java sends a message that any other client can hear. RSpinLock sends none, and
// RFairLock only to its own queue: there Go polls.
func TestReleasesWakeWaitersOfEachKind(t *testing.T) {
	for version, lib := range versions {
		t.Run(version, func(t *testing.T) {
			s := redistest.Start(t)
			java := startPeer(t, lib, single, []*redistest.Server{s}, 30*time.Second, "")
			listens := func() bool { return len(s.MustDo(t, "PUBSUB", "CHANNELS").([]any)) > 0 }
			for _, kind := range kinds {
				for _, reads := range []bool{false, true} {
					name := kind + "@orders"
					c := open(t, []*redistest.Server{s}, func(c *redisson.Config) {
						if kind == "fair" || kind == "spin" {
							c.Poll = time.Second
						}
					})
					take := c.Mutex("orders").Lock
					if reads {
						take = c.Mutex("orders").RLock
					}
					ctx, cancel := context.WithTimeout(t.Context(), within)
					l, err := take(ctx)
					if err != nil {
						t.Fatal(err)
					}
					if !(reads && kind == "read") { // readers do not wait for each other
						waits := java.start("a", "lock", name)
						if kind != "spin" {
							redistest.Eventually(t, within, "java waits", listens)
						}
						time.Sleep(300 * time.Millisecond) // java asks once more after it has subscribed, and then sleeps
						began := time.Now()
						unlock(t, l)
						if got := java.await(waits); got != "locked" {
							t.Fatalf("java: %s", got)
						}
						waited := time.Since(began)
						t.Logf("java's %s woken by Go after %v (reader: %v)", kind, waited.Round(time.Millisecond), reads)
						if waited > 10*time.Second {
							t.Errorf("java's %s was not woken: it waited for %v", kind, waited)
						}
						got := make(chan *redisson.Lease, 1)
						go func() {
							l, err := take(ctx)
							if err != nil {
								t.Errorf("Go beside %s: %v", kind, err)
							}
							got <- l
						}()
						redistest.Eventually(t, within, "Go waits", listens)
						time.Sleep(300 * time.Millisecond) // as above
						began = time.Now()
						java.must("unlocked", "a", "unlock", name)
						if l = <-got; l == nil {
							t.FailNow()
						}
						t.Logf("Go woken by java's %s after %v (reader: %v)", kind, time.Since(began).Round(time.Millisecond), reads)
					}
					unlock(t, l)
					cancel()
					if err := c.Close(); err != nil {
						t.Error(err)
					}
					redistest.Eventually(t, within, "nobody listens", func() bool { return !listens() })
				}
			}
			dropLatches(t, s, lib)
			java.quit()
			s.MustDo(t, "DEL", "redisson_lock_token:{orders}") // RFencedLock's number stays
			empty(t, s)
		})
	}
}

// Unlocks and forced unlocks of one side of RReadWriteLock take nothing from a lease of Go that has the other side.
func TestJavasReadWriteLockFreesNoLeaseOfGo(t *testing.T) {
	for version, lib := range versions {
		t.Run(version, func(t *testing.T) {
			s := redistest.Start(t)
			java := startPeer(t, lib, single, []*redistest.Server{s}, 30*time.Second, "")
			c := open(t, []*redistest.Server{s}, nil)

			l := lock(t, c, "orders")
			before := dump(t, s, "orders")
			java.must("false", "a", "force", "read@orders")
			for _, kind := range []string{"read", "write"} {
				if got := java.do("a", "unlock", kind+"@orders"); len(got) < 28 || got[:28] != "IllegalMonitorStateException" {
					t.Errorf("java unlocks our lock as %s: %q", kind, got)
				}
			}
			if after := dump(t, s, "orders"); after != before {
				t.Errorf("the hash was %s, and is %s", before, after)
			}
			unlock(t, l)

			java.must("true", "a", "try", "read@orders")
			l, err := c.Mutex("orders").TryRLock(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			java.must("true", "a", "try", "read@orders") // twice: the count is 2
			java.must("false", "a", "force", "write@orders")
			for range 2 {
				java.must("unlocked", "a", "unlock", "read@orders")
				if err := l.Extend(t.Context(), 30*time.Second); err != nil {
					t.Errorf("after java's unlock: %v", err)
				}
			}
			java.must("false", "a", "try", "write@orders")
			java.must("true", "a", "try", "read@orders")
			unlock(t, l)
			refused(t, c, "orders")
			java.must("unlocked", "a", "unlock", "read@orders")
			java.must("true", "a", "try", "write@orders")
			java.must("true", "a", "try", "read@orders") // a thread of Java may read under its own write lock
			java.must("unlocked", "a", "unlock", "write@orders")
			refused(t, c, "orders")
			java.must("unlocked", "a", "unlock", "read@orders")
			dropLatches(t, s, lib)
			java.quit()
			empty(t, s)
		})
	}
}
