package virtual

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/environment"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// modelled is a node in a bubble of testing/synctest. A round trip to it takes half a millisecond.
type modelled struct{ *nodemodel.Node }

func (n modelled) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	time.Sleep(time.Millisecond / 4)
	defer time.Sleep(time.Millisecond / 4)
	return n.Node.EvalSHA(ctx, calls)
}

func (n modelled) Environment() environment.Sources {
	return environment.Sources{Clock: clock.Monotonic(), Random: rand.Uint64}
}

// contest is the result of a run in which Holdfast's clients always want one name, beside a polling client of another
// library.
type contest struct {
	ours, theirs, gaveUp int
	longest              time.Duration // the longest wait of the other client
	overtaken            int           // calls of Holdfast's clients that were served after a later call
}

// clients describes the clients of a contest. Each client has some goroutines, which take the name, hold it for a
// while, and want it again.
type clients struct {
	n, goroutines int
	hold          time.Duration
	gap           time.Duration
	fair          bool
	poller        bool
	nodes         int
	lasts         time.Duration
}

// contests runs clients on modelled nodes. It also runs a poller with the defaults of redsync: 32 tries, 50 to 250 ms
// apart.
func contests(t *testing.T, c clients) (out contest) {
	t.Helper()
	set := nodeSet(c.nodes, 10*time.Second)
	models := manyNodes(c.nodes, set)
	var nodes []modelled
	for _, m := range models {
		nodes = append(nodes, modelled{m})
	}
	var mu sync.Mutex
	waiting := map[*time.Time]bool{}
	ends := time.Now().Add(c.lasts)
	var all sync.WaitGroup
	for range c.n {
		cl := open(t, set, holdfast.Config{NodeTimeout: time.Second, PollGap: c.gap, Fair: c.fair}, nodes)
		defer cl.Close()
		for i := range c.goroutines {
			all.Go(func() {
				time.Sleep(time.Duration(i) * 3 * time.Millisecond)
				for time.Now().Before(ends) {
					came := time.Now()
					mu.Lock()
					waiting[&came] = true
					mu.Unlock()
					lease, err := cl.Mutex("x").Lock(t.Context())
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					delete(waiting, &came)
					out.ours++
					for o := range waiting {
						if came.Sub(*o) > 5*time.Millisecond && time.Since(ends.Add(-c.lasts)) > time.Second {
							out.overtaken++
						}
					}
					mu.Unlock()
					time.Sleep(c.hold)
					if err := lease.Unlock(t.Context()); err != nil {
						t.Errorf("Unlock: %v", err)
					}
					time.Sleep(time.Millisecond)
				}
			})
		}
	}
	if c.poller {
		all.Go(func() {
			for tries, since := 1, time.Now(); time.Now().Before(ends); tries++ {
				value, got := fmt.Sprint("theirs", tries), 0
				for _, m := range models {
					if m.SetNX("x", value, 8*time.Second) {
						got++
					}
				}
				if got > c.nodes/2 {
					out.theirs++
					out.longest = max(out.longest, time.Since(since))
					time.Sleep(c.hold)
					tries, since = 0, time.Now()
				}
				for _, m := range models {
					m.CompareAndDelete("x", value)
				}
				if out.longest = max(out.longest, time.Since(since)); tries == 32 {
					out.gaveUp++
					tries = 0
				}
				time.Sleep(50*time.Millisecond + rand.N(200*time.Millisecond))
			}
		})
	}
	all.Wait()
	return out
}

// A polling client of another library gets a name in each gap, although Holdfast's clients always want the name.
// Without gaps the polling client rarely gets it.
func TestAPollingClientGetsItsTurnInEachGap(t *testing.T) {
	t.Parallel()
	for _, c := range []clients{
		{n: 1, goroutines: 4, nodes: 1, hold: 5 * time.Millisecond},
		{n: 4, goroutines: 1, nodes: 3, hold: 5 * time.Millisecond},
		{n: 2, goroutines: 1, nodes: 3, hold: 20 * time.Millisecond},
		{n: 3, goroutines: 3, nodes: 3, hold: 300 * time.Millisecond, fair: true},
	} {
		if testing.Short() && c.n == 4 {
			continue // this case has by far the most hand-offs: it takes a minute with the race detector
		}
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := c
				c.lasts, c.poller = time.Minute, true
				without := contests(t, c)
				c.gap = 250 * time.Millisecond
				with := contests(t, c)
				t.Logf("without: %+v; with: %+v", without, with)
				// In 60 s there are 60 s / 2.75 s = 21 gaps.
				if with.theirs < 18 || with.gaveUp > 0 || with.longest > 3500*time.Millisecond {
					t.Errorf("with gaps the poller got %d locks, gave up %d times and waited for up to %s", with.theirs, with.gaveUp, with.longest)
				}
				if without.theirs > 6 || without.gaveUp == 0 {
					t.Errorf("without gaps the poller got %d locks, and gave up %d times: what are gaps for?", without.theirs, without.gaveUp)
				}
			})
		})
	}
}

// Gaps cost Holdfast's clients at most a tenth of the time, and no place in the queue.
func TestGapsCostATenthOfTheTimeAndNoPlaceInLine(t *testing.T) {
	t.Parallel()
	for _, c := range []clients{
		{n: 1, goroutines: 4, nodes: 1, hold: 5 * time.Millisecond},
		{n: 4, goroutines: 1, nodes: 3, hold: 2 * time.Millisecond},
		{n: 4, goroutines: 2, nodes: 3, hold: 5 * time.Millisecond},
		{n: 16, goroutines: 1, nodes: 3, hold: 20 * time.Millisecond},
	} {
		for _, gap := range []time.Duration{10 * time.Millisecond, 250 * time.Millisecond, time.Second} {
			if testing.Short() && (c.n != 16 || gap != 250*time.Millisecond) {
				continue // each case takes ten seconds with the race detector
			}
			t.Run(fmt.Sprintf("%+v, %s", c, gap), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := c
					c.lasts, c.fair = 44*time.Second, true
					without := contests(t, c)
					c.gap = gap
					with := contests(t, c)
					share := float64(with.ours) / float64(without.ours)
					t.Logf("without %d locks, with %d: %.3f", without.ours, with.ours, share)
					if share < 0.85 || share > 0.97 {
						t.Errorf("with gaps ours got %.3f of the locks that they get without", share)
					}
					if with.overtaken > without.overtaken {
						t.Errorf("%d calls were served after a later one; without gaps %d", with.overtaken, without.overtaken)
					}
				})
			})
		}
	}
}

// If there are no waiters there is no gap, and the name is free for any client.
func TestALockThatNobodyWaitsForIsFreeAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		got := contests(t, clients{n: 1, goroutines: 1, nodes: 3, hold: 20 * time.Millisecond, gap: 2 * time.Second, lasts: time.Minute})
		if want := int(time.Minute / (20 + 1 + 2 + 1) / time.Millisecond); got.ours < want {
			t.Errorf("one goroutine by itself got %d locks in a minute; want %d", got.ours, want)
		}
	})
}
