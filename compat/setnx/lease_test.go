package setnx_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/compat/internal/kit"
	"github.com/holdfast-go/holdfast/compat/setnx"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
)

type plainNode struct{ node.Node }

// ends waits for the end of a lease.
func ends(t testing.TB, l *setnx.Lease) {
	t.Helper()
	select {
	case <-l.Context().Done():
	case <-time.After(within):
		t.Fatalf("the lease goes on: %v", l)
	}
}

// A lease is renewed for three TTLs, and its value never ends.
func TestALeaseIsRenewed(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s.URL(), longer)
	l := mustLock(t, c, "lock.foo")
	first := l.Deadline()
	redistest.Eventually(t, within, "three TTLs later the lease is held", func() bool {
		if last, err := strconv.ParseInt(value(t, s, "lock.foo"), 10, 64); err != nil || last <= clock(t, s) {
			t.Fatalf("the lock ended at %d (%v): %v", last, err, l)
		}
		return l.Deadline().Sub(first) > 9*time.Second
	})
	mustUnlock(t, l)
}

// A renewal never shortens: neither the value nor the deadline, also after Extend with a shorter TTL.
func TestARenewalNeverShortens(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s.URL(), nil)
	l := mustLock(t, c, "lock.foo")
	if err := l.Extend(t.Context(), 10*time.Minute); err != nil {
		t.Fatal(err)
	}
	long, before := value(t, s, "lock.foo"), l.Deadline()
	if last, _ := strconv.ParseInt(long, 10, 64); last*1000-clock(t, s) < 590_000 {
		t.Errorf("the value is %s after Extend by 10 minutes", long)
	}
	if err := l.Extend(t.Context(), 10*time.Second); err != nil {
		t.Fatal(err)
	}
	if v := value(t, s, "lock.foo"); v != long {
		t.Errorf("the value %s is %s after Extend by 10 seconds", long, v)
	}
	if d := before.Sub(kit.Deadline(l)); d > time.Millisecond {
		t.Errorf("the deadline moved back by %v", d)
	}
	// A loser of the race for the lock writes an earlier time. The holder's next renewal is shorter, too.
	s.MustDo(t, "GETSET", "lock.foo", in(t, s, 5*time.Second))
	if err := l.Extend(t.Context(), 10*time.Second); err != nil {
		t.Fatal(err)
	}
	if v := value(t, s, "lock.foo"); v != long {
		t.Errorf("the value %s is %s after Extend by 10 seconds, behind the loser of a race", long, v)
	}
	mustUnlock(t, l)
}

// A client that lost the race for the ended lock changes the winner's value in its first second. The winner keeps the
// lock, writes its own value again, and its release frees the name.
func TestTheWinnerKeepsTheLockAfterALosersGetset(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s.URL(), nil)
	s.MustDo(t, "SET", "lock.foo", in(t, s, -time.Hour))
	l := mustLock(t, c, "lock.foo")
	losers := in(t, s, 5*time.Second)
	if old := s.MustDo(t, "GETSET", "lock.foo", losers); old != l.Value() {
		t.Fatalf("the loser found %v, want the winner's %s", old, l.Value())
	}
	redistest.Eventually(t, within, "the winner writes its own value again", func() bool { return value(t, s, "lock.foo") == l.Value() })
	if err := l.Context().Err(); err != nil {
		t.Errorf("the lease ended: %v", context.Cause(l.Context()))
	}
	mustUnlock(t, l)

	s.MustDo(t, "SET", "lock.foo", in(t, s, -time.Hour))
	l = mustLock(t, c, "lock.foo")
	s.MustDo(t, "GETSET", "lock.foo", losers)
	mustUnlock(t, l)
	if v := value(t, s, "lock.foo"); v != "" {
		t.Errorf("after the winner's Unlock the loser's value %s blocks the name", v)
	}
}

// A change after the first second means a new holder: the lease is lost, and the new holder's value stays.
func TestALaterChangeIsALoss(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s.URL(), longer)
	l := mustLock(t, c, "lock.foo")
	first := l.Deadline()
	redistest.Eventually(t, within, "the first second is over", func() bool { return l.Deadline().Sub(first) > 2*time.Second })
	next := in(t, s, time.Hour)
	s.MustDo(t, "SET", "lock.foo", next)
	ends(t, l)
	var lost *setnx.LostError
	if err := context.Cause(l.Context()); !errors.Is(err, holdfast.ErrLost) || !errors.As(err, &lost) || !lost.Gone || lost.Value != next {
		t.Errorf("the cause is %v", err)
	}
	if err := l.Unlock(t.Context()); !errors.Is(err, holdfast.ErrLost) {
		t.Errorf("Unlock: %v", err)
	}
	if v := value(t, s, "lock.foo"); v != next {
		t.Errorf("the new holder's value %s is %s now", next, v)
	}
}

