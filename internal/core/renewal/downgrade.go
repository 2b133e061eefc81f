package renewal

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/kind"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
)

// reader has the fields of a lease that a downgrade changes.
type reader struct {
	lock  kind.Kind
	owner string
	token int64 // the token of the exclusive lease, until a majority has the shared one
}

// former is the exclusive lease that becomes a shared one.
type former struct {
	lock    kind.Kind
	owner   string
	highest int64    // the highest stamp sent under owner
	done    *outcome // of the downgrade
}

func (f *former) releaseCall() nodescript.Call { return f.lock.Release(f.owner, f.highest) }

// Downgrade turns an exclusive lease into a shared one of another owner, without a gap. l is the kind of the shared
// lock. The caller no longer relies on the exclusive lease when it calls Downgrade, because a node that has changed the
// lease lets other readers in. So there is no way back.
//
// Each node changes the lease in one step. Until a majority has done so with one stamp, some nodes have the exclusive
// lease and others the shared one. Both keep writers out. So the lease stays valid until its deadline, and the requests
// go on until then, as renewals do.
//
// Downgrade returns nil if a majority has changed the lease, and the cause of the lease's end if that came first. It
// returns ErrUnknown if ctx ended first: the downgrade then goes on.
func (e *Lease) Downgrade(ctx context.Context, l kind.Kind, owner string) error {
	o, err := e.downgrade(l, owner)
	if o == nil {
		return err
	}
	return o.get(ctx)
}

// AwaitDowngrade waits for the end of a downgrade that is under way: see Downgrade. It returns nil if there is none.
func (e *Lease) AwaitDowngrade(ctx context.Context) error {
	e.mu.Lock()
	f := e.former
	e.mu.Unlock()
	if f == nil {
		return nil
	}
	return f.done.get(ctx)
}

func (e *Lease) downgrade(l kind.Kind, owner string) (*outcome, error) {
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
	e.renewLocked(newOutcome(), false) // with an outcome, the scheduler does not count this request
	return f.done, nil
}

// renewCall returns the request that renews the lease, or that turns it into a shared one. The caller holds e.mu.
func (e *Lease) renewCall(stamp int64, ttl time.Duration) nodescript.Call {
	k := e.keeper
	if e.former != nil {
		return e.Kind().Pass(e.Owner(), stamp, ttl, e.former.owner)
	}
	return e.Kind().Extend(e.Owner(), e.Token(), stamp, k.fan.StampAt(e.deadline), ttl, k.fan.Set().Window)
}

// turned returns the answer of an acquire as the answer of a renewal. A node that names another owner did not have the
// lease.
func (r *renewal) turned(a nodescript.Answer) nodescript.Answer {
	switch a.Verdict {
	case nodescript.Granted:
		return nodescript.Answer{Verdict: nodescript.Extended}
	case nodescript.Held:
		return nodescript.Answer{Verdict: nodescript.Lost, Owner: a.Owner, Foreign: a.Foreign}
	case nodescript.Stale:
		r.lease.keeper.fan.Raise(a.Seen)
	}
	return a
}

// counts reports whether the outcome of a request counts. It ends a downgrade that has won. The caller holds e.mu.
//
// A renewal of the exclusive lease may be answered during the downgrade or after it. Its deadline counts. Nodes that
// have changed the lease say that they do not have the exclusive one, which is no loss.
//
// Each request of a downgrade has its own stamp, and replaces the one before. So only the last one can win.
func (e *Lease) counts(r *renewal, out quorum.Outcome) bool {
	f := e.former
	switch {
	case r.owner != e.Owner():
		return out == quorum.Won
	case !r.turns || out != quorum.Won:
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
	e.tell(f.releaseCall(), func(i int) bool { return yes>>i&1 == 0 })
	f.done.is(nil)
	return true
}

// sendBoth sends two requests that give the lease back, while some nodes have the exclusive lease and others the shared
// one. The caller holds e.mu.
func (e *Lease) sendBoth(one, other nodescript.Call, b *giveback) {
	fan := e.keeper.fan
	both := &either{b: b, answered: make([]bool, fan.N()), done: make([]bool, fan.N())}
	for _, c := range []nodescript.Call{other, one} {
		fan.Send(&fanout.Message{Call: c, To: both, Persist: e.persist()}, nil)
	}
}
