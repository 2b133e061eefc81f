package virtual

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// A program serves its health page from Client.Nodes, five times a second, each with a timeout. One of three nodes
// hangs. The goroutines of the looks must not pile up.
//
// The test runs alone: it counts all goroutines of the process.
func TestLooksAtAHungNodeDoNotPileUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := nodeSet(3, 10*time.Second)
		c, ways := clientOf(t, manyNodes(3, set), set)
		defer c.Close()
		admin.Nodes(t.Context(), c)
		ways[2].way.Store(int64(time.Hour))
		before := runtime.NumGoroutine()
		for range 5 * 60 * 10 {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			admin.Nodes(ctx, c)
			cancel()
			time.Sleep(100 * time.Millisecond)
		}
		if n := runtime.NumGoroutine() - before; n > 100 {
			t.Errorf("%d more goroutines after ten minutes", n)
		}
	})
}

// blip makes every call on this way fail for a time, as when connections break.
type blip struct {
	*flip
	broken *atomic.Bool
}

func (b *blip) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	if b.broken.Load() {
		return nodemodel.Failed(calls, errors.New("connection lost"))
	}
	return b.flip.EvalSHA(ctx, calls)
}

// The nodes are healthy and 10 ms away. Their connections break once, for 100 ms, after twenty seconds. The client must
// keep the lease even with 50 looks a second. Earlier it then lost the lease and could not get a lock for a long time.
func TestLooksAndABrokenConnectionCostNoLease(t *testing.T) {
	t.Parallel()
	for _, looks := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			set := nodeSet(3, 10*time.Second)
			var broken atomic.Bool
			pause := 20
			var list []*blip
			steady := clock.Monotonic()
			for i, s := range manyNodes(3, set) {
				list = append(list, &blip{newFlip(steady, i, s, 5*time.Millisecond), &broken})
			}
			c := open(t, set, holdfast.Config{NodeTimeout: 500 * time.Millisecond}, list)
			defer c.Close()
			admin.Nodes(t.Context(), c)
			l := lock(t, c, "x")
			done := make(chan struct{})
			go func() { // this goroutine keeps the client at work
				for i := 0; ; i++ {
					select {
					case <-done:
						return
					case <-time.After(20 * time.Millisecond):
					}
					go func() {
						ctx, cancel := context.WithTimeout(context.Background(), time.Second)
						defer cancel()
						if l, err := c.Mutex(fmt.Sprint("work", i%50)).TryLock(ctx); err == nil {
							l.Unlock(ctx)
						}
					}()
				}
			}()
			began, blipped := time.Now(), false
			for time.Since(began) < time.Minute && l.Context().Err() == nil {
				if looks {
					go func() {
						ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
						defer cancel()
						admin.Nodes(ctx, c)
					}()
				}
				time.Sleep(time.Duration(pause) * time.Millisecond)
				if !blipped && time.Since(began) > 20*time.Second {
					blipped = true
					broken.Store(true)
					time.Sleep(100 * time.Millisecond)
					broken.Store(false)
				}
			}
			if l.Context().Err() != nil {
				t.Errorf("looks: %v: lost after %s: %.600v", looks, time.Since(began), context.Cause(l.Context()))
				again := time.Now()
				for time.Since(again) < 10*time.Minute {
					ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
					got, err := c.Mutex("y").TryLock(ctx)
					cancel()
					if err == nil {
						got.Unlock(context.Background())
						break
					}
				}
				t.Logf("no looks any more; the next lock came after %s", time.Since(again))
			} else {
				t.Logf("looks: %v: held for a minute, %d goroutines", looks, runtime.NumGoroutine())
				l.Unlock(context.Background())
			}
			close(done)
			time.Sleep(2 * time.Second)
		})
	}
}
