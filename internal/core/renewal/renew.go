package renewal

import (
	"context"
	"errors"
	"math/bits"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/bid"
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/events"
	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
	"github.com/holdfast-go/holdfast/node"
)

// renewal is one renewal of a lease. It receives the answers to its own request. Each renewal has its own stamp, and
// only answers for that stamp count for it.
type renewal struct {
	lease      *Lease
	fan        *fanout.Fanout
	begun      clock.Instant // when the renewal was begun
	sent       clock.Instant // when its stamp was drawn; 0: no node got it yet
	stamp      int64
	ttl        time.Duration
	owner      string
	downgrades bool     // the request changes an exclusive lease into a shared one: see [Lease.Downgrade]
	wait       *outcome // the callers of Extend wait for this result; nil: there can be none
	again      bool     // this renewal repeats one that reached the nodes too late

	settled bool // the lease has taken an outcome of this renewal; the lease's mu guards it

	mu      sync.Mutex
	votes   quorum.Renewal
	told    bool                // Answer has returned an outcome
	in      *lane               // the lane that counts it: the scheduler sent it, and waits for its outcome; nil: none
	answers []nodescript.Answer // by node: the answers other than Extended; nil: none came
	yes     uint64              // the set of the nodes that answered Extended
	excess  []time.Duration     // by node: the excess of its yes; nil: no yes was late
	verdict error               // the result for the caller of Extend
	decided bool                // verdict is set. The caller gets it when no later answer can change it, or when bound fires.
	bound   *time.Timer         // limits the time for which the caller waits for further answers; nil: not set
}

// renew sends a renewal, and schedules the next one in case this one gets no answer. It returns false if the lease has
// ended. in is the lane that counts the renewal, nil if the scheduler does not send it.
func (e *Lease) renew(wait *outcome, in *lane) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.checkLocked()
	if e.end != nil {
		wait.set(e.end)
		return false
	}
	e.watchLocked()
	e.renewLocked(wait, in, false)
	return true
}

// renewLocked does the work of renew for a lease that has not ended. The caller holds e.mu.
func (e *Lease) renewLocked(wait *outcome, in *lane, again bool) {
	k, fan := e.keeper, e.followLocked()
	now := k.fan.Now()
	r := &renewal{
		lease: e, fan: fan, ttl: e.ttl, owner: e.Owner(), downgrades: e.former != nil, wait: wait, in: in,
		again: again, votes: quorum.NewRenewal(fan.N(), fan.Set().Window), begun: now,
	}
	m := &fanout.Message{To: r}
	if r.downgrades {
		if e.former.last = r; wait == nil {
			r.wait = newOutcome()
		}
		m.Call = r.drawLocked()
		m.SendBy = k.fan.SendBy(r.sent) // this call is an acquire, and the nodes refuse an acquire that is late
	} else {
		m.SendBy = e.deadline
		m.Draw = func() (nodescript.Call, bool) {
			c, ok := r.draw()
			if wait == nil { // a caller of Extend wants to know sooner
				m.Until = r.full() // a later answer moves no deadline
			}
			return c, ok
		}
	}
	e.tries = append(e.tries, r)
	fan.Send(m, nil)
	k.arm(e, now.Add(e.againLocked(now)))
}

// errOvertaken is the outcome of a renewal for a caller that was not sent, because a downgrade began before. The caller
// asks again.
var errOvertaken = errors.New("a downgrade began before the renewal was sent")

// draw draws the stamp when the first node gets the renewal, and returns the call. It returns false if the lease has
// ended: its release covers the stamps that were drawn before.
func (r *renewal) draw() (nodescript.Call, bool) {
	r.lease.mu.Lock()
	defer r.lease.mu.Unlock()
	if r.lease.end != nil {
		return nodescript.Call{}, false
	}
	if r.owner != r.lease.Owner() { // a downgrade has begun, and its release does not cover a later stamp of this owner
		r.wait.set(errOvertaken)
		return nodescript.Call{}, false
	}
	return r.drawLocked(), true
}

// drawLocked does the work of draw. The caller holds the lease's mu.
func (r *renewal) drawLocked() nodescript.Call {
	e := r.lease
	stamp, sent := r.fan.StampHeld()
	r.mu.Lock()
	r.stamp, r.sent = stamp, sent
	r.votes.Stamped(stamp)
	r.mu.Unlock()
	e.highest = max(e.highest, stamp)
	e.over = max(e.over, sent.Add(r.ttl))
	return e.renewCall(stamp, r.ttl)
}

