package e2e

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// longTTL is a TTL so long that no renewal of the lease comes during a test: only its release can find a loss.
const longTTL = 20 * time.Second

func lateRenewals(c *holdfast.Config) { c.MaxTTL, c.TTL = longTTL, longTTL }

// A release that finds its lease lost announces the loss as a renewal does: one line of the log, one event, and no
// event of a release.
func TestALossThatTheReleaseFindsIsAnnouncedOnce(t *testing.T) {
	t.Parallel()
	type end func(t *testing.T, c *holdfast.Client, lose func()) error
	held := func(take func(ctx context.Context, c *holdfast.Client) (*holdfast.Lease, error), end func(ctx context.Context, l *holdfast.Lease) error) end {
		return func(t *testing.T, c *holdfast.Client, lose func()) error {
			l := must(t)(take(t.Context(), c))
			lose()
			return end(t.Context(), l)
		}
	}
	mutex := func(ctx context.Context, c *holdfast.Client) (*holdfast.Lease, error) { return c.Mutex("x").Lock(ctx) }
	unlock := func(ctx context.Context, l *holdfast.Lease) error { return l.Unlock(ctx) }
	for what, end := range map[string]end{
		"Do": func(t *testing.T, c *holdfast.Client, lose func()) error {
			return c.Mutex("x").Do(t.Context(), func(context.Context) error { lose(); return nil })
		},
		"DoAll": func(t *testing.T, c *holdfast.Client, lose func()) error {
			return c.DoAll(t.Context(), []string{"a", "x"}, func(context.Context) error { lose(); return nil })
		},
		"Unlock": held(mutex, unlock),
		"UnlockAt": held(mutex, func(ctx context.Context, l *holdfast.Lease) error {
			return l.UnlockAt(ctx, time.Now().Add(time.Second))
		}),
		"a reader's Unlock": held(func(ctx context.Context, c *holdfast.Client) (*holdfast.Lease, error) {
			return c.Mutex("x").RLock(ctx)
		}, unlock),
		"a reader's UnlockAt": held(func(ctx context.Context, c *holdfast.Client) (*holdfast.Lease, error) {
			return c.Mutex("x").RLock(ctx)
		}, func(ctx context.Context, l *holdfast.Lease) error {
			return l.UnlockAt(ctx, time.Now().Add(time.Second))
		}),
		"Close": held(mutex, func(_ context.Context, l *holdfast.Lease) error { return errClosed }),
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newSet(t, 3)
			var log written
			c, w := s.watched(lateRenewals, logging(&log))
			operator := s.client(lateRenewals)
			err := end(t, c, func() { takeAway(t, operator, "x", admin.UnlockOptions{}) })
			if err == errClosed {
				err = c.Close()
			}
			if !errors.Is(err, holdfast.ErrLost) {
				t.Errorf("it returned %v", err)
			}
			c.Close() // all events and lines come before its end
			lost := w.of(holdfast.EventLost)
			if len(lost) != 1 || lost[0].Name != "x" || lost[0].Held <= 0 || lost[0].Fence == 0 || !errors.Is(lost[0].Err, holdfast.ErrLost) {
				t.Errorf("%d events of a loss: %+v", len(lost), lost)
			}
			for _, e := range w.of(holdfast.EventReleased) {
				if e.Name == "x" {
					t.Errorf("the lost lease was announced as released: %+v", e)
				}
			}
			if n := strings.Count(log.String(), `msg="lock lost" name=x`); n != 1 {
				t.Errorf("%d lines of the log: %s", n, log.String())
			}
		})
	}
}

var errClosed = errors.New("end it with Close")

