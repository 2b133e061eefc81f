package election

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/ending"
)

// tenure is a term that this process leads. It lasts from the grant of the lock until the callback has returned and
// the lock is released.
type tenure struct {
	lease    *holdfast.Lease
	outer    *tenure                 // the term whose callback runs this one; nil: none
	cancel   context.CancelCauseFunc // ends the context of the callback
	resigned atomic.Bool             // Resign was called
	over     chan struct{}           // closed when the callback has returned and the lock is released
	err      error                   // of the release; valid after over is closed
}

type tenureKey struct{}

// tenureOf returns the term in whose callback ctx is used, or nil.
func tenureOf(ctx context.Context) *tenure {
	t, _ := ctx.Value(tenureKey{}).(*tenure)
	return t
}

// within reports whether the callback of t runs inside the callback of outer, or is the same one.
func (t *tenure) within(outer *tenure) bool {
	for ; t != nil; t = t.outer {
		if t == outer {
			return true
		}
	}
	return false
}

// lead runs the callback for one term. If again is true, Run tries to lead again, and err is errPause or nil: see
// rest. Otherwise err is the result of Run.
func (e *Election) lead(ctx context.Context, lease *holdfast.Lease, lead func(context.Context, Term) error) (again bool, err error) {
	work, cancel := ending.Work(ctx, lease.Context())
	defer cancel(nil)
	t := &tenure{lease: lease, outer: tenureOf(ctx), cancel: cancel, over: make(chan struct{})}
	e.addTenure(t)
	defer e.endTenure(ctx, t) // deferred, so that a panic in lead also gives the leadership up
	term := Term{Fence: lease.Fence(), election: e, lease: lease, published: &atomic.Bool{}}
	result := lead(context.WithValue(work, tenureKey{}, t), term)
	end := context.Cause(lease.Context())
	unlocked := errors.Is(end, holdfast.ErrReleased) && !e.inside.Closed() // by lead itself
	switch {
	case ctx.Err() != nil:
		err = e.ended(ctx)
		if result != nil && !errors.Is(result, ctx.Err()) && !errors.Is(result, context.Cause(ctx)) {
			err = fmt.Errorf("%w; the work returned: %w", err, result)
		}
		return false, err
	case t.resigned.Load(), unlocked:
		return true, errPause
	case end != nil: // lost, or ended by Close
		return true, nil
	case result != nil:
		return false, result
	}
	return true, errPause
}

func (e *Election) addTenure(t *tenure) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tenures[t] = true
}

// endTenure releases the lock after the callback has returned. It does so even if ctx has ended.
func (e *Election) endTenure(ctx context.Context, t *tenure) {
	bounded, stop := context.WithTimeout(context.WithoutCancel(ctx), 2*e.inside.NodeTimeout)
	defer stop()
	if err := t.lease.Unlock(bounded); notConfirmed(err) {
		t.err = err
		e.inside.Unconfirmed(t.lease)
	}
	e.mu.Lock()
	delete(e.tenures, t)
	e.mu.Unlock()
	close(t.over)
}

// notConfirmed reports whether err means that too few nodes confirmed a release in time.
func notConfirmed(err error) bool {
	return errors.Is(err, holdfast.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded)
}

// Resign ends each term that a Run of this Election value leads. The context of its callback ends with the cause
// [ErrResigned]. When the callback has returned, Run gives the leadership up, pauses, and then tries to lead again:
// see [ResignPause]. Another candidate can lead in the meantime.
//
// Resign waits until the leadership is given up. If a callback calls Resign with its own context, Resign returns nil
// at once, because it would otherwise wait for its own caller. This is also so if the callback is that of another
// election, whose Run the callback of this one has called. The callbacks must then return. A callback can also resign
// without this call: it returns nil.
//
// The error matches [ErrNoLeader] if no Run of this Election value leads. If ctx ends first, the error matches ctx's
// Err and cause, and the resignation goes on. The error matches [holdfast.ErrUnavailable] if too few nodes confirmed
// the release. The leadership then becomes free after its TTL at the latest.
func (e *Election) Resign(ctx context.Context) error {
	if ctx == nil {
		return e.withoutContext("Resign")
	}
	e.mu.Lock()
	var all []*tenure
	for t := range e.tenures {
		if t.lease.Context().Err() == nil {
			all = append(all, t)
		}
	}
	e.mu.Unlock()
	if len(all) == 0 {
		return fmt.Errorf("holdfast: resign from election %q: %w: no Run of this Election does", e.Name(), ErrNoLeader)
	}
	caller := tenureOf(ctx)
	for _, t := range all {
		t.resigned.Store(true)
		t.cancel(ErrResigned)
	}
	for _, t := range all {
		if caller.within(t) {
			continue
		}
		select {
		case <-t.over:
		case <-ctx.Done():
			return fmt.Errorf("holdfast: resign from election %q: %w", e.Name(), ending.Cause(ctx))
		}
		if t.err != nil {
			return t.err
		}
	}
	return nil
}