// Even in the first second a missing key, an ended time and a foreign value are losses.
func TestALossInTheFirstSecond(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s.URL(), nil)
	for what, change := range map[string][]any{
		"a DEL":             {"DEL", "lock.foo"},
		"an ended time":     {"SET", "lock.foo", "1700000000"},
		"a token":           {"SET", "lock.foo", "b2bf4f0e6bd43b0d"},
		"a key of one kind": {"SADD", "lock.foo", "x"},
	} {
		for _, how := range []string{"Extend", "Unlock"} {
			s.MustDo(t, "DEL", "lock.foo")
			l := mustLock(t, c, "lock.foo")
			s.MustDo(t, "DEL", "lock.foo")
			s.MustDo(t, change...)
			before := s.MustDo(t, "DUMP", "lock.foo")
			err := l.Unlock
			if how == "Extend" {
				err = func(ctx context.Context) error { return l.Extend(ctx, time.Minute) }
			}
			if err := err(t.Context()); !errors.Is(err, holdfast.ErrLost) {
				t.Errorf("%s after %s: %v", how, what, err)
			}
			if s.MustDo(t, "DUMP", "lock.foo") != before {
				t.Errorf("%s after %s changed the key", how, what)
			}
			if l.Context().Err() == nil {
				t.Errorf("%s after %s: the context goes on", how, what)
			}
		}
	}
}

// A server that hangs: the context ends before the value's time, so before anybody else can take the lock.
func TestALossIsAnnouncedBeforeTheTimeEnds(t *testing.T) {
	t.Parallel()
	s, p, c := proxied(t, func(c *setnx.Config) { short(c); c.Skew = 200 * time.Millisecond })
	l := mustLock(t, c, "lock.foo")
	p.BlackHole(true)
	ends(t, l)
	last, err := strconv.ParseInt(value(t, s, "lock.foo"), 10, 64)
	if err != nil || clock(t, s)+100 > last { // Skew is 200 ms
		t.Errorf("the context ended less than half of Skew before the value's time, %d (%v)", last, err)
	}
	var lost *setnx.LostError
	if err := context.Cause(l.Context()); !errors.As(err, &lost) || lost.Gone {
		t.Errorf("the cause is %v", err)
	}
	p.BlackHole(false)
	redistest.Eventually(t, within, "the rest of the lease is removed", func() bool { return value(t, s, "lock.foo") == "" })
}

// A server that is down ends a wait with ErrUnavailable.
func TestAnOutageEndsAWait(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s.URL(), nil)
	s.Kill()
	for _, lock := range []func(context.Context) (*setnx.Lease, error){c.Mutex("x").Lock, c.Mutex("x").TryLock} {
		var un *setnx.UnavailableError
		if _, err := lock(t.Context()); !errors.Is(err, holdfast.ErrUnavailable) || !errors.As(err, &un) {
			t.Errorf("%v", err)
		}
	}
}

// Close releases what is held, and ends waits.
func TestCloseReleasesAndEndsWaits(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s.URL(), nil)
	l := mustLock(t, c, "lock.foo")
	s.MustDo(t, "SET", "other", in(t, s, time.Hour))
	ended := make(chan error)
	go func() {
		_, err := c.Mutex("other").Lock(t.Context())
		ended <- err
	}()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, holdfast.ErrClosed) {
		t.Errorf("the wait ended with %v", err)
	}
	if err := context.Cause(l.Context()); !errors.Is(err, holdfast.ErrClosed) || !errors.Is(err, holdfast.ErrReleased) {
		t.Errorf("the lease ended with %v", err)
	}
	if v := value(t, s, "lock.foo"); v != "" {
		t.Errorf("the value %s is left", v)
	}
}

// Do returns the loss beside the error of its function.
func TestDoReportsALoss(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s.URL(), nil)
	mine := errors.New("mine")
	err := c.Mutex("lock.foo").Do(t.Context(), func(ctx context.Context) error {
		if l, ok := setnx.FromContext(ctx); !ok || l.Name() != "lock.foo" {
			t.Error("the context has no lease")
		}
		s.MustDo(t, "DEL", "lock.foo")
		return mine
	})
	if !errors.Is(err, holdfast.ErrLost) || !errors.Is(err, mine) {
		t.Errorf("Do: %v", err)
	}
	if err := c.Mutex("lock.foo").TryDo(t.Context(), func(context.Context) error { return nil }); err != nil {
		t.Errorf("TryDo: %v", err)
	}
}

// The work of Do may unlock the lease itself. That is no error. A Close during the work is one.
func TestTheWorkOfDoMayUnlock(t *testing.T) {
	t.Parallel()
	c := open(t, redistest.Start(t).URL(), nil)
	own := errors.New("own")
	for _, want := range []error{nil, own} {
		err := c.Mutex("lock.foo").Do(t.Context(), func(ctx context.Context) error {
			l, _ := setnx.FromContext(ctx)
			mustUnlock(t, l)
			return want
		})
		if !errors.Is(err, want) || errors.Is(err, holdfast.ErrReleased) {
			t.Errorf("the work unlocked and returned %v, and Do returned %v", want, err)
		}
	}
	if err := c.Mutex("lock.foo").Do(t.Context(), func(context.Context) error { return c.Close() }); !errors.Is(err, holdfast.ErrClosed) {
		t.Errorf("Close during the work: %v", err)
	}
}