// A lease whose release is confirmed, or whose release no node answers, has an event of a release and none of a loss.
func TestAReleasedLeaseIsAnnouncedAsReleasedOnce(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	c, w := s.watched()
	l := lock(t, c, "x")
	if err := l.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if e := w.await(t, holdfast.EventReleased, 1); e.Name != "x" || e.Held <= 0 {
		t.Errorf("%+v", e)
	}
	l = lock(t, c, "y")
	s.each([]int{0, 1, 2}, (*redistest.Server).Kill)
	if err := l.Unlock(t.Context()); !errors.Is(err, holdfast.ErrUnavailable) {
		t.Errorf("the nodes are dead: %v", err)
	}
	w.await(t, holdfast.EventReleased, 2)
	c.Close()
	if n, lost := len(w.of(holdfast.EventReleased)), len(w.of(holdfast.EventLost)); n != 2 || lost != 0 {
		t.Errorf("%d releases and %d losses; want 2 and 0", n, lost)
	}
}

// Close ends before the nodes answer. The leases have their events all the same.
func TestAReleaseByCloseIsAnnouncedAlthoughNoNodeAnswers(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	c, w := s.watched(lateRenewals)
	lock(t, c, "x")
	must(t)(c.Mutex("y").RLock(t.Context()))
	s.each([]int{0, 1, 2}, (*redistest.Server).Freeze)
	defer s.each([]int{0, 1, 2}, (*redistest.Server).Thaw)
	c.Close()
	if n := len(w.of(holdfast.EventReleased)); n != 2 {
		t.Errorf("%d of 2 leases have the event of their end", n)
	}
}

// The error and the event of a loss that a release finds give the same reason as those of a loss that a renewal finds.
func TestTheReasonOfALossIsTheSameAtTheRelease(t *testing.T) {
	t.Parallel()
	type takes = func(t *testing.T, s *set)
	for _, c := range []struct {
		what string
		take takes
		code holdfast.EventCode
		says string
	}{
		{"an operator", func(t *testing.T, s *set) {
			takeAway(t, s.client(lateRenewals), "x", admin.UnlockOptions{})
		}, holdfast.CodeForced, `lock "x" lost: an operator took it away (`},
		{"an operator, and the next holder", func(t *testing.T, s *set) {
			other := s.client(lateRenewals, func(c *holdfast.Config) { c.Label = "next" })
			takeAway(t, other, "x", admin.UnlockOptions{})
			lock(t, other, "x")
		}, holdfast.CodeForced, `lock "x" lost: an operator took it away; it is now held by next (`},
		{"a thief", func(t *testing.T, s *set) {
			for _, srv := range s.servers {
				replaceBoth(t, srv, "x")
			}
		}, holdfast.CodeTaken, `lock "x" lost: taken by a foreign key (`},
		{"another holder", func(t *testing.T, s *set) {
			for _, srv := range s.servers {
				deleteBoth(t, srv, "x")
			}
			lock(t, s.client(lateRenewals, func(c *holdfast.Config) { c.Label = "next" }), "x")
		}, holdfast.CodeTaken, `lock "x" lost: taken by next (`},
		{"a deletion", func(t *testing.T, s *set) {
			for _, srv := range s.servers {
				deleteBoth(t, srv, "x")
			}
		}, holdfast.CodeGone, `lock "x" lost: a majority of the nodes did not have it any more: it was deleted, or they lost their memory (`},
	} {
		for how, end := range map[string]func(*holdfast.Lease) error{
			"a renewal": func(l *holdfast.Lease) error {
				_ = l.Extend(context.Background(), longTTL)
				return context.Cause(l.Context())
			},
			"Unlock":   func(l *holdfast.Lease) error { return l.Unlock(context.Background()) },
			"UnlockAt": func(l *holdfast.Lease) error { return l.UnlockAt(context.Background(), time.Now().Add(time.Second)) },
		} {
			if how == "a renewal" && c.code == holdfast.CodeGone {
				continue // a renewal repairs the lease
			}
			t.Run(c.what+", found by "+how, func(t *testing.T) {
				t.Parallel()
				s := newSet(t, 3)
				client, w := s.watched(lateRenewals)
				l := lock(t, client, "x")
				c.take(t, s)
				err := end(l)
				if !errors.Is(err, holdfast.ErrLost) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%v; want %s", err, c.says)
				}
				if e := w.await(t, holdfast.EventLost, 1); e.Code != c.code {
					t.Errorf("code %s, want %s", e.Code, c.code)
				}
			})
		}
	}
}
