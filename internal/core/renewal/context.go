package renewal

import (
	"container/list"
	"context"

	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// In a busy process, a goroutine that can run may wait for the processor for seconds. So the timer of a lease may end
// it long after its deadline. This file makes the lease's contexts look at the clock themselves.

// ended reports whether the lease has ended. It waits for no mutex.
func (e *Lease) ended() bool { return e.until.Passed(e.keeper.fan) }

// moveLocked moves the deadline. It returns false if somebody has found that the old deadline has passed. The caller
// holds e.mu.
func (e *Lease) moveLocked(deadline clock.Instant) bool {
	e.deadline = deadline
	return e.until.Move(e.boundLocked())
}

// held is the end of a lease as its contexts see it.
type held struct{ *Lease }

// Err implements [ending.Ender].
func (e held) Err() error {
	if !e.ended() {
		return nil
	}
	e.learn()
	return context.Canceled
}

// learn announces the end of a lease that has ended by the clock, unless this was done. If another goroutine has e.mu,
// learn starts a goroutine for this. It must not wait for e.mu itself: its caller may have a mutex for which the
// goroutine with e.mu waits.
func (e *Lease) learn() {
	if e.mu.TryLock() {
		e.checkLocked()
		e.mu.Unlock()
	} else if e.learning.CompareAndSwap(false, true) {
		go e.check()
	}
}

// OnEnd implements [ending.Ender].
func (e held) OnEnd(f func(cause error)) (stop func()) {
	e.mu.Lock()
	if why := e.end; why != nil {
		e.mu.Unlock()
		f(why)
		return func() {}
	}
	defer e.mu.Unlock()
	r := e.rareLocked()
	if r.hooks == nil {
		r.hooks = list.New()
	}
	hook := r.hooks.PushBack(f)
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if r.hooks != nil {
			r.hooks.Remove(hook)
		}
	}
}

// cancelLocked cancels the contexts of a lease that has ended. The lease's own context comes first. A hook may cancel a
// context that was made from it, and this waits until the lease's context has its cause: see [ending.Checked]. The
// caller holds e.mu.
func (e *Lease) cancelLocked(why error) {
	if e.ctx != nil {
		e.cancel(why)
	}
	if e.rare == nil || e.rare.hooks == nil {
		return
	}
	for h := e.rare.hooks.Front(); h != nil; h = h.Next() {
		h.Value.(func(error))(why)
	}
	e.rare.hooks = nil
}
