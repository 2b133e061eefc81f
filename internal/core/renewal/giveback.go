package renewal

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/events"
	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
	"github.com/holdfast-go/holdfast/internal/core/waiting"
)

// ErrNoQuorum means that too few nodes answered: see [NoQuorumError].
var ErrNoQuorum = errors.New("no quorum of nodes")

// ErrUnknown means that the caller's context ended before the outcome was known.
var ErrUnknown = errors.New("the context ended before the outcome was known")

// NoQuorumError means that too few nodes answered. It contains the answer of each node, and matches ErrNoQuorum.
type NoQuorumError struct{ Answers []nodescript.Answer }

func (e *NoQuorumError) Error() string { return ErrNoQuorum.Error() }

// Unwrap returns ErrNoQuorum.
func (e *NoQuorumError) Unwrap() error { return ErrNoQuorum }

// Pass offers a lease that has ended to a waiter of this process, and then calls release: see [waiting.Locker.Pass].
// The parameter highest is the highest stamp sent for the lease. The parameter over is the instant at which the lease
// has expired on all nodes.
type Pass func(l nodescript.Kind, g waiting.Won, highest int64, over clock.Instant, release func(passed bool, gap time.Duration))

// Release ends the lease at once, whatever it returns, and gives the name back on every node. A node that does not
// answer gets the request again, in the background. If pass is not nil and a waiter of this process takes the lease,
// Release sends nothing: that waiter releases it.
//
// Release returns nil if a majority confirmed the release. It returns ErrLost if the lease was lost before, and
// ErrReleased if it was released before. It returns a [NoQuorumError] if too few nodes answered. It returns ErrUnknown
// if ctx ended before the outcome was known.
func (e *Lease) Release(ctx context.Context, pass Pass) error {
	b := newGiveback(e)
	if send := func() { e.release(pass, b) }; pass == nil {
		send() // the client is closing, and sends the release even if ctx has ended
	} else {
		b.fan.Carry(ctx, b, send)
	}
	return b.get(ctx)
}

// release ends the lease and sends the release. If the lease has ended before, the cause of that end becomes the
// result of b.
func (e *Lease) release(pass Pass, b *giveback) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.checkLocked()
	if e.end != nil {
		b.set(e.end)
		return
	}
	e.endLocked(b)
	if pass == nil {
		e.releaseLocked(false, 0, b)
	} else {
		pass(e.Kind(), e.grant, e.highest, e.over, func(passed bool, gap time.Duration) { e.releaseLocked(passed, gap, b) })
	}
	e.keeper.remove(e)
}

// releaseLocked sends the release, unless the lease was passed: see [Pass]. The caller holds e.mu.
func (e *Lease) releaseLocked(passed bool, gap time.Duration, b *giveback) {
	switch {
	case passed:
		b.set(nil)
	case gap > 0:
		e.leaveGap(gap, b)
	case e.former != nil:
		e.sendBoth(e.releaseCall(), e.former.releaseCall(), b)
	default:
		e.send(e.releaseCall(), b)
	}
}

// Leave ends the lease, but keeps the name taken on the nodes for d from now. It returns the same errors as Release.
func (e *Lease) Leave(ctx context.Context, d time.Duration) error {
	b := newGiveback(e)
	b.fan.Carry(ctx, b, func() { e.leave(d, b) })
	return b.get(ctx)
}

// KeepUntil makes Close keep the name taken until an instant. A later call replaces that instant. An instant in the
// past, such as the zero Time, keeps nothing.
func (e *Lease) KeepUntil(at time.Time) {
	d := time.Until(at)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.rareLocked().kept = e.keeper.fan.Now().Add(d)
}

// Close ends the lease because the client closes. It does what Release does, or after KeepUntil what Leave does. It
// sends its requests even if ctx has ended.
func (e *Lease) Close(ctx context.Context) error {
	b := newGiveback(e)
	e.mu.Lock()
	d := time.Duration(0)
	if e.rare != nil {
		d = min(e.rare.kept.Sub(e.keeper.fan.Now()), e.keeper.fan.Set().MaxTTL)
	}
	e.mu.Unlock()
	if d > 0 {
		e.leave(d, b)
	} else {
		e.release(nil, b)
	}
	return b.get(ctx)
}

// leave does for Leave what release does for Release.
func (e *Lease) leave(d time.Duration, b *giveback) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.checkLocked()
	if e.end != nil {
		b.set(e.end)
		return
	}
	until := e.keeper.fan.Now().Add(d)
	e.over = max(e.over, until)
	// A node that did not have the lease may still get a late acquire or renewal of it, and would then lock the name
	// for a lease that has ended. A tombstone stops such a request. Leave writes no tombstone on this node, so the
	// node gets a release, which does. The same applies if a node gives this answer only to a repeated leave.
	b.lost = func(node int) {
		e.sendOnly(e.releaseCall(), func(i int) bool { return i == node })
	}
	e.endLocked(b)
	defer e.keeper.remove(e)
	at := e.grant.Fan.StampAt(until)
	if f := e.former; f != nil {
		b.lost = nil
		e.sendBoth(e.Kind().Leave(e.Owner(), e.highest, at), e.lock.Leave(f.owner, e.grant.Token, at), b)
		return
	}
	last := e.Token()
	if nodescript.IsReader(e.Owner()) {
		last = e.highest // other readers do not block a late renewal of this reader, so the tombstone must cover its stamp
	}
	e.send(e.Kind().Leave(e.Owner(), last, at), b)
}

