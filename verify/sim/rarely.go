package sim

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/verdict"
)

var errPanicked = errors.New("a callback panicked")

// recovers runs f. It reports whether f panicked with the error that the callbacks of these worlds use.
func recovers(f func()) (panicked bool) {
	defer func() {
		switch p := recover(); p {
		case nil:
		case errPanicked:
			panicked = true
		default:
			panic(p)
		}
	}()
	f()
	return false
}

// called returns the client's own form of a name, which lacks the prefix that the client adds to every name.
func (w *world) called(h *host, name int) string {
	full := w.plan.Names[name]
	if h.visitor {
		return full
	}
	return strings.TrimPrefix(full, w.plan.Clients[h.slot].Prefix)
}

// onWait runs the extra work of a waiter's OnWait.
func (w *world) onWait(op Op) {
	if op.Also != nil {
		w.rare(SetWaited)
	}
	switch op.OnWait {
	case SlowOnWait:
		w.rare(SlowOnWait)
		sleep := min(op.Hold, w.plan.MaxTTL) + w.plan.Slow
		w.mu.Lock() // a claim that arrives during the sleep is wasted
		w.freeAll(w.index(op), w.now()+sleep+w.configs()[0].Claim())
		w.mu.Unlock()
		time.Sleep(sleep)
	case BadOnWait:
		w.rare(BadOnWait)
		panic(errPanicked)
	}
}

// do locks the name with [holdfast.Mutex.Do]. It reports whether the work of Do ran.
func (w *world) do(ctx context.Context, m locker, asked *wait, ttl time.Duration) bool {
	var l *held
	op, h, kept := asked.op, asked.h, false
	var err error
	panicked := recovers(func() {
		do := m.Do
		if op.Shared {
			do = m.RDo
		}
		err = do(ctx, func(work context.Context) error {
			if h.gone() {
				return nil
			}
			lease, _ := holdfast.FromContext(work)
			l = w.granted(asked, lease, ttl)
			w.works(l, work)
			if kept = w.keep(l, lease, op); kept {
				w.gives(l, 0)
			}
			if op.Panic {
				panic(errPanicked)
			}
			return nil
		})
	})
	switch {
	case l == nil && h.gone():
		w.vanished(asked)
	case l == nil:
		if panicked {
			err = errPanicked
		}
		w.twins(err)
		w.refused(asked, err)
	case kept && !h.gone():
		w.rare(ByDo)
		if panicked {
			w.rare(Panics)
		}
		w.gave(l, op, err)
		w.mu.Lock()
		w.names[l.name].freeFrom(w.now() + l.ttl + w.plan.Window) // the nodes may not have got the release
		w.mu.Unlock()
	}
	return l != nil
}

// atOnce extends and unlocks a lease from other goroutines while its holder unlocks it. The returned function waits for
// these goroutines and checks that only one release succeeded.
func (w *world) atOnce(l *held, lease holding) (wait func()) {
	d := dice(luck(w.plan.Seed, 'a', 'o', uint64(w.now())))
	w.rare(AllAtOnce)
	const calls = 3
	done := make(chan error, calls)
	for i := range calls {
		after, ttl := 1+d.below(2*w.plan.Slow), l.ttl
		go func() {
			time.Sleep(after)
			ctx, stop := context.WithTimeout(context.Background(), 2*w.plan.Timeout)
			defer stop()
			if i == 0 {
				_ = lease.Extend(ctx, ttl) // any result is right, but the call must leave no trace
				done <- holdfast.ErrReleased
				return
			}
			done <- lease.Unlock(ctx)
		}()
	}
	return func() {
		for range calls {
			if err := <-done; err == nil && !l.h.gone() {
				w.mu.Lock()
				w.violated(secondUnlock, l.name, "client%d/%d gave name%d back, and its second Unlock returned nil", l.h.slot, l.actor, l.name)
				w.mu.Unlock()
			}
		}
	}
}

// look asks for the state of the nodes, or of a lock.
func (w *world) look(h *host, op Op) {
	ctx, stop := context.WithTimeout(context.Background(), 4*w.plan.Timeout)
	defer stop()
	if op.Look == LookAtNodes {
		all := admin.Nodes(ctx, h.client)
		if h.gone() {
			return
		}
		w.rare(LookAtNodes)
		w.mu.Lock()
		defer w.mu.Unlock()
		for i, n := range all {
			most := w.plan.quarantine()
			if n.Cause == verdict.CausePlace {
				most = w.configs()[0].MemberKept()
			}
			if n.VotesIn > most || len(w.plan.Faults) == 0 && !h.closing && !n.Votes() && n.VotesIn == 0 && !n.Reachable() {
				w.violated(nodeSeemsWrong, -1, "client%d sees node%d, with which nothing is wrong, as %q, for %s", h.slot, i, n, n.VotesIn)
			}
		}
		return
	}
	if op.Look == ForceLock {
		w.force(h, op)
		return
	}
	if op.Look == TrustNodes {
		admin.Trust(ctx, h.client)
		w.rare(TrustNodes)
		return
	}
	before, owner := w.believes(op.Name)
	s, err := h.client.Status(ctx, w.called(h, op.Name))
	if h.gone() {
		return
	}
	w.rare(LookAtLock)
	after, same := w.believes(op.Name)
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err != nil && outcome(err) == outcomes:
		w.violated(errorOfNoKind, op.Name, "Status returned an error of no kind: %v", err)
	case len(w.plan.Faults) > 0 || w.plan.foreign() || before == nil || before != after || owner != same || h.closing:
	case err != nil || !s.Held || !slices.ContainsFunc(s.Holders, func(h verdict.Holder) bool {
		return h.Owner == before.lease.Owner() && h.Fence == before.lease.Fence()
	}):
		w.violated(statusIsBlind, op.Name, "Status does not see that client%d/%d has name%d: %+v, %v", before.h.slot, before.actor, op.Name, s, err)
	default:
		w.result.Tally.Rare[HolderSeen]++
	}
}

// believes returns the lease on which a holder of the name now relies, and the owner of the lease. It returns nil if
// there is no such lease, or if a writer now becomes a reader: nodes may have one or the other.
func (w *world) believes(name int) (l *held, owner string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l = w.names[name].believer(); l == nil || l.turns {
		return nil, ""
	}
	return l, l.lease.Owner()
}

func (w *world) rare(k Rare) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.result.Tally.Rare[k]++
}
