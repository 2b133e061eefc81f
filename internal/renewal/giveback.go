package renewal

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/clock"
	"github.com/holdfast-go/holdfast/internal/fanout"
	"github.com/holdfast-go/holdfast/internal/nodescript"
	"github.com/holdfast-go/holdfast/internal/quorum"
	"github.com/holdfast-go/holdfast/internal/waiting"
)

// ErrNoQuorum is the fact that too few nodes answered; see [NoQuorumError].
var ErrNoQuorum = errors.New("no quorum of nodes")

// ErrUnknown is returned where the caller's context ended before the outcome was known.
var ErrUnknown = errors.New("the context ended before the outcome was known")

// NoQuorumError says what each node answered. It matches ErrNoQuorum.
type NoQuorumError struct{ Answers []nodescript.Answer }

func (e *NoQuorumError) Error() string { return ErrNoQuorum.Error() }

// Unwrap returns ErrNoQuorum.
func (e *NoQuorumError) Unwrap() error { return ErrNoQuorum }

// Pass offers a lease that has ended to a waiter of this process; it reports whether one
// takes it, and with it the duty to release what remains. Else gap is for how long the name is to be left to clients
// of other libraries before it is handed on.
type Pass func(l nodescript.Lock, g waiting.Grant, highest int64, over clock.Instant) (passed bool, gap time.Duration)

// Release ends the lease and gives the name back on every node, in the background
// where a node does not answer now. It returns nil if a majority confirmed, ErrLost
// if the lease was over before, ErrReleased if it was given back before, ErrNoQuorum,
// or ErrUnknown. The lease is over in any case. If pass is not nil and takes it, nothing
// is given back: the name goes to a waiter of this process.
func (e *Lease) Release(ctx context.Context, pass Pass) error {
	e.mu.Lock()
	e.checkLocked()
	if e.end != nil {
		defer e.mu.Unlock()
		return e.end
	}
	b := newGiveback(e)
	e.endLocked(ErrReleased, func() {
		// Whoever is next in this process and is not passed the lease joins the queues before the
		// release hands it on.
		e.keeper.fan.Together(func() {
			passed, gap := false, time.Duration(0)
			if pass != nil {
				passed, gap = pass(e.lock, e.grant, e.highest, e.over)
			}
			switch {
			case passed:
				b.is(nil)
			case gap > 0:
				e.leaveGap(gap, b)
			default:
				e.send(e.releaseCall(), b)
			}
		})
	})
	e.mu.Unlock()
	return b.get(ctx)
}

// Leave ends the lease but keeps the name taken on the nodes for another d. Errors as
// for Release.
func (e *Lease) Leave(ctx context.Context, d time.Duration) error {
	e.mu.Lock()
	e.checkLocked()
	if e.end != nil {
		defer e.mu.Unlock()
		return e.end
	}
	until := e.keeper.fan.Now().Add(d)
	e.over = max(e.over, until)
	b := newGiveback(e)
	// A node that did not have the lease may yet get a late acquire or renewal of it:
	// only a release leaves a tombstone for them.
	// Also where it says so only when it is told again.
	b.lost = func(node int) {
		e.tell(e.releaseCall(), func(i int) bool { return i == node })
	}
	e.endLocked(ErrReleased, func() {
		e.send(nodescript.LeaveCall(e.lock, e.grant.Owner, e.grant.Token, e.keeper.fan.StampAt(until)), b)
	})
	e.mu.Unlock()
	return b.get(ctx)
}

// send gives the lease back on all nodes; it is repeated where it does not get
// through, until the nodes' expiry has passed. e.mu is held.
func (e *Lease) send(c nodescript.Call, b *giveback) {
	b.message = fanout.Message{Call: c, To: b, Persist: e.persist()}
	if b.lost != nil {
		b.message.Again = b.lost
	}
	e.keeper.fan.Send(&b.message, nil)
}

// tell is send where nobody wants to know, and to some nodes; nil means all.
func (e *Lease) tell(c nodescript.Call, where func(int) bool) {
	e.keeper.fan.Send(&fanout.Message{Call: c, Persist: e.persist()}, where)
}

func (e *Lease) persist() clock.Instant { return e.over.Add(e.keeper.fan.Set().Window) }

// giveback counts the answers to a release.
type giveback struct {
	outcome
	lease   *Lease
	message fanout.Message
	lost    lost // Leave: what to do where the lease was not there; may be nil

	mu              sync.Mutex
	n               int                 // nodes
	answers         []nodescript.Answer // those that are not Done; nil: all are so far
	done, not, left int
}

func newGiveback(e *Lease) *giveback {
	n := e.keeper.fan.N()
	return &giveback{lease: e, outcome: outcome{done: make(chan struct{})}, n: n, left: n}
}

// Answered takes a node's answer.
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
	case nodescript.NotMine, nodescript.Lost:
		b.not++
	}
	if b.lost != nil {
		b.lost.Answered(node, 0, a)
	}
	need := quorum.Majority(b.n)
	switch {
	case b.done >= need:
		b.is(nil)
	case b.not >= need:
		b.is(b.lease.lost(&LostError{Gone: true, Answers: slices.Clone(b.answers)}))
	case b.left > 0:
	case b.lost == nil && b.done > 0 && b.done+b.not >= need: // free on a majority, not on all by our hand
		b.is(nil)
	default:
		for i := range b.answers { // all nodes have answered
			if b.answers[i].Verdict == nodescript.Unanswered {
				b.answers[i].Verdict = nodescript.Done
			}
		}
		b.is(&NoQuorumError{b.answers})
	}
}

// lost is called with each node that says that it does not have the lease.
type lost func(node int)

func (l lost) Answered(node, _ int, a nodescript.Answer) {
	if a.Verdict == nodescript.NotMine || a.Verdict == nodescript.Lost {
		l(node)
	}
}

// outcome is a result that one goroutine waits for. A nil *outcome takes results that
// nobody waits for.
type outcome struct {
	once sync.Once
	done chan struct{}
	err  error
}

func newOutcome() *outcome { return &outcome{done: make(chan struct{})} }

// is sets the result; the first one counts.
func (o *outcome) is(err error) {
	if o != nil {
		o.once.Do(func() { o.err = err; close(o.done) })
	}
}

// get returns the result if it is known, whether ctx has ended or not, and else waits for it: ErrUnknown if ctx ends
// first.
func (o *outcome) get(ctx context.Context) error {
	select {
	case <-o.done:
	case <-ctx.Done():
		select {
		case <-o.done: // both are ready: select would draw lots
		default:
			return ErrUnknown
		}
	}
	return o.err
}
