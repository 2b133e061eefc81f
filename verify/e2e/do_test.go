package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast"
)

func TestDoHoldsTheLockWhileFnRuns(t *testing.T) {
	t.Parallel()
	sets(t, func(t *testing.T, s *set) {
		c := s.ready(s.client())
		inside, entries, last := 0, 0, int64(0)
		var wait sync.WaitGroup
		for range 8 {
			wait.Go(func() {
				for range 25 {
					err := c.Mutex("counter").Do(t.Context(), func(ctx context.Context) error {
						lease, ok := holdfast.FromContext(ctx)
						// Only the lock guards these values, so the race detector and these checks find any gap.
						inside++
						if inside != 1 || !ok || lease.Fence() <= last {
							t.Errorf("%d inside, token %d after %d", inside, lease.Fence(), last)
						}
						last = lease.Fence()
						entries++
						inside--
						return nil
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wait.Wait()
		if entries != 200 {
			t.Errorf("%d entries; want 200", entries)
		}
	})
}

func TestDoGivesBackWhatFnReturnsAndPanics(t *testing.T) {
	t.Parallel()
	s := plainSet(t, 1)
	c := s.ready(s.client())
	own := errors.New("own")
	if err := c.Mutex("x").Do(t.Context(), func(context.Context) error { return own }); err != own {
		t.Errorf("Do returned %v; want fn's error as it is", err)
	}
	func() {
		defer func() {
			if recover() != "boom" {
				t.Error("Do swallowed a panic")
			}
		}()
		c.Mutex("x").Do(t.Context(), func(context.Context) error { panic("boom") })
	}()
	if !s.clean("x", 0) {
		t.Error("a panic left the lock taken")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	err := c.Mutex("x").Do(ctx, func(ctx context.Context) error {
		cancel(own)
		<-ctx.Done()
		return context.Cause(ctx)
	})
	if !errors.Is(err, own) {
		t.Errorf("fn's context ended with %v; want the cause of Do's", err)
	}
	if !s.clean("x", 0) {
		t.Error("a dead context left the lock taken")
	}
}

// Do must report this, because the last actions of fn may have overlapped with the next holder, as after a loss.
func TestDoTellsThatCloseGaveTheLockBackWhileFnRan(t *testing.T) {
	t.Parallel()
	s := plainSet(t, 1)
	s.ready(s.client())
	own := errors.New("own")
	for _, returned := range []error{nil, own} {
		c := s.client()
		err := c.Mutex("x").Do(t.Context(), func(ctx context.Context) error {
			c.Close()
			<-ctx.Done()
			// This release comes too late: Close has already given the lock back.
			if lease, _ := holdfast.FromContext(ctx); !errors.Is(lease.Unlock(t.Context()), holdfast.ErrReleased) {
				t.Error("Close did not give the lock back")
			}
			return returned
		})
		if !errors.Is(err, holdfast.ErrClosed) || errors.Is(err, holdfast.ErrLost) || returned != nil && !errors.Is(err, returned) {
			t.Errorf("Do returned %v; want ErrClosed and fn's %v", err, returned)
		}
		if strings.Contains(fmt.Sprint(err), "\n") {
			t.Errorf("%q is more than a line", err)
		}
	}
	c := s.client()
	err := c.Mutex("x").Do(t.Context(), func(ctx context.Context) error {
		lease, _ := holdfast.FromContext(ctx)
		err := lease.Unlock(t.Context())
		c.Close()
		return err
	})
	if err != nil {
		t.Errorf("fn gave the lock back itself, before Close: %v", err)
	}
}

func TestDoTellsOfALossAndOfWhatFnReturnedInOneLine(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1)
	err := s.ready(s.client()).Mutex("x").Do(t.Context(), func(ctx context.Context) error {
		s.servers[0].Kill()
		<-ctx.Done()
		return ctx.Err()
	})
	if !errors.Is(err, holdfast.ErrLost) || !errors.Is(err, context.Canceled) || strings.Contains(fmt.Sprint(err), "\n") {
		t.Errorf("Do returned %q; want one line that matches ErrLost and what fn returned", err)
	}
	if !strings.HasPrefix(fmt.Sprint(err), `holdfast: lock "x" lost: `) {
		t.Errorf("Do returned %q; want that the loss comes first: nobody called Unlock", err)
	}
}
