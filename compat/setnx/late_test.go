package setnx_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/compat/internal/kit"
	"github.com/holdfast-go/holdfast/compat/setnx"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
)

// patient is a TTL that survives lost answers. After the first second its renewals are rare.
func patient(c *setnx.Config) {
	c.TTL, c.Skew, c.Unit, c.NodeTimeout = time.Minute, setnx.NoSkew, setnx.Milliseconds, 200*time.Millisecond
}

// renewed waits for the first renewal, after which a changed value is a loss.
func renewed(t *testing.T, l *setnx.Lease) {
	t.Helper()
	first := l.Value()
	redistest.Eventually(t, within, "a renewal", func() bool { return l.Value() != first })
}

// stays checks for a while that a key keeps its value.
func stays(t *testing.T, s *redistest.Server, key, want string) {
	t.Helper()
	began := time.Now()
	redistest.Eventually(t, within, "some time", func() bool {
		if got := value(t, s, key); got != want {
			t.Fatalf("the value %q of another holder is %q now", want, got)
		}
		return time.Since(began) > 400*time.Millisecond
	})
}

// calls counts the scripts that pass a proxy.
func calls(p *redistest.Proxy) *atomic.Int64 {
	n := new(atomic.Int64)
	p.Treat(func(command []string) redistest.Treatment {
		if strings.HasPrefix(strings.ToUpper(command[0]), "EVAL") {
			n.Add(1)
		}
		return redistest.Treatment{}
	})
	return n
}

// A release was executed, but its answer was lost. The next holder wrote an equal value in the same second. The
// repeated release must leave it.
func TestARepeatedReleaseFreesNoOtherLock(t *testing.T) {
	t.Parallel()
	s, p, c := proxied(t, func(c *setnx.Config) { c.NodeTimeout = 200 * time.Millisecond })
	mustUnlock(t, mustLock(t, c, "other")) // the server knows the scripts
	l := mustLock(t, c, "lock.foo")
	sent := calls(p)
	p.DropReplies(true)
	if err := l.Unlock(t.Context()); !errors.Is(err, holdfast.ErrUnavailable) {
		t.Fatalf("Unlock without an answer: %v", err)
	}
	if v := value(t, s, "lock.foo"); v != "" {
		t.Fatalf("the release was not executed: %s", v)
	}
	if got := s.MustDo(t, "SETNX", "lock.foo", l.Value()); got != int64(1) {
		t.Fatalf("the next holder: %v", got)
	}
	before := sent.Load()
	p.DropReplies(false)
	redistest.Eventually(t, within, "a repeated release", func() bool { return sent.Load() > before })
	stays(t, s, "lock.foo", l.Value())
}

// A release arrives after the time of its lock, when another client has the lock. In the lease's first seconds it
// accepts the value of a client that lost the race, but not then.
func TestALateReleaseFreesNoOtherLock(t *testing.T) {
	t.Parallel()
	s, p, c := proxied(t, short)
	next := open(t, s.URL(), nil)
	mustUnlock(t, mustLock(t, c, "other")) // the server knows the scripts
	l := mustLock(t, c, "lock.foo")
	p.StallExisting()
	if err := l.Unlock(t.Context()); !errors.Is(err, holdfast.ErrUnavailable) {
		t.Fatalf("Unlock without an answer: %v", err)
	}
	second := mustLock(t, next, "lock.foo")
	p.Release()
	stays(t, s, "lock.foo", second.Value())
	mustUnlock(t, second)
}

// The server executes a renewal, but its answer is lost. The next renewal and the release know the value.
func TestARenewalWithoutAnAnswerLosesNothing(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	p := redistest.NewProxy(t, s.Addr())
	for _, unit := range []setnx.Unit{setnx.Milliseconds, setnx.Seconds, setnx.FloatSeconds} {
		c := open(t, p.URL(), func(c *setnx.Config) { patient(c); c.Unit = unit })
		l := mustLock(t, c, "lock.foo")
		renewed(t, l)
		unanswered := func(ttl time.Duration) {
			t.Helper()
			if err := l.Extend(t.Context(), time.Minute); err != nil { // its connection is fresh then
				t.Fatalf("%s: %v", unit, err)
			}
			known := l.Value()
			p.DropReplies(true)
			redistest.Eventually(t, within, "a renewal without an answer", func() bool {
				if err := l.Extend(t.Context(), ttl); !errors.Is(err, holdfast.ErrUnavailable) {
					t.Fatalf("%s: a renewal without an answer: %v", unit, err)
				}
				return value(t, s, "lock.foo") != known
			})
			p.DropReplies(false)
		}
		unanswered(70 * time.Second)
		if err := l.Extend(t.Context(), time.Minute); err != nil {
			t.Errorf("%s: the next renewal: %v", unit, err)
			continue
		}
		unanswered(90 * time.Second)
		if err := l.Unlock(t.Context()); err != nil {
			t.Errorf("%s: Unlock: %v", unit, err)
		}
		if v := value(t, s, "lock.foo"); v != "" {
			t.Errorf("%s: after Unlock the value %s blocks the name", unit, v)
		}
	}
}

// Unlock comes while a renewal is under way. The release knows the value of the renewal.
func TestUnlockDuringARenewal(t *testing.T) {
	t.Parallel()
	s, p, c := proxied(t, func(c *setnx.Config) { patient(c); c.NodeTimeout = 3 * time.Second })
	l := mustLock(t, c, "lock.foo")
	renewed(t, l)
	known := l.Value()
	p.DelayReplies(500 * time.Millisecond)
	extended := make(chan error, 1)
	go func() { extended <- l.Extend(t.Context(), 90*time.Second) }()
	redistest.Eventually(t, within, "the renewal", func() bool { return value(t, s, "lock.foo") != known })
	if err := l.Unlock(t.Context()); err != nil {
		t.Errorf("Unlock: %v", err)
	}
	if v := value(t, s, "lock.foo"); v != "" {
		t.Errorf("after Unlock the value %s blocks the name", v)
	}
	<-extended
}

