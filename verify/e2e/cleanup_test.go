package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// A failed attempt leaves no trace, even if its commands arrive late.

// slow makes settings under which a leftover lock still exists when the test checks.
func slow(c *holdfast.Config) {
	c.Window, c.MaxTTL, c.NodeTimeout = 500*time.Millisecond, slowTTL, time.Second
}

// impatient is one way to give up an attempt that the network delays.
type impatient struct {
	name string
	ctx  func(parent context.Context, after time.Duration) (context.Context, context.CancelFunc)
	ends error
}

var errOwn = errors.New("own reason")

var impatients = []impatient{{"timed out", context.WithTimeout, context.DeadlineExceeded}, {
	"cancelled", func(parent context.Context, after time.Duration) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancelCause(parent)
		time.AfterFunc(after, func() { cancel(errOwn) })
		return ctx, func() { cancel(nil) }
	}, errOwn,
}}

func TestAnAttemptThatIsGivenUpLeavesNothing(t *testing.T) {
	t.Parallel()
	const delay = 200 * time.Millisecond
	for _, d := range drivers {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			s := newSet(t, 5)
			net := s.network()
			c := s.ready(s.client(net.via(t, d), slow))
			for _, held := range []struct {
				name              string
				requests, replies time.Duration
			}{{"replies", 0, delay}, {"requests", delay, 0}, {"both", delay / 2, delay / 2}} {
				net.all(func(p *redistest.Proxy) { p.DelayRequests(held.requests); p.DelayReplies(held.replies) })
				var wait sync.WaitGroup
				var names []string
				for _, how := range impatients {
					for i := range 20 {
						name := fmt.Sprintf("%s held up, %s, %d", held.name, how.name, i)
						names = append(names, name)
						wait.Go(func() {
							ctx, cancel := how.ctx(t.Context(), rand.N(delay*3/4))
							defer cancel()
							take := (*holdfast.Mutex).Lock
							if i%2 == 1 {
								take = (*holdfast.Mutex).TryLock
							}
							lease, err := take(c.Mutex(name), ctx)
							// On a busy machine the caller may give up only after the grants have come. This is no
							// failure.
							if err == nil {
								lease.Unlock(t.Context())
							} else if !errors.Is(err, how.ends) {
								t.Errorf("%s: %v; want one that matches %v", name, err, how.ends)
							}
						})
					}
				}
				wait.Wait()
				s.forgetAll(names)
			}
		})
	}
}

// forgetAll fails the test unless soon no node has a trace of any of the names.
func (s *set) forgetAll(names []string) {
	s.t.Helper()
	redistest.Eventually(s.t, soon, "nothing of ours left", func() bool {
		for _, name := range names {
			if s.ours(name) != "" {
				return false
			}
		}
		return true
	})
}

func TestAnAttemptThatTheNodesAnswerTooLateLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, d := range drivers {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			s := newSet(t, 5)
			net := s.network()
			c := s.ready(s.client(net.via(t, d), slow, func(c *holdfast.Config) {
				c.MaxTTL, c.NodeTimeout = 20*time.Second, 100*time.Millisecond
			}))
			net.all(func(p *redistest.Proxy) { p.DelayReplies(2 * time.Second) }) // a busy process waits for longer than the node timeout
			_, err := c.Mutex("x").TryLock(t.Context())
			if !errors.Is(err, holdfast.ErrUnavailable) || errors.Is(err, holdfast.ErrHeld) || !strings.Contains(err.Error(), "timed out") {
				t.Errorf("TryLock with late answers: %v; want ErrUnavailable and that they timed out", err)
			}
			net.all(func(p *redistest.Proxy) { p.DelayReplies(300 * time.Millisecond) }) // the answers still come too late
			if s.ours("x") == "" {
				t.Log("the releases were quicker than the look: the nodes had granted all the same")
			}
			redistest.Eventually(t, 5*soon, "nothing of ours left", func() bool { return s.ours("x") == "" })
		})
	}
}

// A release takes effect even if the nodes are unreachable at that time. When the nodes are reachable again, the lock
// does not stay taken for its TTL.
func TestAReleaseThatWasCutOffIsRepeated(t *testing.T) {
	t.Parallel()
	for _, d := range drivers {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			s := newSet(t, 5)
			net := s.network()
			c := s.ready(s.client(net.via(t, d), slow, func(c *holdfast.Config) { c.MaxTTL = 20 * time.Second }))
			lease := lock(t, c, "x")
			net.all(func(p *redistest.Proxy) { p.Cut(true) })
			if err := lease.Unlock(t.Context()); !errors.Is(err, holdfast.ErrUnavailable) {
				t.Errorf("Unlock of a lock whose nodes are cut off: %v; want ErrUnavailable", err)
			}
			net.all(func(p *redistest.Proxy) { p.Cut(false) })
			redistest.Eventually(t, 2*soon, "nothing of ours left", func() bool { return s.ours("x") == "" })
		})
	}
}

