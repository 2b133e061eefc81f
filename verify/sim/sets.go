package sim

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-go/holdfast"
)

// A set is several names that one call locks together. Each name of the set is a lock of its own for the judges. The
// set ends as a whole: a loss of one lease ends the holder's belief in all of them.

// all returns the indices of all names that a call takes.
func (x *wait) all() []int { return append([]int{x.name}, x.op.Also...) }

// set returns all leases of the set to which a lease belongs, or the lease itself.
func (l *held) set() []*held { return append([]*held{l}, l.also...) }

// member is one lease of a set.
type member struct {
	set  *holdfast.LeaseSet
	name string
}

func (m member) Context() context.Context { return m.set.Context() }
func (m member) Deadline() time.Time      { return m.set.Deadline() }
func (m member) Fence() int64             { return m.set.Fence(m.name) }
func (m member) Owner() string            { return m.set.Owner(m.name) }

// lockAll makes one call for several names. It holds the set for a while if the call got it. It reports whether the
// call got it.
func (w *world) lockAll(ctx context.Context, x *wait, ttl time.Duration, opts []holdfast.Option) bool {
	h, op := x.h, x.op
	var names []string
	for _, i := range x.all() {
		names = append(names, w.called(h, i))
	}
	take := h.client.TryLockAll
	if op.Wait {
		take = h.client.LockAll
	}
	var set *holdfast.LeaseSet
	var err error
	if recovers(func() { set, err = take(ctx, names, opts...) }) {
		err = errPanicked
	}
	switch {
	case h.gone():
		w.vanished(x)
		return false
	case op.Wait && errors.Is(err, holdfast.ErrLost): // while the call waited for another name
		w.rare(SetLostEarly)
		w.lostEarly(x)
		return false
	case err != nil:
		w.twins(err)
		w.rare(SetRefused)
		w.refused(x, err)
		return false
	}
	w.rare(SetTaken)
	l := w.grantedAll(x, set, names, ttl)
	w.nestInSet(l, set, op)
	if w.keep(l, set, op) {
		w.giveBack(l, set, op)
		return true
	}
	if !h.gone() { // the other leases of the set are still held
		w.rare(SetLost)
		bounded, stop := context.WithTimeout(context.Background(), 2*w.plan.Timeout)
		defer stop()
		_ = set.Unlock(bounded)
	}
	return true
}

// meets counts calls for a set beside readers of its names, and calls of readers beside a set. The caller holds w.mu.
func (w *world) meets(x *wait, n *name) {
	if !w.plan.Sets {
		return
	}
	switch o := n.believer(); {
	case o == nil:
	case x.op.Also != nil && o.read:
		w.result.Tally.Rare[SetMetReader]++
	case x.op.Shared && o.inSet():
		w.result.Tally.Rare[ReaderMetSet]++
	}
}

// inSet reports whether a lease is one of a set.
func (l *held) inSet() bool { _, is := l.lease.(member); return is }

// lostEarly ends a call that lost a lease while it waited for another name.
func (w *world) lostEarly(x *wait) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.returned(x)
	for _, name := range x.all() {
		w.leaves(x.h, name, w.now()+x.h.longest()+w.plan.Window)
	}
	w.note("lost while it waited", x.h.slot, x.actor, x.name, 0, 0)
	if len(w.plan.Faults) == 0 && w.plan.Broken == (Broken{}) {
		w.violated(lostForNothing, x.name, "client%d/%d lost a name of a set although nothing went wrong", x.h.slot, x.actor)
	}
}

// longest returns the longest TTL that any client asks for.
func (h *host) longest() time.Duration { return longest(h.w.plan) }

// grantedAll begins a holder's belief in the leases of a set.
func (w *world) grantedAll(x *wait, set *holdfast.LeaseSet, names []string, ttl time.Duration) *held {
	w.mu.Lock()
	defer w.mu.Unlock()
	var first *held
	for i, name := range x.all() {
		if n := w.names[name]; n.topBy != nil && n.topBy.read {
			w.result.Tally.Rare[SetAfterReader]++
		}
		l, _ := w.believe(x, name, member{set, names[i]}, ttl)
		if first == nil {
			first = l
		} else {
			first.also = append(first.also, l)
		}
		w.overtaken(w.names[name], x, l.lease.Owner(), -1)
	}
	w.result.Tally.Outcomes[Granted]++
	w.returned(x)
	return first
}

// nestInSet locks the names of a set again as a reader, under the set. Each call returns a handle, and asks no node.
func (w *world) nestInSet(l *held, set *holdfast.LeaseSet, op Op) {
	if !op.Nest {
		return
	}
	began := w.now()
	for _, o := range l.set() {
		inner, err := l.h.client.Mutex(o.lease.(member).name).RLock(set.Context())
		if err == nil {
			if inner.Owner() != o.lease.Owner() || !inner.Shared() {
				w.nestedWrong(o, "%s is no reader's handle under %s", inner, set)
			}
			err = inner.Unlock(context.Background())
		}
		if err != nil && set.Context().Err() == nil && !errors.Is(err, holdfast.ErrClosed) {
			w.nestedWrong(o, "RLock under its set, or its Unlock, returned %v", err)
		}
	}
	if now := w.now(); now != began {
		w.nestedWrong(l, "handles took %s, so a node was asked", now-began)
	}
	w.rare(ReaderInSet)
}

// lostOf returns the lease of a set that was lost first.
func (w *world) lostOf(l *held, cause error) *held {
	for _, o := range l.set() {
		if errors.Is(w.errorOf(o, cause), holdfast.ErrLost) {
			return o
		}
	}
	w.violated(endedWrong, l.name, "the set of client%d/%d ended with %v, which names no lease of it", l.h.slot, l.actor, cause)
	return l
}

// errorOf returns the part of a set's error that is about one lease, nil if there is none.
func (w *world) errorOf(l *held, err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range joined.Unwrap() {
			if why := w.errorOf(l, one); why != nil {
				return why
			}
		}
	}
	name := l.lease.(member).name
	var lost *holdfast.LostError
	var un *holdfast.UnavailableError
	switch {
	case errors.As(err, &lost) && lost.Name == name, errors.As(err, &un) && un.Name == name:
		return err
	}
	return nil
}
