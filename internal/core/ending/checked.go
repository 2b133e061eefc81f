package ending

import "context"

// Ender knows the end of a lease, which may come before the lease's context is cancelled.
type Ender interface {
	// Err returns nil while the lease is held, else the Err of its context. It compares the clock with the deadline. It
	// waits for no mutex, because in a busy process the goroutine that has the mutex may wait for the processor.
	Err() error

	// OnEnd makes the goroutine that ends the lease call f with the cause. If the lease has ended, OnEnd calls f
	// itself. f may only cancel contexts. Unlike [context.AfterFunc] it needs no goroutine, which would have to wait
	// for the processor.
	OnEnd(f func(cause error)) (stop func())
}

// Checked is the context of a lease. Context is cancelled soon after Err of Ender returns an error. So contexts that
// are made from Checked, and Done, are as late as the scheduler of Go, but Err and [context.Cause] are not.
type Checked struct {
	context.Context
	Ender Ender
}

// Err looks at the clock last. A goroutine that waited for the processor before that still gets the right answer.
func (c Checked) Err() error {
	if err := c.Context.Err(); err != nil {
		return err
	}
	return c.Ender.Err()
}

type enderKey struct{}

// Value also serves [context.Cause]: after the end of the lease it waits until Context has its cause.
func (c Checked) Value(key any) any {
	if key == (enderKey{}) {
		return c.Ender
	}
	if c.Err() != nil {
		<-c.Context.Done()
	}
	return c.Context.Value(key)
}

// enderOf returns the Ender of a lease's context, or nil. A context of [context.WithoutCancel] has the values of a
// lease, but not its end.
func enderOf(lease context.Context) Ender {
	if lease.Done() == nil {
		return nil
	}
	e, _ := lease.Value(enderKey{}).(Ender)
	return e
}
