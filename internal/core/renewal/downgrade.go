package renewal

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
)

// reader contains the fields of a lease that a downgrade changes.
type reader struct {
	lock  nodescript.Kind
	owner string
	token int64 // the token of the exclusive lease; after a majority has changed the lease, the token of the shared lease
}

// former is the exclusive lease during a downgrade.
type former struct {
	lock    nodescript.Kind
	owner   string
	highest int64    // the highest stamp sent under owner
	last    *renewal // the last request of the downgrade
	done    *outcome // the outcome of the downgrade
}

func (f *former) releaseCall() nodescript.Call { return f.lock.Release(f.owner, f.highest) }

// Downgrade turns an exclusive lease into a shared lease of another owner, without a gap. l is the kind of the shared
// lock. The holder must stop its exclusive work before the call: a node that has changed the lease lets other readers
// in at once. A downgrade cannot be undone.
//
// Each node changes the lease in one step. The downgrade is complete when a majority has done so for one stamp. Until
// then some nodes have the exclusive lease and others the shared one. Both keep writers out, so the lease stays valid
// until its deadline. The client repeats the request until then, as it does with renewals.
//
// Downgrade only begins this, and AwaitDowngrade waits for it. If the lease has ended, Downgrade returns the cause. It
// does nothing if a downgrade has begun before.
func (e *Lease) Downgrade(l nodescript.Kind, owner string) error {
	_, err := e.downgrade(l, owner)
	return err
}

// AwaitDowngrade returns nil when a majority has changed the lease, or at once if no downgrade has begun. If the lease
// ends first, AwaitDowngrade returns the cause. If ctx ends first, it returns ErrUnknown, and the downgrade continues
// in the background.
func (e *Lease) AwaitDowngrade(ctx context.Context) error {
	e.mu.Lock()
	f := e.former
	e.mu.Unlock()
	if f == nil {
		return nil
	}
	return f.done.get(ctx)
}

func (e *Lease) downgrade(l nodescript.Kind, owner string) (*outcome, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.checkLocked()
	if e.end != nil {
		return nil, e.end
	}
	if e.former != nil {
		return e.former.done, nil
	}
	if e.reader.Load() != nil {
		return nil, nil
	}
	f := &former{lock: e.lock, owner: e.grant.Owner, highest: e.highest, done: newOutcome()}
	e.former = f
	e.rareLocked().watcher = nil // only an exclusive lease has a value
	e.reader.Store(&reader{lock: l, owner: l.Owner(owner), token: e.grant.Token})
	e.watchLocked()
	e.renewLocked(newOutcome(), nil, false)
	return f.done, nil
}

// renewCall returns the next request for the lease: a renewal, or during a downgrade the change into a shared lease.
// The caller holds e.mu.
func (e *Lease) renewCall(stamp int64, ttl time.Duration) nodescript.Call {
	k := e.keeper
	if e.former != nil {
		return e.Kind().Pass(e.Owner(), stamp, ttl, e.former.owner)
	}
	return e.Kind().Extend(e.Owner(), e.Token(), stamp, e.grant.Fan.StampAt(e.deadline), ttl, k.fan.Set().Window)
}

// asRenewal translates the answer to a downgrade request into the answer to a renewal. A downgrade request is an
// acquire. Held means that the node names another owner, and so did not have the lease.
func (r *renewal) asRenewal(a nodescript.Answer) nodescript.Answer {
	switch a.Verdict {
	case nodescript.Granted:
		return nodescript.Answer{Verdict: nodescript.Extended}
	case nodescript.Held:
		return nodescript.Answer{Verdict: nodescript.Lost, Owner: a.Owner, Foreign: a.Foreign}
	case nodescript.Stale:
		r.fan.Raise(a.Seen)
	}
	return a
}

// counts reports whether the outcome of a request changes the lease. It also completes a downgrade that has won. The
// caller holds e.mu.
//
// A renewal of the exclusive lease may get its answers after a downgrade began. If the renewal won, its deadline
// counts. All its other outcomes are ignored: nodes that have changed the lease answer that they do not have the
// exclusive lease, and this is no loss.
//
// The requests of a downgrade each have their own stamp. On a node, each one replaces the one before. So only the last
// request can win.
func (e *Lease) counts(r *renewal, out quorum.Outcome) bool {
	f := e.former
	switch {
	case r.owner != e.Owner():
		return out == quorum.Won
	case !r.downgrades || out != quorum.Won:
		return true
	case f == nil || r.stamp != e.highest:
		return false
	}
	e.former = nil
	e.grant.End()
	e.reader.Store(&reader{lock: e.Kind(), owner: r.owner, token: r.stamp})
	r.mu.Lock()
	yes := r.yes
	r.mu.Unlock()
	e.sendOnly(f.releaseCall(), func(i int) bool { return yes>>i&1 == 0 })
	f.done.set(nil)
	return true
}

// pendingLocked returns the last request of a downgrade if it may still win, otherwise nil. A request of a caller must
// not replace it: on far nodes, requests of several callers would replace each other for ever. The caller holds e.mu.
func (e *Lease) pendingLocked() *renewal {
	if e.former == nil {
		return nil
	}
	r := e.former.last
	if r.settled || e.keeper.fan.Now() >= r.sent.Add(e.againLocked(r.sent)) {
		return nil
	}
	return r
}

// sendBoth sends two requests that give the lease back: one for the exclusive lease and one for the shared lease.
// During a downgrade each node has one of the two. The caller holds e.mu.
func (e *Lease) sendBoth(one, other nodescript.Call, b *giveback) {
	fan := e.grant.Fan
	both := &either{b: b, answered: make([]bool, fan.N()), done: make([]bool, fan.N())}
	fan.Together(func() {
		for _, c := range []nodescript.Call{other, one} {
			fan.Send(&fanout.Message{Call: c, To: both, Persist: e.persist()}, nil)
		}
	})
}