// A clock of the server that leaps forward makes the deadline no later than the value's time.
func TestARenewalAfterALeapOfTheClock(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.WithClock())
	c := open(t, s.URL(), patient)
	l := mustLock(t, c, "lock.foo")
	renewed(t, l)
	for _, leap := range []time.Duration{2 * time.Second, time.Hour, -2 * time.Hour} {
		s.Step(leap)
		if err := l.Extend(t.Context(), time.Minute); err != nil {
			t.Fatalf("after a leap by %s: %v", leap, err)
		}
		until := time.Until(l.Deadline())
		left := number(t, value(t, s, "lock.foo")) - clock(t, s)
		if until.Milliseconds() > left {
			t.Errorf("after a leap by %s: the deadline is in %s, and the value ends in %d ms", leap, until, left)
		}
	}
	mustUnlock(t, l)
}

// A lock that ends in the far future makes no waiter hurry.
func TestAWaitForALockThatHardlyEnds(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	p := redistest.NewProxy(t, s.Addr())
	for _, v := range []string{"99999999999999", "99999999999", "9300000000000"} {
		s.MustDo(t, "SET", "lock.foo", v)
		c := open(t, p.URL(), nil)
		for {
			sent := calls(p)
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			_, err := c.Mutex("lock.foo").Lock(ctx)
			cancel()
			if errors.Is(err, holdfast.ErrUnavailable) && sent.Load() < 20 {
				continue // on a busy machine the server may not answer in this time
			}
			if n := sent.Load(); !errors.Is(err, holdfast.ErrHeld) || n > 20 {
				t.Errorf("%s: %d questions in half a second: %v", v, n, err)
			}
			break
		}
	}
}

// A user needs no right to load scripts.
func TestAUserWithoutTheRightToLoadScripts(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.User("app", "secret", "~*", "+@all", "-script"))
	c := open(t, "redis://app:secret@"+s.Addr(), nil)
	l, err := c.Mutex("lock.foo").TryLock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	mustUnlock(t, l)
}

// The server gets no release while it cannot be reached. The release is repeated for as long as the value may last: an
// Extend may have made that longer than Config.TTL.
func TestAReleaseIsRepeatedForTheExtendedTTL(t *testing.T) {
	t.Parallel()
	s, p, c := proxied(t, func(c *setnx.Config) { short(c); c.TTL = 300 * time.Millisecond })
	l := mustLock(t, c, "lock.foo")
	if err := l.Extend(t.Context(), time.Hour); err != nil {
		t.Fatal(err)
	}
	p.Cut(true)
	redistest.Eventually(t, within, "a refused connection", func() bool {
		err := l.Extend(t.Context(), time.Hour)
		return err != nil && strings.Contains(err.Error(), "refused")
	})
	if err := l.Unlock(t.Context()); !errors.Is(err, holdfast.ErrUnavailable) {
		t.Errorf("an Unlock during an outage: %v", err)
	}
	time.Sleep(3 * time.Second) // the outage is longer than Config.TTL
	p.Cut(false)
	redistest.Eventually(t, within, "the release", func() bool { return value(t, s, "lock.foo") == "" })
}

// lateRenewal is a node whose first renewal gets no answer. It reaches the server when late is called.
type lateRenewal struct {
	node.Node
	kept atomic.Pointer[[]node.Call]
}

func (n *lateRenewal) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	if len(calls[0].Args) > 5 && calls[0].Args[0] == "race" && n.kept.CompareAndSwap(nil, &calls) {
		return []node.Reply{{Err: context.DeadlineExceeded}}
	}
	return n.Node.EvalSHA(ctx, calls)
}

func (n *lateRenewal) late(ctx context.Context) node.Reply {
	return n.Node.EvalSHA(ctx, *n.kept.Load())[0]
}

// A renewal reaches the server after a later one. It must not put the earlier value back, because the holder would then
// find a value that it has replaced, and would lose the lock.
func TestALateRenewalDoesNotReplaceALaterOne(t *testing.T) {
	t.Parallel()
	for _, unit := range []setnx.Unit{setnx.Seconds, setnx.Milliseconds, setnx.FloatSeconds} {
		t.Run(unit.String(), func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t)
			n := &lateRenewal{Node: kit.Nodes(t, s.URL())[0]}
			c := openNode(t, n, func(c *setnx.Config) { c.TTL, c.Skew, c.Unit = 6*time.Second, setnx.NoSkew, unit })
			l := mustLock(t, c, "lock.foo")
			redistest.Eventually(t, within, "the first renewal", func() bool { return n.kept.Load() != nil })
			first := l.Value()
			redistest.Eventually(t, within, "a later renewal", func() bool { return l.Value() != first })
			later := l.Value()
			if r := n.late(t.Context()); r.Err != nil {
				t.Fatal(r.Err)
			}
			if got := value(t, s, "lock.foo"); got != later {
				t.Errorf("the late renewal put %s in the place of %s", got, later)
			}
			if err := l.Extend(t.Context(), 6*time.Second); err != nil {
				t.Errorf("after the late renewal: %v", err)
			}
			mustUnlock(t, l)
		})
	}
}
