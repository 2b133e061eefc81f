package sim

import (
	"context"
	"errors"

	"github.com/holdfast-go/holdfast"
)

// nest locks the name again under a lease that was just granted. A lock call with the context of a lease returns a
// handle of that lease and sends no message. nest then releases one of the two and returns the other, on which the
// holder now relies.
func (w *world) nest(l *held, lease *holdfast.Lease, op Op) *holdfast.Lease {
	if !op.Nest {
		return lease
	}
	began := w.now()
	m := w.locker(l.h, op, holdfast.WithTTL(l.ttl))
	outer := lease.Context()
	inner, err := m.Lock(outer)
	if err != nil {
		if outer.Err() == nil && !errors.Is(err, holdfast.ErrClosed) {
			w.nestedWrong(l, "Lock under its lease returned %v", err)
		}
		return lease
	}
	sibling, err := m.TryLock(outer)
	switch {
	case err == nil:
		w.nestedWrong(l, "two handles %s and %s were taken from one context", inner, sibling)
	case !errors.Is(err, holdfast.ErrHeld) && outer.Err() == nil && !errors.Is(err, holdfast.ErrClosed):
		w.nestedWrong(l, "a second TryLock under one context returned %v", err)
	}
	third, err := m.TryLock(inner.Context())
	if err == nil {
		err = third.Unlock(context.Background())
	}
	if err != nil && outer.Err() == nil && !errors.Is(err, holdfast.ErrClosed) {
		w.nestedWrong(l, "a third level returned %v", err)
	}
	if inner.Owner() != lease.Owner() || inner.Fence() != lease.Fence() {
		w.nestedWrong(l, "%s is no handle of %s", inner, lease)
	}
	ends, stays := inner, lease
	if op.Wait { // half of the calls end the lease before the handle
		ends, stays = lease, inner
	}
	if err := ends.Unlock(context.Background()); err != nil && outer.Err() == nil && stays.Context().Err() == nil {
		w.nestedWrong(l, "Unlock of one of two handles returned %v", err)
	}
	if now := w.now(); now != began {
		w.nestedWrong(l, "handles took %s, so a node was asked", now-began)
	}
	w.rare(Nested)
	w.mu.Lock()
	defer w.mu.Unlock()
	l.lease, l.ctx = stays, stays.Context()
	return stays
}

func (w *world) nestedWrong(l *held, format string, args ...any) {
	if l.h.gone() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.violated(handleWrong, l.name, "client%d/%d has name%d: "+format, append([]any{l.h.slot, l.actor, l.name}, args...)...)
}