// pace returns the time between two renewals of a lease: a third of its validity. For a long TTL, a third of the TTL
// would be nearly the same. But for the shortest TTL, 8 windows, the validity is only half of the TTL. With a third of
// that TTL, a lease would have only one try before its deadline.
func (k *Keeper) pace(ttl time.Duration) time.Duration {
	return quorum.Validity(ttl, k.fan.Set().Window) / 3
}

// soonPace returns the pace without the time that this process lately needed to run a goroutine. It is a third of the
// pace at least, because more renewals would keep the processors even busier.
func (k *Keeper) soonPace(ttl time.Duration) time.Duration {
	p := k.pace(ttl)
	return max(p/3, p-k.fan.Delay())
}

// againLocked returns the time after which the client sends the next renewal if this one stays undecided. It is half
// of a pace, so three renewals fit before the deadline. It is a quarter of the time to the deadline if that is
// shorter. This is the case when the deadline does not yet follow a TTL that Extend raised, and after a suspension of
// the host. The result is at least one window, because answers to this renewal may count for that long. The caller
// holds e.mu.
//
// During a downgrade the result is at least two windows. The next request of a downgrade makes the answers to this one
// void. A request and its answer may take a window each.
func (e *Lease) againLocked(sent clock.Instant) time.Duration {
	if e.former != nil {
		return max(min(e.keeper.pace(e.ttl)/2, e.deadline.Sub(sent)/4), 2*e.keeper.fan.Set().Window)
	}
	return min(e.keeper.pace(e.ttl)/2, max(e.deadline.Sub(sent)/4, e.keeper.fan.Set().Window))
}

// Overdue lets the scheduler send other renewals instead of waiting for this one: see [fanout.Patient].
func (r *renewal) Overdue() {
	r.mu.Lock()
	in := r.in
	r.in = nil
	r.mu.Unlock()
	if in != nil {
		r.lease.keeper.decided(in)
	}
}

// Answered takes a node's answer to this renewal.
func (r *renewal) Answered(node, _ int, a nodescript.Answer) {
	if r.downgrades {
		a = r.asRenewal(a)
	}
	r.mu.Lock()
	if a.Verdict == nodescript.Extended {
		r.yes |= 1 << node
	} else {
		if r.answers == nil {
			r.answers = make([]nodescript.Answer, r.fan.N())
		}
		r.answers[node] = a
	}
	if e := r.votes.ExcessOf(a); e > 0 {
		if r.excess == nil {
			r.excess = make([]time.Duration, r.fan.N())
		}
		r.excess[node] = e
	}
	out := r.votes.Answer(a)
	first := out != quorum.Open && !r.told
	r.told = r.told || first
	in := r.in
	if first {
		r.in = nil
	} else {
		in = nil
	}
	r.mu.Unlock()
	if a.Verdict == nodescript.Repaired {
		r.lease.forgottenBy(node)
	}
	if k := r.lease.keeper; a.Verdict == nodescript.Lost && a.Cause != nodescript.Forced && !a.Foreign && a.Owner != "" && !r.downgrades && k.Refused != nil {
		k.refused(r.lease)
	}
	if in != nil {
		defer r.lease.keeper.decided(in) // deferred, so that renewed schedules the next renewal before the scheduler looks for a free place
	}
	if out != quorum.Open {
		r.lease.renewed(r, out)
	} else if r.wait != nil {
		r.deliver(false)
	}
}

// decide sets the result for the caller of Extend. If answers that are still missing may show that the lease is gone,
// the caller gets the result later, but after a window at most. Otherwise Extend could return nil for a lease that is
// lost a moment later. If an answer comes even later, the lease's context announces the loss. The caller of decide
// holds e.mu.
func (r *renewal) decide(verdict error) {
	if r.wait == nil {
		return
	}
	r.mu.Lock()
	r.verdict, r.decided = verdict, true
	if r.votes.MayBeGone() && r.bound == nil {
		k := r.lease.keeper
		r.bound = k.fan.AfterFunc(k.fan.SendBy(r.sent).Sub(k.fan.Now()), func() { r.deliver(true) })
	}
	r.mu.Unlock()
	r.deliver(false)
}