// send sends the request c, which gives the lease back, to all nodes. If the request fails on a node, send repeats it
// there until the lease has expired on all nodes. The caller holds e.mu.
func (e *Lease) send(c nodescript.Call, b *giveback) {
	b.message = fanout.Message{Call: c, To: b, Persist: e.persist()}
	if b.lost != nil {
		b.message.Again = b.lost
	}
	e.grant.Fan.Send(&b.message, nil)
}

// sendOnly sends c and repeats it as send does, but ignores the answers. It sends c to the nodes for which the function
// where returns true, or to all nodes if where is nil.
func (e *Lease) sendOnly(c nodescript.Call, where func(int) bool) {
	e.grant.Fan.Send(&fanout.Message{Call: c, Persist: e.persist()}, where)
}

func (e *Lease) persist() clock.Instant { return e.over.Add(e.keeper.fan.Set().Window) }

// giveback is one release or leave. It counts the nodes' answers.
type giveback struct {
	outcome
	lease   *Lease
	fan     *fanout.Fanout
	message fanout.Message
	lost    lost          // called by Leave's requests for each node that did not have the lease; may be nil
	ends    bool          // the giveback has ended the lease, so it emits the event of that end
	held    time.Duration // how long the lease was held; 0: no listener wants to know
	sent    clock.Instant // when the nodes of the last deadline were asked

	mu              sync.Mutex
	n               int                 // number of nodes
	answers         []nodescript.Answer // by node: the answers other than Done; nil: none came
	yes             uint64              // the set of the nodes that answered Done
	done, not, left int
}

func newGiveback(e *Lease) *giveback {
	fan := e.follow()
	n := fan.N()
	return &giveback{lease: e, fan: fan, outcome: outcome{done: make(chan struct{})}, n: n, left: n}
}

// set sets the result, and emits the event of the lease's end. Only the first call counts.
func (b *giveback) set(err error) {
	b.once.Do(func() {
		switch {
		case !b.ends: // the lease had ended before, and this end has its event
		case errors.Is(err, ErrLost):
			b.lease.emit(events.Lost, err, b.held)
		default:
			b.lease.emit(events.Released, nil, b.held)
		}
		b.err = err
		close(b.outcome.done)
	})
}

// Answered takes a node's answer. It sets the result as soon as the answers decide it.
func (b *giveback) Answered(node, _ int, a nodescript.Answer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left--
	if a.Verdict != nodescript.Done {
		if b.answers == nil {
			b.answers = make([]nodescript.Answer, b.n)
		}
		b.answers[node] = a
	}
	switch a.Verdict {
	case nodescript.Done:
		b.done++
		b.yes |= 1 << node
	case nodescript.NotMine, nodescript.Lost:
		b.not++
	}
	if b.lost != nil {
		b.lost.Answered(node, 0, a)
	}
	need := quorum.Majority(b.n)
	switch {
	case b.done >= need:
		b.set(nil)
	case b.not >= need:
		b.set(b.lease.lost(&LostError{Gone: true, Answers: b.evidence()}))
	case b.left > 0:
	case b.lost == nil && b.done > 0 && b.done+b.not >= need: // the name is free on a majority of nodes: some confirmed the release, and the others did not have the lease
		b.set(nil)
	default:
		b.set(&NoQuorumError{b.all()})
	}
}

// all returns the answers of all nodes so far. The caller holds b.mu.
func (b *giveback) all() []nodescript.Answer {
	all := slices.Clone(b.answers)
	for i := range all {
		if b.yes>>i&1 != 0 {
			all[i].Verdict = nodescript.Done
		}
	}
	return all
}

// evidence returns the answers for the error of a loss, in the form that the answers to renewals have. A node whose
// address has left the server that had the lease could know nothing of it. The caller holds b.mu.
func (b *giveback) evidence() []nodescript.Answer {
	all := b.all()
	for i, a := range all {
		switch {
		case a.Verdict != nodescript.NotMine && a.Verdict != nodescript.Lost:
		case b.fan.Left(i, b.sent):
			all[i] = nodescript.Answer{Verdict: nodescript.Lost, Cause: nodescript.Elsewhere}
		default:
			all[i].Verdict = nodescript.Lost
		}
	}
	return all
}

// lost is called for each node that answers that it did not have the lease.
type lost func(node int)

func (l lost) Answered(node, _ int, a nodescript.Answer) {
	if a.Verdict == nodescript.NotMine || a.Verdict == nodescript.Lost {
		l(node)
	}
}

// outcome is a result for which one goroutine may wait. On a nil *outcome, set does nothing, because no goroutine
// waits.
type outcome struct {
	once sync.Once
	done chan struct{}
	err  error
}

func newOutcome() *outcome { return &outcome{done: make(chan struct{})} }

// set sets the result. Only the first call counts.
func (o *outcome) set(err error) {
	if o != nil {
		o.once.Do(func() { o.err = err; close(o.done) })
	}
}

// get returns the result. If the result is not known, get waits for it, and returns ErrUnknown if ctx ends first. If
// ctx has ended and too few nodes answered, get also returns ErrUnknown: the end of ctx may have cut the request off.
func (o *outcome) get(ctx context.Context) error {
	select {
	case <-o.done:
	case <-ctx.Done():
		select {
		case <-o.done: // if both channels are ready, select chooses one at random
		default:
			return ErrUnknown
		}
	}
	if ctx.Err() != nil && errors.Is(o.err, ErrNoQuorum) {
		return ErrUnknown
	}
	return o.err
}