// The acquire is held back on one connection, and the release uses another connection.
func TestAnAcquireThatArrivesAfterItsReleaseLocksNothing(t *testing.T) {
	t.Parallel()
	for _, d := range drivers {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			s := newSet(t, 5)
			net := s.network()
			c := s.ready(s.client(net.via(t, d), func(c *holdfast.Config) {
				// A late command matters only while it is inside the window.
				c.Window, c.MaxTTL, c.TTL, c.NodeTimeout = 2*time.Second, 16*time.Second, 16*time.Second, 20*time.Millisecond
			}))
			start := time.Now()
			before := s.calls()
			net.all((*redistest.Proxy).StallExisting)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			defer cancel()
			if _, err := c.Mutex("late").Lock(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("acquired through stalled connections: %v", err)
			}
			// rueidis keeps a silent connection until many calls on it were given up.
			names := []string{"late"}
			redistest.Eventually(t, 30*time.Second, "the release to overtake the acquire on every node", func() bool {
				name := fmt.Sprint("other ", len(names))
				names = append(names, name)
				if lease, err := c.Mutex(name).TryLock(t.Context()); err == nil {
					lease.Unlock(t.Context())
				}
				for i := range s.servers {
					if r, ok := s.record(i, "late"); !ok || r.Owner != "" {
						return false
					}
				}
				return true
			})
			if late := time.Since(start); late > 2*time.Second {
				t.Logf("the acquire is %s late, outside the window: this machine is too busy to show anything", late)
			}
			between := s.calls()
			net.all((*redistest.Proxy).Release)
			redistest.Eventually(t, 10*time.Second, "the late commands to arrive", func() bool {
				for i, n := range s.calls() {
					if n <= between[i] || n <= before[i] {
						return false
					}
				}
				return true
			})
			s.forgetAll(names)
		})
	}
}

// calls returns for each node the number of scripts that it ran by digest.
func (s *set) calls() (n []int) {
	s.t.Helper()
	for _, srv := range s.servers {
		info, _ := srv.MustDo(s.t, "INFO", "commandstats").(string)
		_, rest, _ := strings.Cut(info, "cmdstat_evalsha:calls=")
		calls := 0
		fmt.Sscanf(rest, "%d", &calls)
		n = append(n, calls)
	}
	return n
}

// A caller that gets "held" goes away. A caller that gets no answer checks the nodes.
func TestAnAttemptCutShortDoesNotClaimThatSomebodyHasTheLock(t *testing.T) {
	t.Parallel()
	s := newSet(t, 5)
	net := s.network()
	c := s.ready(s.client(net.via(t, viaRueidis), slow))
	net.all(func(p *redistest.Proxy) { p.DelayReplies(300 * time.Millisecond) })
	for _, try := range []struct {
		name string
		lock func(*holdfast.Mutex, context.Context) (*holdfast.Lease, error)
	}{{"Lock", (*holdfast.Mutex).Lock}, {"TryLock", (*holdfast.Mutex).TryLock}} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		_, err := try.lock(c.Mutex(try.name), ctx)
		cancel()
		if errors.Is(err, holdfast.ErrHeld) || !errors.Is(err, holdfast.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s with answers still to come: %v; want ErrUnavailable and the context's cause", try.name, err)
		}
	}
}

// An attempt that the context interrupts must not hide the result of the previous attempt.
func TestAWaitThatEndsMidAttemptStillSaysWhoHasTheLock(t *testing.T) {
	t.Parallel()
	s := newSet(t, 5)
	net := s.network()
	holder := s.ready(s.client(slow))
	lease := lock(t, holder, "x")
	c := s.ready(s.client(net.via(t, viaRueidis), slow))
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	waits := 0
	_, err := c.Mutex("x", holdfast.OnWait(func(error) {
		if waits++; waits == 1 {
			net.all(func(p *redistest.Proxy) { p.BlackHole(true) })
			time.AfterFunc(200*time.Millisecond, func() { cancel(errOwn) })
		}
	})).Lock(ctx)
	var held *holdfast.HeldError
	if !errors.As(err, &held) || held.Holder().Owner != lease.Owner() || !errors.Is(err, errOwn) {
		t.Errorf("the wait ended with: %v; want the holder and the context's cause", err)
	}
}

// The grants come, but the lease has ended before the client knows the first node's answer.
func TestGrantsThatComeAfterTheValidityMakeNoLease(t *testing.T) {
	t.Parallel()
	s := newSet(t, 5)
	net := s.network()
	c := s.ready(s.client(net.via(t, viaRueidis), func(c *holdfast.Config) { c.NodeTimeout = 2 * time.Second }))
	net.all(func(p *redistest.Proxy) { p.DelayReplies(1300 * time.Millisecond) }) // a TTL of 2 s is valid for 1178 ms
	_, err := c.Mutex("x").TryLock(t.Context())
	if !errors.Is(err, holdfast.ErrUnavailable) || errors.Is(err, holdfast.ErrHeld) || !strings.Contains(fmt.Sprint(err), "too late") {
		t.Errorf("TryLock: %v; want ErrUnavailable and that the grants came too late", err)
	}
	s.forgetAll([]string{"x"})
}
