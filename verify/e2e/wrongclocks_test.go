package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/verdict"
)

// crowd is a set of clients that take one lock in turn. It checks that only one client at a time has the lock.
type crowd struct {
	t       *testing.T
	stop    context.CancelFunc
	wait    sync.WaitGroup
	inside  atomic.Int32
	entries atomic.Int64
	mu      sync.Mutex
	last    int64
}

// newCrowd starts n clients of s that lock name and stay for a moment. They check that each client is alone while it
// may rely on the lock, and that tokens rise.
func newCrowd(s *set, t *testing.T, name string, n int) *crowd {
	w := &crowd{t: t}
	ctx, stop := context.WithCancel(t.Context())
	w.stop = stop
	for range n {
		c := s.client()
		w.wait.Go(func() {
			for ctx.Err() == nil {
				l, err := c.Mutex(name).Lock(ctx)
				if err == nil {
					w.enter(l)
				}
			}
		})
	}
	t.Cleanup(w.end)
	return w
}

func (w *crowd) enter(l *holdfast.Lease) {
	if n := w.inside.Add(1); n != 1 {
		w.t.Errorf("%d holders at a time", n)
	}
	w.mu.Lock()
	if l.Fence() <= w.last {
		w.t.Errorf("token %d after %d", l.Fence(), w.last)
	}
	w.last = l.Fence()
	w.mu.Unlock()
	w.entries.Add(1)
	select {
	case <-time.After(3 * time.Millisecond):
	case <-l.Context().Done():
	}
	w.inside.Add(-1)
	l.Unlock(context.Background())
}

// progress waits for n more entries of the crowd.
func (w *crowd) progress(n int64, within time.Duration, what string) {
	w.t.Helper()
	from := w.entries.Load()
	redistest.Eventually(w.t, within, fmt.Sprintf("%d entries %s", n, what), func() bool { return w.entries.Load() >= from+n })
}

func (w *crowd) end() {
	w.stop()
	w.wait.Wait()
}

func TestOneNodeWithAWrongClockCostsItsVoteOnly(t *testing.T) {
	t.Parallel()
	for _, step := range []time.Duration{time.Hour, -time.Hour, 3 * time.Hour, -3 * time.Hour} {
		t.Run(step.String(), func(t *testing.T) {
			t.Parallel()
			s := newSet(t, 5, redistest.WithClock())
			observer := s.ready(s.client())
			crowd := newCrowd(s, t, "x", 4)
			crowd.progress(20, 20*time.Second, "with right clocks")

			s.servers[2].Step(step)
			crowd.progress(20, 20*time.Second, "with one clock wrong")
			n := admin.Nodes(t.Context(), observer)[2]
			if n.Votes() || !strings.Contains(n.Said(), fmt.Sprintf("clock off by %+.1fs", step.Seconds())) && (n.Offset-step).Abs() > time.Second {
				t.Errorf("node 2 with its clock off by %s: %+v; want its offset named", step, n)
			}
			s.servers[2].ResetClock()
			crowd.progress(20, 20*time.Second, "with the clock right again")

			for range 5 { // the clock goes there and back
				s.servers[3].Step(step)
				crowd.progress(3, 20*time.Second, "during a blip")
				s.servers[3].ResetClock()
				crowd.progress(3, 20*time.Second, "after a blip")
			}
			crowd.end()
			// Every node votes again after its quarantine, no matter how long it was away.
			s.ready(observer)
		})
	}
}

// By a clock that is half an hour ahead every lease ends at once. (With an hour the node's guard would also expire.)
// One such node must not help two clients to get majorities of five nodes.
func TestAWrongClockIsNoVoteForTwoHolders(t *testing.T) {
	t.Parallel()
	s := newSet(t, 5, redistest.WithClock())
	net := s.network()
	a, b := s.ready(s.client(calm, net.via(t, viaRueidis))), s.ready(s.client(calm))
	s.servers[0].Step(time.Hour / 2)
	for _, i := range []int{3, 4} { // client a reaches the wrong node and two right nodes
		net[i].Cut(true)
	}
	first, err := a.Mutex("x").TryLock(t.Context())
	if err != nil && !errors.Is(err, holdfast.ErrUnavailable) {
		t.Errorf("with two right clocks of five in reach: %v", err)
	}
	for _, i := range []int{1, 2} { // now a cannot renew
		net[i].BlackHole(true)
	}
	if second, err := b.Mutex("x").TryLock(t.Context()); err == nil && first != nil {
		t.Errorf("two holders: %s and %s", first.Owner(), second.Owner())
	}
}

