package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// This is the same case on a real server, with the clients' own commands. docs/guide/coexistence.md quotes the log of
// this test.
func TestAPollingClientOfARealServerGetsItsTurnInEachGap(t *testing.T) {
	t.Parallel()
	ownServers(t)
	const gap = 250 * time.Millisecond
	for _, nodes := range []int{1, 3} {
		t.Run(fmt.Sprint(nodes, " nodes"), func(t *testing.T) {
			t.Parallel()
			var with, without int
			t.Run("side by side", func(t *testing.T) {
				t.Run("without gaps", func(t *testing.T) {
					t.Parallel()
					without = pollsBeside(t, newSet(t, nodes), 0)
				})
				t.Run("with gaps", func(t *testing.T) {
					t.Parallel()
					with = pollsBeside(t, newSet(t, nodes), gap)
				})
			})
			// At least two gaps begin and end in this time.
			if with < 2 || with < without {
				t.Errorf("the poller got %d locks with gaps, and %d without", with, without)
			}
		})
	}
}

// pollsBeside returns how often a polling client of another library gets a name that four of Holdfast's clients always
// want, in six seconds. With gaps it polls until it has got the name twice, for up to a minute, because on a busy
// machine each poll takes longer.
func pollsBeside(t *testing.T, s *set, gap time.Duration) (theirs int) {
	const hold = 5 * time.Millisecond
	lasts := time.Duration(inShort(6, 4)) * time.Second
	polls := 0
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute+lasts)
	defer cancel()
	var all sync.WaitGroup
	var ours atomic.Int64
	for range 2 {
		c := s.ready(s.client(calm, func(c *holdfast.Config) { c.PollGap = gap }))
		for range 2 {
			all.Go(func() {
				for ctx.Err() == nil {
					_ = c.Mutex("x").Do(ctx, func(context.Context) error {
						ours.Add(1)
						time.Sleep(hold)
						return nil
					})
				}
			})
		}
	}
	redistest.Eventually(t, soon, "hand-offs", func() bool { return ours.Load() > 20 })
	begun, before := time.Now(), ours.Load()
	for ; ctx.Err() == nil && (time.Since(begun) < lasts || gap > 0 && theirs < 2); polls++ {
		got := 0
		for _, srv := range s.servers {
			if v, err := srv.Do("SET", "x", "theirs", "NX", "PX", 8000); err == nil && v != nil {
				got++
			}
		}
		if got > len(s.servers)/2 {
			theirs++
			time.Sleep(hold)
		}
		for _, srv := range s.servers {
			srv.MustDo(t, "EVAL", compareAndDelete, 1, "x", "theirs")
		}
		time.Sleep(50*time.Millisecond + rand.N(200*time.Millisecond))
	}
	took := time.Since(begun).Seconds()
	t.Logf("%d nodes, gaps of %s: the poller got the lock %d times in %.1f s, with %d tries; ours %.0f times a second",
		len(s.servers), gap, theirs, took, polls, float64(ours.Load()-before)/took)
	cancel()
	all.Wait()
	return theirs
}
