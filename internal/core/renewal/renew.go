package renewal

import (
	"context"
	"errors"
	"math/bits"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/events"
	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
	"github.com/holdfast-go/holdfast/node"
)

// renewal is one renewal of a lease. It receives its own answers. Each renewal has its own stamp, and the answers to
// one renewal do not count for another.
type renewal struct {
	lease *Lease
	sent  clock.Instant
	stamp int64
	ttl   time.Duration
	owner string
	turns bool     // the request turns an exclusive lease into a shared one: see [Lease.Downgrade]
	wait  *outcome // the caller of Extend waits for this result; nil: no caller waits
	again bool     // this renewal repeats one that came too late

	mu      sync.Mutex
	votes   quorum.Renewal
	told    bool                // the votes have led to an outcome
	answers []nodescript.Answer // answers other than Extended; nil: there are none so far
	yes     uint64              // the set of the nodes that answered Extended
	verdict error               // the result for wait
	decided bool                // verdict is set; wait gets it when no later answer can change it, or when bound fires
	bound   *time.Timer         // the timer that limits the wait for more answers; nil: not set
}

// renew sends a renewal and schedules the next one. It returns false if the lease has ended.
func (e *Lease) renew(wait *outcome) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.checkLocked()
	if e.end != nil {
		wait.is(e.end)
		return false
	}
	e.watchLocked()
	e.renewLocked(wait, false)
	return true
}

// renewLocked does the work of renew for a lease that has not ended. The caller holds e.mu.
func (e *Lease) renewLocked(wait *outcome, again bool) {
	k := e.keeper
	stamp, sent := k.fan.StampHeld()
	r := &renewal{
		lease: e, sent: sent, stamp: stamp, ttl: e.ttl, owner: e.Owner(), turns: e.former != nil, wait: wait, again: again,
		votes: quorum.NewRenewal(k.fan.N()),
	}
	if r.turns {
		r.ttl = max(e.ttl, e.over.Sub(sent)) // an acquire replaces the lease, and must not end before it
	}
	e.tries = append(e.tries, r)
	e.highest = max(e.highest, stamp)
	e.over = max(e.over, sent.Add(r.ttl))
	k.fan.Send(&fanout.Message{Call: e.renewCall(stamp, r.ttl), To: r, SendBy: k.fan.SendBy(sent)}, nil)
	k.arm(e, sent.Add(e.againLocked(sent)))
}

// pace returns the time between the renewals of a lease: a third of its validity. For a long lease a third of the TTL
// would be nearly the same. But with the shortest TTL, 8 W, the validity is half of the TTL. A third of the TTL would
// then leave time for only one try.
func (k *Keeper) pace(ttl time.Duration) time.Duration {
	return quorum.Validity(ttl, k.fan.Set().Window) / 3
}

// againLocked returns the time after which the client sends another renewal if the last one is still undecided. It is
// half of a pace, which leaves time for three renewals before the deadline. A quarter of the time to the deadline is
// the same at first. That quarter is shorter if the deadline is not yet the one that Extend asked for. It is also
// shorter after a suspension that has used a part of the time. The result is at least a window, because answers to the
// last renewal may count for that long. The caller holds e.mu.
//
// During a downgrade the result is at least two windows. The reason: the next request makes the answers to the last one
// void, and a request and its answer may take a window each.
func (e *Lease) againLocked(sent clock.Instant) time.Duration {
	if e.former != nil {
		return max(min(e.keeper.pace(e.ttl)/2, e.deadline.Sub(sent)/4), 2*e.keeper.fan.Set().Window)
	}
	return min(e.keeper.pace(e.ttl)/2, max(e.deadline.Sub(sent)/4, e.keeper.fan.Set().Window))
}

// Answered takes a node's answer.
func (r *renewal) Answered(node, _ int, a nodescript.Answer) {
	if r.turns {
		a = r.turned(a)
	}
	r.mu.Lock()
	if a.Verdict == nodescript.Extended {
		r.yes |= 1 << node
	} else {
		if r.answers == nil {
			r.answers = make([]nodescript.Answer, r.lease.keeper.fan.N())
		}
		r.answers[node] = a
	}
	out := r.votes.Answer(a)
	first := out != quorum.Open && !r.told
	r.told = r.told || first
	r.mu.Unlock()
	if a.Verdict == nodescript.Repaired {
		r.lease.forgottenBy(node)
	}
	if k := r.lease.keeper; a.Verdict == nodescript.Lost && a.Cause != nodescript.Forced && !a.Foreign && a.Owner != "" && !r.turns && k.Refused != nil {
		k.refused(r.lease)
	}
	if first && r.wait == nil {
		defer r.lease.keeper.decided() // with defer, the next renewal is scheduled first
	}
	if out != quorum.Open {
		r.lease.renewed(r, out)
	} else if r.wait != nil {
		r.tell(false)
	}
}