func TestANodeThatBootedWithAWrongClockStartsItsQuarantineWhenItIsRight(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3, redistest.WithClock())
	c := s.ready(s.client(quarantined))
	s.servers[0].Kill()
	s.servers[0].Step(time.Hour)
	s.servers[0].Restart()
	redistest.Eventually(t, 5*time.Second, "the node to be refused for its clock", func() bool {
		n := admin.Nodes(t.Context(), c)[0]
		return n.Reason == verdict.ReasonOffClock && n.Said() == "clock off by +3600.0s"
	})
	lock(t, c, "x").Unlock(t.Context())
	s.servers[0].ResetClock()
	right := time.Now()
	s.ready(c)
	if waited := time.Since(right); waited < 3100*time.Millisecond {
		t.Errorf("the node voted %s after its clock was right; its quarantine of 3.2s must begin then", waited)
	}
}

func TestAMajorityOfWrongClocksMeansUnavailableNeverTwoHolders(t *testing.T) {
	t.Parallel()
	for _, step := range []time.Duration{time.Hour, -time.Hour, 400 * time.Millisecond} {
		t.Run(step.String(), func(t *testing.T) {
			t.Parallel()
			s := newSet(t, 5, redistest.WithClock())
			observer := s.ready(s.client())
			crowd := newCrowd(s, t, "x", 4)
			crowd.progress(20, 20*time.Second, "with right clocks")
			// This client is at work; an idle client may follow the clocks at once.
			lock(t, observer, "y").Unlock(t.Context())
			for _, i := range all(3) {
				s.servers[i].Step(step)
			}
			redistest.Eventually(t, 20*time.Second, "an error that names the clocks", func() bool {
				l, err := observer.Mutex("y").TryLock(t.Context())
				if err == nil {
					l.Unlock(t.Context())
				}
				return err != nil && strings.Contains(err.Error(), "clock")
			})
			// The three wrong clocks agree with each other. After a pause they are the clock of the majority.
			late := newCrowd(s, t, "late", 4)
			late.progress(5, 60*time.Second, "after the move has settled")
			// A name that was locked under clocks an hour ahead has a token of that time. Lower tokens must not follow
			// that token. So the name stays shut until the clocks reach the token, and the error says so.
			shut := func(name string) {
				c := s.client()
				var err error
				defer func() { t.Logf("the last answer for %s: %v", name, err) }()
				redistest.Eventually(t, 10*time.Second, "a name with a token an hour ahead to be refused as such", func() bool {
					_, err = c.Mutex(name).TryLock(t.Context())
					return errors.Is(err, holdfast.ErrUnavailable) && strings.Contains(err.Error(), "token from the future")
				})
			}
			if step == -time.Hour {
				shut("x")
			}
			for _, i := range all(3) {
				s.servers[i].ResetClock()
			}
			later := newCrowd(s, t, "later", 4)
			later.progress(5, 60*time.Second, "after the move back has settled")
			if step == time.Hour {
				shut("late")
			}
		})
	}
}

// With two of five clocks wrong, all other nodes must agree. The client asks each question again with a higher stamp
// before it fails. Competing clients with partial grants must still give way.
func TestContendersAgreeWhileAMinorityIsOffClock(t *testing.T) {
	t.Parallel()
	s := newSet(t, 5, redistest.WithClock())
	s.ready(s.client())
	s.servers[3].Step(time.Hour)
	s.servers[4].Step(-time.Hour)
	for i := range 5 { // each round has a new name, so that the queue is empty at the start
		crowd := newCrowd(s, t, fmt.Sprint("x", i), 6)
		crowd.progress(10, 20*time.Second, "by six contenders")
		crowd.end()
	}
}

// A far node's first answer takes longer than the window, because it includes the time to connect. So it does not show
// the node's clock. The next answer must not be cut off, because a call that is cut off costs its connection.
func TestAFarNodeComesToVote(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1)
	p := redistest.NewProxy(t, s.servers[0].Addr())
	p.DelayRequests(180 * time.Millisecond)
	s.urls = []string{p.URL()}
	c := s.client(func(c *holdfast.Config) {
		c.Window, c.NodeTimeout, c.MaxTTL, c.TTL = 250*time.Millisecond, 500*time.Millisecond, 2*time.Second, 2*time.Second
	})
	redistest.Eventually(t, 15*time.Second, "the far node to vote", func() bool { return admin.Nodes(t.Context(), c)[0].Votes() })
}
