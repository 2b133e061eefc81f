package ending

import (
	"context"
	"errors"
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