// decide sets the verdict for the caller of Extend. If missing answers may say that the lease is gone, the caller gets
// the verdict later. Otherwise the caller would continue with a lease that is lost a moment after. Answers that come
// later than a window no longer count, because a node refuses an older stamp. The caller of decide holds e.mu.
func (r *renewal) decide(verdict error) {
	if r.wait == nil {
		return
	}
	r.mu.Lock()
	r.verdict, r.decided = verdict, true
	if r.votes.MayBeGone() && r.bound == nil {
		k := r.lease.keeper
		r.bound = time.AfterFunc(k.fan.SendBy(r.sent).Sub(k.fan.Now()), func() { r.tell(true) })
	}
	r.mu.Unlock()
	r.tell(false)
}

// tell gives the verdict to the caller of Extend if the verdict is set and final. late says that the caller has waited
// long enough, so that the verdict need not be final.
func (r *renewal) tell(late bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.decided || r.votes.MayBeGone() && !late {
		return
	}
	if r.bound != nil {
		r.bound.Stop()
	}
	verdict := r.verdict
	if errors.Is(verdict, ErrNoQuorum) {
		verdict = &NoQuorumError{r.into(make([]nodescript.Answer, r.lease.keeper.fan.N()))}
	}
	r.wait.is(verdict)
}

// renewed handles the outcome of a renewal.
func (e *Lease) renewed(r *renewal, out quorum.Outcome) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.checkLocked() // a majority counts only inside the old deadline
	if e.end != nil {
		r.wait.is(e.end)
		return
	}
	if !e.counts(r, out) {
		r.decide(ErrNoQuorum)
		return
	}
	switch out {
	case quorum.Won:
		e.deadline = max(e.deadline, quorum.Deadline(r.sent, r.ttl, e.keeper.fan.Set().Window))
		e.tries = nil
		// The timer of the deadline is not changed: when it fires, it finds the new deadline. The TTL alone does not
		// decide when the next renewal is due. The TTL may have grown since this renewal was sent, and the deadline
		// comes from the TTL of this renewal.
		e.keeper.arm(e, r.sent.Add(min(e.keeper.pace(e.ttl), e.deadline.Sub(r.sent)/3)))
		r.decide(nil)
		e.emit(events.Renewed, nil)
		if w := e.watcherLocked(); w != nil {
			w.Renewed()
		}
	case quorum.Gone:
		e.loseLocked(e.lost(&LostError{Gone: true, Answers: answersTo([]*renewal{r}, e.keeper.fan.N())}))
		r.wait.is(e.end)
	case quorum.Failed:
		if !r.late() {
			r.decide(ErrNoQuorum)
			return
		}
		wait := r.wait
		if wait == nil {
			wait = newOutcome() // with an outcome, the scheduler does not count this renewal
		}
		e.renewLocked(wait, true)
	}
}

// late reports whether the renewal failed only because its stamp was too old when it reached the nodes. In that case
// the renewal waited in the client, because the client first asked the nodes whether they vote. After a rest that takes
// several round trips, and more if a node hangs. The client repeats a renewal only once, so late is false for a
// repeated one.
func (r *renewal) late() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := bits.OnesCount64(r.yes)
	for _, a := range r.answers {
		if a.Verdict == nodescript.OffClock || r.turns && a.Verdict == nodescript.Stale || errors.Is(a.Err, context.DeadlineExceeded) && node.Unsent(a.Err) {
			n++
		}
	}
	return !r.again && n >= quorum.Majority(r.lease.keeper.fan.N())
}

// Extend sets the TTL of this and later renewals, and renews now. It returns nil if a majority agreed. It returns
// ErrLost or ErrReleased if the lease has ended, and ErrUnknown if ctx ended first. It returns a [NoQuorumError] if too
// few nodes answered: the lease is then valid until its deadline.
//
// If a node answers that it did not have the lease, Extend waits for a window at most. The missing answers may still
// make a majority that says the same.
func (e *Lease) Extend(ctx context.Context, ttl time.Duration) error {
	e.SetTTL(ttl)
	return e.Renew(ctx)
}

// Renew is Extend with the present TTL.
func (e *Lease) Renew(ctx context.Context) error {
	o := newOutcome()
	e.renew(o)
	return o.get(ctx)
}

// SetTTL sets the TTL of later renewals. It sends nothing.
func (e *Lease) SetTTL(ttl time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ttl = ttl
}

// answersTo returns the last answers of n nodes to these renewals.
func answersTo(tries []*renewal, n int) []nodescript.Answer {
	answers := make([]nodescript.Answer, n)
	for _, r := range tries {
		r.mu.Lock()
		r.into(answers)
		r.mu.Unlock()
	}
	return answers
}

// into copies the answers that the renewal got into answers, and returns answers. The caller holds r.mu.
func (r *renewal) into(answers []nodescript.Answer) []nodescript.Answer {
	for i := range answers {
		switch {
		case r.yes>>i&1 != 0:
			answers[i] = nodescript.Answer{Verdict: nodescript.Extended}
		case r.answers != nil && r.answers[i].Verdict != nodescript.Unanswered:
			answers[i] = r.answers[i]
		}
	}
	return answers
}
