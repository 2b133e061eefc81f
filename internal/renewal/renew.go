package renewal

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/clock"
	"github.com/holdfast-go/holdfast/internal/fanout"
	"github.com/holdfast-go/holdfast/internal/nodescript"
	"github.com/holdfast-go/holdfast/internal/quorum"
)

// renewal is one renewal of a lease, and the receiver of its answers. Each has a stamp
// of its own; answers to another one do not count for it.
type renewal struct {
	lease *Lease
	sent  clock.Instant
	ttl   time.Duration
	wait  *outcome // nil: nobody waits

	mu      sync.Mutex
	votes   quorum.Renewal
	told    bool                // an outcome
	answers []nodescript.Answer // kept only if somebody waits
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
	k := e.keeper
	stamp, sent := k.fan.StampHeld()
	r := &renewal{lease: e, sent: sent, ttl: e.ttl, wait: wait, votes: quorum.NewRenewal(k.fan.N())}
	if wait != nil {
		r.answers = make([]nodescript.Answer, k.fan.N())
	}
	e.highest = max(e.highest, stamp)
	e.over = max(e.over, sent.Add(e.ttl))
	k.fan.Send(&fanout.Message{
		Call: nodescript.ExtendCall(e.lock, e.grant.Owner, e.grant.Token, stamp, k.fan.StampAt(e.deadline), e.ttl, k.fan.Set().Window),
		To:   r, SendBy: k.fan.SendBy(sent),
	}, nil)
	// If nothing is decided until then, another one goes out beside it: half a pace
	// leaves room for three before the deadline.
	k.arm(e, sent.Add(k.pace(e.ttl)/2))
	return true
}

// pace is when a lease is renewed: a third of the time it is valid. A third of the TTL
// is nearly the same for a long lease, but one of the shortest, 8 W, is over at half its
// TTL and would have a single try.
func (k *Keeper) pace(ttl time.Duration) time.Duration {
	return quorum.Validity(ttl, k.fan.Set().Window) / 3
}

// Answered takes a node's answer.
func (r *renewal) Answered(node, _ int, a nodescript.Answer) {
	r.mu.Lock()
	if r.answers != nil {
		r.answers[node] = a
	}
	out := r.votes.Answer(a)
	first := out != quorum.Open && !r.told
	r.told = r.told || first
	r.mu.Unlock()
	if first && r.wait == nil {
		defer r.lease.keeper.decided() // when its next one is armed
	}
	if out != quorum.Open {
		r.lease.renewed(r, out)
	}
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
		// The deadline's timer is left as it is: when it fires it finds the new deadline.
		e.keeper.arm(e, r.sent.Add(e.keeper.pace(e.ttl)))
		r.wait.is(nil)
	case quorum.Gone:
		e.loseLocked()
		r.wait.is(ErrLost)
	case quorum.Failed:
		r.mu.Lock()
		defer r.mu.Unlock()
		r.wait.is(&NoQuorumError{slices.Clone(r.answers)})
	}
}

// Extend sets the TTL of this and later renewals and renews now. It returns nil if a
// majority agreed, ErrLost or ErrReleased if the lease is over, ErrNoQuorum if too few
// nodes answered (the lease then still stands until its deadline), or ctx's cause.
func (e *Lease) Extend(ctx context.Context, ttl time.Duration) error {
	e.mu.Lock()
	e.ttl = ttl
	e.mu.Unlock()
	o := newOutcome()
	e.renew(o)
	return o.get(ctx)
}
