package ending

import "context"

// Work returns the context for work that a caller does under a lock. It is a child of ctx: it has ctx's deadline, and
// it ends with ctx, for the same reason. It also ends when the lease ends, with the cause of that end. It has the
// values of the lease's context, and then those of ctx. The caller must call end.
func Work(ctx, lease context.Context) (w context.Context, end context.CancelCauseFunc) {
	inner, cancel := context.WithCancelCause(Valued{ctx, context.WithoutCancel(lease)})
	stop := context.AfterFunc(lease, func() { cancel(context.Cause(lease)) })
	forget := func() {}
	if e := enderOf(lease); e != nil {
		forget = e.OnEnd(cancel) // comes before the goroutine of AfterFunc, which is for the other ends of a handle
	}
	return work{inner, ctx, lease, cancel}, func(cause error) {
		stop()
		forget()
		cancel(cause)
	}
}

// work is the context that Work returns. The lease or the parent may have ended a moment before this
// context is cancelled. So Err and Value look at both.
type work struct {
	context.Context
	parent context.Context
	lease  context.Context
	cancel context.CancelCauseFunc
}

// Err returns the reason of the end, which may be that of the parent or of the lease. It does not wait for the cause of
// that end.
func (w work) Err() error {
	if err := w.Context.Err(); err != nil {
		return err
	}
	if err := w.parent.Err(); err != nil {
		return err
	}
	err := w.lease.Err()
	if err == nil {
		return nil
	}
	select {
	case <-w.lease.Done():
		w.cancel(context.Cause(w.lease))
		return w.Context.Err()
	default:
		return err
	}
}

// Value also serves [context.Cause]. If the work has ended, it waits until Context has its cause.
func (w work) Value(key any) any {
	switch {
	case key == (enderKey{}): // the parent may belong to another lease
		return enderOf(w.lease)
	case w.Context.Err() != nil:
	case w.parent.Err() != nil:
		w.follow()
	case w.lease.Err() != nil:
		w.cancel(context.Cause(w.lease))
	}
	return w.Context.Value(key)
}

// follow ends Context as the parent has ended.
func (w work) follow() {
	cause := context.Cause(w.parent) // closes Done of a parent that comes from this package
	select {
	case <-w.parent.Done():
		<-w.Context.Done() // package context closes it with the parent's Err
	default:
		w.cancel(cause)
	}
}

// Valued is a context that ends like the embedded Context, and has the values of another context.
type Valued struct {
	context.Context
	// Values comes from context.WithoutCancel. So package context does not find the parent of Values when it looks
	// for the context that cancels this one.
	Values context.Context
}

// Value returns the value of Values, or of the embedded Context if Values has none.
func (v Valued) Value(key any) any {
	if key == (enderKey{}) { // Values may belong to another lease
		return v.Context.Value(key)
	}
	if value := v.Values.Value(key); value != nil {
		return value
	}
	return v.Context.Value(key)
}