// deliver gives the result to the caller of Extend if the result is final. If late is true, the time for further
// answers has passed, and deliver gives the result in any case.
func (r *renewal) deliver(late bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.decided || r.votes.MayBeGone() && !late || r.votes.Gone() { // renewed tells the caller of a lease that is gone
		return
	}
	if r.bound != nil {
		r.bound.Stop()
	}
	verdict := r.verdict
	if errors.Is(verdict, ErrNoQuorum) {
		verdict = &NoQuorumError{r.into(make([]nodescript.Answer, r.fan.N()))}
	}
	r.wait.set(verdict)
}

// renewed changes the lease after a renewal has an outcome.
func (e *Lease) renewed(r *renewal, out quorum.Outcome) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.checkLocked() // a majority counts only inside the old deadline
	r.settled = true
	if e.end != nil {
		r.wait.set(e.end)
		return
	}
	if !e.counts(r, out) {
		r.decide(ErrNoQuorum)
		return
	}
	switch out {
	case quorum.Won:
		wanted := e.keeper.Events.Wanted(events.Renewed)
		var ev events.Event
		if wanted {
			ev = e.event(events.Renewed)
			ev.Left = e.deadline.Sub(e.keeper.fan.Now())
		}
		if deadline, yes := r.deadline(); deadline > e.deadline {
			if !e.moveLocked(deadline) {
				e.checkLocked() // the holder has just found that the old deadline has passed
				r.wait.set(e.end)
				return
			}
			e.by, e.bySent = yes, r.sent
		}
		e.tries = nil
		// The timer for the deadline stays as it is: when it fires, it finds the new deadline. The next renewal is due
		// after a pace. It is due earlier if Extend has raised the TTL since this renewal was sent, because this
		// deadline still comes from the lower TTL.
		e.keeper.arm(e, r.sent.Add(min(e.keeper.soonPace(e.ttl), e.deadline.Sub(r.sent)/3)))
		r.decide(nil)
		if wanted {
			e.keeper.Events.Emit(ev)
		}
		if w := e.watcherLocked(); w != nil {
			w.Renewed()
		}
	case quorum.Gone:
		e.loseLocked(e.lost(&LostError{Gone: true, Answers: answersTo([]*renewal{r}, r.fan.N())}))
		r.wait.set(e.end)
	case quorum.Failed:
		if !r.late() {
			r.decide(ErrNoQuorum)
			return
		}
		wait := r.wait
		if wait == nil {
			wait = newOutcome() // it ends at the node timeout, and a further one may follow then
		}
		e.renewLocked(wait, nil, true)
	}
}

// full returns the deadline that follows from a majority that got the renewal in time.
func (r *renewal) full() clock.Instant {
	return quorum.Deadline(r.sent, r.ttl, r.lease.keeper.fan.Set().Window)
}

// deadline returns the deadline that follows from the answers so far, and the nodes that have extended or repaired the
// lease. A node counts until its excess before the deadline of the stamp, and for as long as its address is proven.
func (r *renewal) deadline() (clock.Instant, bid.Nodes) {
	fan := r.fan
	full := r.full()
	r.mu.Lock()
	defer r.mu.Unlock()
	yes := bid.Nodes(r.yes)
	for i, a := range r.answers {
		if a.Verdict == nodescript.Repaired {
			yes = yes.With(i)
		}
	}
	return fan.Proven(r.sent, func(i int) (clock.Instant, bool) {
		at := full
		if r.excess != nil {
			at = at.Add(-r.excess[i])
		}
		return at, yes.Has(i)
	}), yes
}

// late reports whether the renewal failed only because its stamp was too old when the nodes got it. This happens when
// the client has not used the nodes for some time: it then asks them first whether they vote. That takes several round
// trips, and more if a node hangs. The renewal waits in the client meanwhile. The client repeats such a renewal once,
// so late returns false for a repeated renewal.
func (r *renewal) late() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := bits.OnesCount64(r.yes)
	for _, a := range r.answers {
		if a.Verdict == nodescript.OffClock || r.downgrades && a.Verdict == nodescript.Stale || errors.Is(a.Err, context.DeadlineExceeded) && node.Unsent(a.Err) {
			n++
		}
	}
	return !r.again && n >= quorum.Majority(r.fan.N())
}

// answersTo returns the last answer of each of n nodes to these renewals.
func answersTo(tries []*renewal, n int) []nodescript.Answer {
	answers := make([]nodescript.Answer, n)
	for _, r := range tries {
		r.mu.Lock()
		r.into(answers)
		r.mu.Unlock()
	}
	return answers
}

// into copies the renewal's answers into the parameter answers, and returns it. The caller holds r.mu.
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
