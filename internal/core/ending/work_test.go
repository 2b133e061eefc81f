package ending

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

var errLease = errors.New("the lease ended")

type key string

// The work of a lock is a child of the caller's context: it has the deadline, the error and the cause of that context.
func TestWorkEndsAsTheContextOfItsCaller(t *testing.T) {
	closed := errors.New("the shop is closed")
	for name, c := range map[string]struct {
		caller     func(context.Context) (context.Context, context.CancelFunc)
		err, cause error
	}{
		"a deadline": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		}, context.DeadlineExceeded, context.DeadlineExceeded},
		"a deadline with a cause": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeoutCause(ctx, time.Second, closed)
		}, context.DeadlineExceeded, closed},
		"a cancellation": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(ctx)
			time.AfterFunc(time.Second, func() { cancel(closed) })
			return ctx, func() { cancel(nil) }
		}, context.Canceled, closed},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := c.caller(t.Context())
			defer stop()
			lease, release := context.WithCancel(context.Background())
			defer release()
			w, end := Work(ctx, lease)
			defer end(nil)
			child, drop := context.WithCancel(w)
			defer drop()
			at, is := ctx.Deadline()
			if d, has := w.Deadline(); has != is || !d.Equal(at) {
				t.Errorf("%s: the work's deadline is %s, %v", name, d, has)
			}
			<-child.Done()
			for _, ctx := range []context.Context{w, child} {
				if ctx.Err() != c.err || context.Cause(ctx) != c.cause {
					t.Errorf("%s: the work ended with %v, because %v", name, ctx.Err(), context.Cause(ctx))
				}
			}
		})
	}
}

// The work ends with the lease, and nobody who asks sees it go on. It has the values of the lease's context.
func TestWorkEndsWithItsLease(t *testing.T) {
	ctx := context.WithValue(context.WithValue(t.Context(), key("a"), "caller"), key("b"), "caller")
	for range 1000 {
		inner, lose := context.WithCancelCause(context.WithValue(context.Background(), key("a"), "lease"))
		w, end := Work(ctx, inner)
		child, drop := context.WithCancel(w)
		if w.Err() != nil || w.Value(key("a")) != "lease" || w.Value(key("b")) != "caller" {
			t.Fatalf("before: %v, %v, %v", w.Err(), w.Value(key("a")), w.Value(key("b")))
		}
		lose(errLease)
		if w.Err() != context.Canceled || context.Cause(w) != errLease || child.Err() != context.Canceled || context.Cause(child) != errLease {
			t.Fatalf("after the loss the work ended with %v, because %v", w.Err(), context.Cause(w))
		}
		<-w.Done()
		drop()
		end(nil)
	}
}

// clocked is the end of a lease that only the clock knows at first. A goroutine cancels its context after that.
type clocked struct {
	past   bool
	cancel context.CancelCauseFunc
}

func (c *clocked) Err() error {
	if !c.past {
		return nil
	}
	go c.cancel(errLease)
	return context.Canceled
}

func (c *clocked) OnEnd(func(error)) (stop func()) { return func() {} }

// Work inside other work asks all leases around it for their ends, and not only its own.
func TestNestedWorkLooksAtTheClocksOfAllLeases(t *testing.T) {
	for i, name := range []string{"the outer lease", "the lease in the middle", "the inner lease"} {
		synctest.Test(t, func(t *testing.T) {
			work, ends := t.Context(), make([]*clocked, 3)
			for n := range ends {
				inner, cancel := context.WithCancelCause(context.WithoutCancel(work))
				ends[n] = &clocked{cancel: cancel}
				w, end := Work(work, Checked{inner, ends[n]})
				defer end(nil)
				work = context.WithValue(w, key("level"), n)
			}
			if work.Err() != nil || context.Cause(work) != nil {
				t.Errorf("before the end: %v, %v", work.Err(), context.Cause(work))
			}
			ends[i].past = true
			if err := work.Err(); err != context.Canceled {
				t.Fatalf("%s has ended, and Err is %v", name, err)
			}
			if cause := context.Cause(work); cause != errLease {
				t.Fatalf("%s has ended, and the cause is %v", name, cause)
			}
			<-work.Done()
		})
	}
}

// hooked is a lease that has not ended. It has the functions of OnEnd.
type hooked struct{ hooks []func(error) }

func (*hooked) Err() error { return nil }

func (h *hooked) OnEnd(f func(error)) (stop func()) {
	h.hooks = append(h.hooks, f)
	return func() {}
}

// Work may take the context of other work as its lease. It then ends with the lease of that work, and not with another
// lease whose values it only has.
func TestWorkUnderWorkEndsWithTheLeaseOfThatWork(t *testing.T) {
	other, own := &hooked{}, &hooked{}
	detached := context.WithoutCancel(Checked{t.Context(), other})
	_, endNothing := Work(t.Context(), detached)
	defer endNothing(nil)
	run, endRun := Work(detached, Checked{t.Context(), own})
	defer endRun(nil)
	w, end := Work(t.Context(), context.WithValue(run, key("a"), 1))
	defer end(nil)
	if len(other.hooks) != 0 || len(own.hooks) != 2 {
		t.Fatalf("%d functions are called at the end of another lease; want 0; and %d at the end of its own, want 2", len(other.hooks), len(own.hooks))
	}
	own.hooks[1](errLease)
	if w.Err() != context.Canceled || context.Cause(w) != errLease {
		t.Errorf("after the end: %v, %v", w.Err(), context.Cause(w))
	}
}

// A context of another kind ends its children a moment later. Until then the work already has its error and its cause.
func TestWorkAsksAContextOfAnotherKind(t *testing.T) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), 0, errLease)
	defer cancel()
	<-ctx.Done()
	late := &slow{Context: ctx}
	w, end := Work(late, context.Background())
	defer end(nil)
	if w.Err() != nil {
		t.Fatalf("before the end: %v", w.Err())
	}
	late.over.Store(true)
	if w.Err() != context.DeadlineExceeded || context.Cause(w) != errLease {
		t.Errorf("%v, %v", w.Err(), context.Cause(w))
	}
}

// slow is a context that never closes Done.
type slow struct {
	context.Context
	over atomic.Bool
}

func (*slow) Done() <-chan struct{} { return nil }

func (s *slow) Err() error {
	if s.over.Load() {
		return s.Context.Err()
	}
	return nil
}

func (s *slow) Value(key any) any {
	if s.over.Load() {
		return s.Context.Value(key)
	}
	return nil
}
