package waiting

import (
	"cmp"
	"context"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/bid"
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/kind"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

const (
	// splitTries is the number of attempts that TryLock makes while no owner has the name. Several clients that try at
	// the same instant split the votes, and one of them must win.
	splitTries = 12
	// splitDelay is the mean of the first pause after a split vote. The pause doubles up to the retry delay. Redlock:
	// "retry after a random delay in order to desynchronize".
	splitDelay = bid.SplitDelay
	// splitMost is the longest pause of TryLock. It is short because TryLock tries only for a moment, even if a Lock
	// may pause for long.
	splitMost = 100 * time.Millisecond
)

// Want is the wish of one call of Lock.
type Want struct {
	Lock    kind.Kind
	TTL     time.Duration
	Through bool           // the wait continues during outages
	Told    func(*Refusal) // receives each refusal; nil: refusals are dropped

	// Open makes the share of a reader's lease, once the lease is won. The share has one user, the caller. nil: the
	// caller is no reader, and shares its lease with nobody.
	Open func(Grant) Share
}

// Locker gets locks for one client. It is safe for concurrent use.
type Locker struct {
	Fan        *fanout.Fanout
	RetryDelay time.Duration
	NewOwner   func(ticket int64) string // returns a new owner for every bid
	Stop       <-chan struct{}           // this channel closes when the client closes, and every wait then ends
	Inbox      *Inbox
	Fair       bool          // forbids passes
	Gap        time.Duration // the length of gaps for polling clients of other libraries: see gapDue; 0: no gaps

	lines lines
}

// Try makes one attempt, or a few if no owner has the lock and other clients also try. The refusal is nil if the lock
// was granted. If ctx ends before anything is known, the refusal has the kind Unavailable.
func (l *Locker) Try(ctx context.Context, lock kind.Kind, ttl time.Duration) (Grant, *Refusal) {
	pause := splitDelay
	for try := 1; ; try++ {
		g, r := l.attempt(ctx, lock, ttl)
		if r == nil || r.Kind != Contended || try == splitTries || ctx.Err() != nil {
			return g, r
		}
		if !l.sleep(ctx, jitter(l.Fan, pause), nil) {
			return Grant{}, r
		}
		pause = min(2*pause, l.RetryDelay, splitMost)
	}
}

// Wait tries until it has the lock, ctx ends, or no quorum answers for patience. After this call has met a quorum, it
// waits for ttl instead of patience if ttl is longer. It waits for the end of quarantines, because the nodes tell how
// long these last. Wait calls told with each refusal.
func (l *Locker) Wait(ctx context.Context, lock kind.Kind, ttl time.Duration, told func(*Refusal)) (Grant, *Refusal) {
	return l.WaitFor(ctx, Want{Lock: lock, TTL: ttl, Told: told})
}

// WaitFor does the same as Wait, with all settings of a Want.
func (l *Locker) WaitFor(ctx context.Context, want Want) (Grant, *Refusal) {
	var ticket int64
	name := want.Lock.Line()
	if want.Open != nil {
		if s := l.Joinable(name); s != nil {
			return Grant{Share: s, Late: true}, nil
		}
	}
	b, _ := l.waiter(want.Lock, want.TTL, &ticket) // nil: the client has not met the nodes yet
	// The order of the calls decides the places in this line, even if a later waiter of the process draws its ticket
	// first.
	p, first, share := l.lines.enter(want, b, l.Fan.Now())
	// This must happen at every end of the wait. If b was the first in line, another goroutine may have passed the
	// lock to b. So b may have won although this goroutine has not noticed it.
	defer func() {
		if b != nil {
			b.giveUp()
			l.Inbox.forget(b)
		}
	}()
	if share != nil {
		return Grant{Share: share, Late: true}, nil
	}
	var met <-chan struct{}
	if b == nil {
		met = l.Fan.Met()
	}
	// draw draws the ticket when the client has met the nodes, even if this waiter is behind others in this line. If
	// it drew the ticket only as the first of this line, it would be behind all waiters that came to other processes
	// in the meantime.
	draw := func() {
		if b, _ = l.waiter(want.Lock, want.TTL, &ticket); b != nil {
			l.lines.gets(p, b)
		}
	}
	if !first {
		if is, last := l.lines.turn(ctx, l.Stop, p, met, draw); !is {
			if p.share != nil {
				return Grant{Share: p.share}, nil
			}
			if b != nil {
				if g, r := b.outcome(true); r == nil { // a pass brought the lock at the moment at which ctx ended
					return g, nil
				}
			}
			return Grant{}, cmp.Or(last, l.nothing())
		}
	}
	var held Grant
	var opens opening
	near := false // this call got held and will pass it on
	defer func() {
		l.lines.leave(name, opens, near, func() (*Refusal, clock.Instant) {
			now := l.Fan.Now()
			return held.refusal(l.Fan.N(), want.TTL, now), now
		})
	}()
	again := false
	defer func() {
		if again {
			l.Inbox.ends(ticket)
		}
	}()
	after := func(r *Refusal) {
		if r.Kind != Unavailable {
			l.lines.learned(name, r, l.Fan.Now())
		}
		if want.Told != nil {
			want.Told(r)
		}
	}
	for {
		began := l.Fan.Now()
		g, r := l.inLine(ctx, &want, p, &ticket, b, after)
		if r == nil {
			held, near = g, !l.Fair && !want.Lock.Shares()
			if want.Open != nil {
				g.Share = want.Open(g)
				opens = l.opens(g.Share, g)
			}
			return g, nil
		}
		b.giveUp()
		b = nil
		if ctx.Err() != nil || l.stopped() {
			return Grant{}, l.lines.known(name, r)
		}
		again = true
		hurry := l.Inbox.goesOn(ticket)
		// A long RetryDelay must not delay the report that there is no quorum, or the discovery that there is one
		// again.
		now, pause, over := l.Fan.Now(), min(jitter(l.Fan, l.RetryDelay), askEvery), false
		switch votesIn, ok := l.recall(r).VotesIn(); {
		case r.Kind != Unavailable:
		case ok:
			// Another process may restart the node or vouch for it during that time.
			pause = min(votesIn+jitter(l.Fan, 5*time.Millisecond), time.Second)
			l.lines.learned(name, r, now)
		default:
			var next time.Duration
			over, next = l.lines.failed(name, r, cmp.Or(r.Asked, began), l.Fan.Greeted(), now)
			pause = min(pause, next)
		}
		after(r)
		if over {
			return Grant{}, r
		}
		if !l.sleep(ctx, pause, hurry) {
			return Grant{}, r
		}
	}
}

// inLine asks the nodes, and joins their queues if another owner has the lock.
func (l *Locker) inLine(ctx context.Context, want *Want, p *place, ticket *int64, b *bidder, after func(*Refusal)) (Grant, *Refusal) {
	if b == nil {
		if answers := l.Fan.Settle(ctx); answers != nil {
			return Grant{}, bid.Refuse(answers, nil, ctx.Err() != nil)
		}
		var err error
		if b, err = l.waiter(want.Lock, want.TTL, ticket); err != nil {
			r := l.nothing()
			r.Kind, r.Err = Unavailable, err
			return Grant{}, r
		}
		l.lines.gets(p, b)
	}
	defer l.Inbox.forget(b) // Pass may have registered the bid for its hand-offs
	defer b.giveUp()        // this runs before forget; if Pass finds the bid over after that, Pass forgets it
	if !l.Inbox.stood() {
		// A client that has never waited asks first, because most locks are free.
		g, r := l.ask(ctx, b)
		switch {
		case r == nil || ctx.Err() != nil || l.stopped():
			return g, r
		case b.handing(): // another waiter has subscribed since, and Pass made this bid join the queues
		case r.Kind == Unavailable:
			return g, r
		default:
			after(r)
		}
	}
	return l.queue(ctx, b, after)
}

// ask asks all nodes once. It joins no queue, because without an inbox the client would hear no hand-off.
func (l *Locker) ask(ctx context.Context, b *bidder) (Grant, *Refusal) {
	l.Fan.Carry(ctx, b, b.begin)
	l.decide(ctx, b)
	return b.outcome(true)
}

// decide waits until the question to all nodes is decided, ctx ends, or the client closes.
func (l *Locker) decide(ctx context.Context, b *bidder) {
	for more := true; more; {
		select {
		case <-b.wake:
			more = b.undecided() // true if a pass has already begun the next round
		case <-ctx.Done():
			more = false
		case <-l.Stop:
			more = false
		}
	}
}

// attempt makes one try without a place in a queue.
func (l *Locker) attempt(ctx context.Context, lock kind.Kind, ttl time.Duration) (Grant, *Refusal) {
	if answers := l.Fan.Settle(ctx); answers != nil {
		return Grant{}, bid.Refuse(answers, nil, ctx.Err() != nil)
	}
	b := newBidder(l.Fan, lock, l.NewOwner(l.Fan.StampAt(l.Fan.Now())), ttl, 0)
	defer b.giveUp()
	g, r := l.ask(ctx, b)
	if r == nil || !r.Doubt || ctx.Err() != nil || l.stopped() {
		return g, r
	}
	// The bid ends before the wait for late answers. Otherwise its partial grant would keep other attempts, and a
	// holder's repair, from those nodes during the wait.
	b.end(false)
	return Grant{}, l.settled(ctx, b)
}

// settled returns the reason why a bid that is over failed. It waits for answers that may show whether another owner
// has the lock, for two windows at most. A node refuses a stamp that arrives more than one window late, and the answer
// takes as long.
func (l *Locker) settled(ctx context.Context, b *bidder) *Refusal {
	r := b.refused()
	late := r.Asked.Add(min(l.Fan.Timeout(), 2*l.Fan.Set().Window)).Sub(l.Fan.Now())
	timer := time.NewTimer(l.apart(late))
	defer timer.Stop()
	for more := true; more && r.Doubt; {
		select {
		case <-b.wake:
		case <-timer.C:
			more = false
		case <-ctx.Done():
			more = false
		case <-l.Stop:
			more = false
		}
		r = b.refused()
	}
	return r
}

// jitter draws a duration between d/2 and 3d/2.
func jitter(f *fanout.Fanout, d time.Duration) time.Duration { return bid.Jitter(d, f.Draw) }

func (l *Locker) stopped() bool {
	select {
	case <-l.Stop:
		return true
	default:
		return false
	}
}

// Pass offers a lease that its owner has ended to a waiter of this process. It reports whether a waiter takes the
// lease. That waiter then must also release the remains of the lease. If no waiter takes it, gap is the time for which
// the name must stay free for clients of other libraries before the nodes hand it on. 0 means that there is no gap.
func (l *Locker) Pass(lock kind.Kind, g Won, highest int64, over clock.Instant) (passed bool, gap time.Duration) {
	if l.stopped() {
		return false, 0
	}
	due := !lock.Shares() && l.gapDue(lock.Name(), g.Token)
	_, readers := lock.(*kind.Shared) // their lease is not passed: others may have the name, too
	from := bid.Passed{Owner: g.Owner, Highest: highest, Over: over, Passes: g.passes}
	if s, ok := lock.(*kind.Slot); ok {
		from.Slot = int16(s.Slot())
	}
	passed, next := l.lines.pass(lock.Line(), from, g.Others, l.Fair || due || readers)
	if next != nil && l.Inbox.stood() {
		// next may just have become first in line, or may have waited for a pass. Its ticket decides its place. So next
		// must be in the queues before the nodes hand the name on.
		l.Inbox.expect(next)
		if !next.joinFirst() {
			l.Inbox.forget(next) // next was over already, and no other call would forget it
		}
	}
	if due && (next != nil || g.contended()) {
		gap = l.Gap
	}
	return passed, gap
}

// nothing returns the refusal of a wait that ended before any question.
func (l *Locker) nothing() *Refusal {
	return bid.Refuse(make([]nodescript.Answer, l.Fan.N()), nil, true)
}

// sleep reports whether d passed, or hurry had a value, before ctx ended or the client closed.
func (l *Locker) sleep(ctx context.Context, d time.Duration, hurry <-chan struct{}) bool {
	t := time.NewTimer(l.apart(d))
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-hurry:
		return true
	case <-ctx.Done():
	case <-l.Stop:
	}
	return false
}
