package renewal

import (
	"context"
	"errors"
	"math/bits"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/clock"
	"github.com/holdfast-go/holdfast/internal/fanout"
	"github.com/holdfast-go/holdfast/internal/nodescript"
	"github.com/holdfast-go/holdfast/internal/quorum"
	"github.com/holdfast-go/holdfast/node"
)

// renewal is one renewal of a lease, and the receiver of its answers. Each has a stamp
// of its own; answers to another one do not count for it.
type renewal struct {
	lease *Lease
	sent  clock.Instant
	ttl   time.Duration
	wait  *outcome // nil: nobody waits
	again bool     // it repeats one that came too late

	mu      sync.Mutex
	votes   quorum.Renewal
	told    bool                // an outcome
	answers []nodescript.Answer // nil while all said yes
	yes     uint64              // nodes that did
	verdict error               // what wait is told,
	decided bool                // when this is true and no answer to come may change it, or bound fires
	bound   *time.Timer         // nil: not set
}

// renew sends a renewal and arms the next one; it reports whether it did: not if the lease
// is over.
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

// renewLocked is renew for a lease that is not over. e.mu is held.
func (e *Lease) renewLocked(wait *outcome, again bool) {
	k := e.keeper
	stamp, sent := k.fan.StampHeld()
	r := &renewal{lease: e, sent: sent, ttl: e.ttl, wait: wait, again: again, votes: quorum.NewRenewal(k.fan.N())}
	e.tries = append(e.tries, r)
	e.highest = max(e.highest, stamp)
	e.over = max(e.over, sent.Add(e.ttl))
	k.fan.Send(&fanout.Message{
		Call: nodescript.ExtendCall(e.lock, e.grant.Owner, e.grant.Token, stamp, k.fan.StampAt(e.deadline), e.ttl, k.fan.Set().Window),
		To:   r, SendBy: k.fan.SendBy(sent),
	}, nil)
	k.arm(e, sent.Add(e.againLocked(sent)))
}

// pace is when a lease is renewed: a third of the time it is valid. A third of the TTL
// is nearly the same for a long lease, but one of the shortest, 8 W, is over at half its
// TTL and would have a single try.
func (k *Keeper) pace(ttl time.Duration) time.Duration {
	return quorum.Validity(ttl, k.fan.Set().Window) / 3
}

// againLocked is how long after a renewal another one goes out beside it if nothing is decided until then. Half a
// pace leaves room for three before the deadline. A quarter of what is left of the deadline is the same for the first;
// it is less where the deadline is not yet what Extend asked for, or where a suspension took of it. (After less than a
// window the answers to the one before may still count.)
func (e *Lease) againLocked(sent clock.Instant) time.Duration {
	return min(e.keeper.pace(e.ttl)/2, max(e.deadline.Sub(sent)/4, e.keeper.fan.Set().Window))
}

// Answered takes a node's answer.
func (r *renewal) Answered(node, _ int, a nodescript.Answer) {
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
	if k := r.lease.keeper; a.Verdict == nodescript.Lost && !a.Foreign && a.Owner != "" && k.Refused != nil {
		k.refused(r.lease)
	}
	if first && r.wait == nil {
		defer r.lease.keeper.decided() // when its next one is armed
	}
	if out != quorum.Open {
		r.lease.renewed(r, out)
	} else if r.wait != nil {
		r.tell(false)
	}
}

// decide sets what the caller of Extend is told, unless answers to come say that the lease is gone: the caller would
// go on with a lease that is lost a moment later. What comes later than a window says nothing: a node refuses a stamp
// that is older. e.mu is held.
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

// tell tells the caller of Extend the verdict, if there is one and it cannot change, or late says that it has waited
// for long enough.
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

// renewed takes the outcome of a renewal.
func (e *Lease) renewed(r *renewal, out quorum.Outcome) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.checkLocked() // a majority counts only inside the old deadline
	if e.end != nil {
		r.wait.is(e.end)
		return
	}
	switch out {
	case quorum.Won:
		e.deadline = max(e.deadline, quorum.Deadline(r.sent, r.ttl, e.keeper.fan.Set().Window))
		e.tries = nil
		// The deadline's timer is left as it is: when it fires it finds the new deadline.
		// Not by the TTL alone: it may have been raised meanwhile, and the deadline is by that of this renewal.
		e.keeper.arm(e, r.sent.Add(min(e.keeper.pace(e.ttl), e.deadline.Sub(r.sent)/3)))
		r.decide(nil)
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
			wait = newOutcome() // the scheduler's count does not know it
		}
		e.renewLocked(wait, true)
	}
}

// late reports whether the renewal failed only because its stamp was too old when it came to the nodes. It waited in the
// client, where nodes had to be asked first whether they vote: after a rest that takes several round trips, and more
// where one hangs. A new stamp is drawn once.
func (r *renewal) late() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := bits.OnesCount64(r.yes)
	for _, a := range r.answers {
		if a.Verdict == nodescript.OffClock || errors.Is(a.Err, context.DeadlineExceeded) && node.Unsent(a.Err) {
			n++
		}
	}
	return !r.again && n >= quorum.Majority(r.lease.keeper.fan.N())
}

// Extend sets the TTL of this and later renewals and renews now. It returns nil if a
// majority agreed, ErrLost or ErrReleased if the lease is over, ErrNoQuorum if too few
// nodes answered (the lease then still stands until its deadline), or ErrUnknown if ctx
// ended first. Where a node answered that it did not have the lease, it waits for answers that may still make a
// majority of these, for a window at most.
func (e *Lease) Extend(ctx context.Context, ttl time.Duration) error {
	e.mu.Lock()
	e.ttl = ttl
	e.mu.Unlock()
	o := newOutcome()
	e.renew(o)
	return o.get(ctx)
}

// answersTo are the last answers of n nodes to some renewals.
func answersTo(tries []*renewal, n int) []nodescript.Answer {
	answers := make([]nodescript.Answer, n)
	for _, r := range tries {
		r.mu.Lock()
		r.into(answers)
		r.mu.Unlock()
	}
	return answers
}

// into puts the answers that came into others. r.mu is held.
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
