package e2e

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/election"
)

// A lock with a limit goes to the next waiter when the limit is over, although its holder renews it. The holder's
// context ends first, and says why.
func TestALockWithALimitGoesToTheNextWaiter(t *testing.T) {
	t.Parallel()
	const most = 3 * time.Second
	kinds := map[string]func(c *holdfast.Client, opts ...holdfast.Option) (context.Context, func(context.Context) error, error){
		"lock": func(c *holdfast.Client, opts ...holdfast.Option) (context.Context, func(context.Context) error, error) {
			return of(c.Mutex("x", opts...).Lock(t.Context()))
		},
		"reader": func(c *holdfast.Client, opts ...holdfast.Option) (context.Context, func(context.Context) error, error) {
			return of(c.Mutex("x", opts...).RLock(t.Context()))
		},
		"slot": func(c *holdfast.Client, opts ...holdfast.Option) (context.Context, func(context.Context) error, error) {
			return of(c.Semaphore("x", 1, opts...).Acquire(t.Context()))
		},
		"several": func(c *holdfast.Client, opts ...holdfast.Option) (context.Context, func(context.Context) error, error) {
			return of(c.LockAll(t.Context(), []string{"x", "y"}, opts...))
		},
	}
	for name, take := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSet(t, 3)
			holder, waiter := s.ready(s.client()), s.ready(s.client())
			began := time.Now()
			ctx, unlock, err := take(holder, holdfast.WithMaxHold(most))
			if err != nil {
				t.Fatal(err)
			}
			got := make(chan error, 1)
			go func() {
				var err error
				if name == "slot" {
					_, err = waiter.Semaphore("x", 1, holdfast.WaitThroughOutages()).Acquire(t.Context())
				} else {
					_, err = waiter.Mutex("x", holdfast.WaitThroughOutages()).Lock(t.Context())
				}
				if err == nil && ctx.Err() == nil {
					err = errors.New("two holders")
				}
				got <- err
			}()
			<-ctx.Done()
			took := time.Since(began)
			var lost *holdfast.LostError
			cause := context.Cause(ctx)
			if !errors.Is(cause, holdfast.ErrHoldLimit) || !errors.Is(cause, holdfast.ErrLost) || !errors.As(cause, &lost) || lost.MaxHold != most {
				t.Errorf("after %s it ended with %v", took, cause)
			}
			if err := <-got; err != nil {
				t.Error(err)
			}
			if err := unlock(t.Context()); !errors.Is(err, holdfast.ErrHoldLimit) {
				t.Errorf("Unlock: %v", err)
			}
		})
	}
}

// of returns what a test needs of a lease or a set.
func of[H interface {
	Context() context.Context
	Unlock(context.Context) error
}](h H, err error) (context.Context, func(context.Context) error, error) {
	if err != nil {
		return nil, nil, err
	}
	return h.Context(), h.Unlock, nil
}

// A term has a limit, too. The next candidate then leads.
func TestATermWithALimitEnds(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended, led := make(chan error, 1), make(chan struct{}, 1)
	first := election.New(s.ready(s.client()), "x", election.WithLock(holdfast.WithMaxHold(2*time.Second)))
	go func() {
		_ = first.Run(ctx, func(ctx context.Context, _ election.Term) error {
			select {
			case led <- struct{}{}:
			default: // a later term
			}
			<-ctx.Done()
			select {
			case ended <- context.Cause(ctx):
			default:
			}
			return nil
		})
	}()
	<-led
	second := make(chan struct{})
	go func() {
		_ = election.New(s.ready(s.client()), "x").Run(ctx, func(ctx context.Context, _ election.Term) error {
			close(second)
			<-ctx.Done()
			return nil
		})
	}()
	<-second
	if cause := <-ended; !errors.Is(cause, holdfast.ErrHoldLimit) {
		t.Errorf("the first term ended with %v", cause)
	}
}

func TestABadLimitIsRefused(t *testing.T) {
	t.Parallel()
	s := plainSet(t, 1)
	c := s.client()
	_, err := c.Mutex("x", holdfast.WithMaxHold(-time.Second)).Lock(t.Context())
	var bad *holdfast.ConfigError
	if !errors.As(err, &bad) || bad.Field != "MaxHold" || err.Error() != `holdfast: lock "x": MaxHold is -1s; it must be at least 1ms, or 0 for no limit` {
		t.Errorf("%v", err)
	}
}
