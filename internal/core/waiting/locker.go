package waiting

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/bid"
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

const (
	// splitTries is the largest number of attempts of one TryLock while no owner has the name. If several clients try
	// at the same instant, none of them may get a majority. After a few tries with random pauses, one of them
	// succeeds.
	splitTries = 12
	// splitDelay is the mean of the first pause after a split vote. The next pauses double, up to the retry delay. The
	// Redlock page says: "retry after a random delay in order to desynchronize".
	splitDelay = bid.SplitDelay
	// splitMost is the longest pause of TryLock. TryLock must return soon, even if the configured RetryDelay is long.
	splitMost = 100 * time.Millisecond
)

// Want contains what one call of Lock asks for.
type Want struct {
	Lock    nodescript.Kind
	TTL     time.Duration
	Through bool           // if true, the wait continues while no majority answers
	Told    func(*Refusal) // receives each refusal; nil: refusals are dropped

	// Open makes the share for a reader's lease when the lease is won. At first only the caller uses that share. nil:
	// the caller is not a reader, or it does not share its lease.
	Open func(Grant) Share
}

// Locker gets locks for one client. It is safe for concurrent use.
type Locker struct {
	Fan        *fanout.Fanout
	RetryDelay time.Duration
	NewOwner   func(client string, ticket int64) string // returns a new owner, once for every bid; client is the id of the inbox
	Stop       <-chan struct{}                          // closes when the client closes; every wait then ends
	Inbox      *Inbox

	// Route returns the node set that has a name now, with its inbox. nil: it is Fan for good. If Route is not nil, Fan
	// has no nodes, and only its clock and its random numbers are used.
	Route func(name string) (*fanout.Fanout, *Inbox)

	Fair bool          // never pass a lock inside this process: waiters of all processes get it in the order of their tickets
	Gap  time.Duration // the length of a gap, in which polling clients of other libraries find the name free; 0: no gaps. See gapDue.

	lines lines
}

// Try makes one attempt. It makes a few more if no owner has the lock and several clients try at the same time. The
// refusal is nil if the lock was granted. If ctx ends before enough nodes have answered, the refusal has the kind
// Unavailable.
func (l *Locker) Try(ctx context.Context, lock nodescript.Kind, ttl time.Duration) (Grant, *Refusal) {
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

// ask asks all nodes once. It joins no queue, because a client without an inbox would miss the hand-offs.
// drawn is the instant of its ticket, if the ticket may be the stamp: see [bidder.begin].
func (l *Locker) ask(ctx context.Context, b *bidder, drawn clock.Instant) (Grant, *Refusal) {
	b.fan.Carry(ctx, b, func() { b.begin(drawn) })
	l.decide(ctx, b)
	return b.outcome(true)
}

// decide waits until the round with all nodes is decided, ctx ends, or the client closes.
func (l *Locker) decide(ctx context.Context, b *bidder) {
	for more := true; more; {
		select {
		case <-b.wake:
			l.Fan.Woken()
			more = b.undecided() // a pass may have begun the next round, and that round is undecided
		case <-ctx.Done():
			more = false
		case <-l.Stop:
			more = false
		}
	}
}

// attempt makes one try, and takes no place in a queue.
func (l *Locker) attempt(ctx context.Context, lock nodescript.Kind, ttl time.Duration) (Grant, *Refusal) {
	fan, inbox := l.route(lock)
	if answers := fan.Settle(ctx); answers != nil {
		return Grant{}, bid.Refuse(answers, nil, ctx.Err() != nil)
	}
	b := newBidder(fan, lock, l.NewOwner(inbox.client, fan.StampAt(fan.Now())), ttl, 0)
	defer b.giveUp()
	g, r := l.ask(ctx, b, 0)
	if r == nil || !r.Doubt || ctx.Err() != nil || l.stopped() {
		return g, r
	}
	// The bid gives its partial grant back before it waits for late answers. Otherwise other attempts, and a holder
	// that repairs its lease, would find these nodes taken during that wait.
	b.end(false)
	return Grant{}, l.settled(ctx, b)
}

// settled returns the reason why a bid that has ended failed. It waits for late answers if they decide whether another
// owner has the lock. It waits for two windows at most: a node refuses a stamp that arrives more than one window late,
// and the node's answer takes up to one more window.
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

// route returns the node set that has a lock now, with its inbox.
func (l *Locker) route(lock nodescript.Kind) (*fanout.Fanout, *Inbox) {
	if l.Route == nil {
		return l.Fan, l.Inbox
	}
	return l.Route(lock.Name())
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

// Pass offers a lease that its owner has ended to a waiter of this process, and then calls release. If passed is true,
// a waiter takes the lease, and also releases the old owner on the nodes. Otherwise release must release it. gap is
// then the time for which the name must stay free for clients of other libraries, before nodes hand it on. A gap of 0
// means that nodes may hand the name on at once.
//
// The messages of Pass and of release go out in one piece. So the question of a waiter that does not get the lease
// travels before the release, and the waiter is in the queues when the release hands the name on.
func (l *Locker) Pass(lock nodescript.Kind, g Won, highest int64, over clock.Instant, release func(passed bool, gap time.Duration)) {
	if l.stopped() || l.Gap == 0 && !l.lines.waits(lock.Line()) {
		release(false, 0)
		return
	}
	fan, inbox := l.route(lock)
	fan.Together(func() { release(l.offer(lock, inbox, g, highest, over)) })
}

// offer offers a lease to a waiter of this process, for Pass.
func (l *Locker) offer(lock nodescript.Kind, inbox *Inbox, g Won, highest int64, over clock.Instant) (passed bool, gap time.Duration) {
	due := !lock.Shares() && l.gapDue(lock, g.Token)
	_, readers := lock.(*nodescript.Shared) // readers never pass their lease, because other readers may have the name, too
	from := bid.Passed{Owner: g.Owner, Highest: highest, Over: over, Passes: g.passes}
	if s, ok := lock.(*nodescript.Slot); ok {
		from.Slot = int16(s.Slot())
	}
	passed, next := l.lines.pass(lock.Line(), from, g.Others, l.Fair || due || readers)
	if next != nil && inbox.isEnough() {
		// next may have become the first in line just now, or it may have waited for a pass. In both cases it may be
		// in no queue yet. It must be in the queues before the nodes hand the name on, so that its ticket decides its
		// place.
		next.inbox.expect(next)
		if !next.joinFirst() {
			next.inbox.forget(next) // next had ended already, and no other call would forget it
		}
	}
	if due && (next != nil || g.contended()) {
		gap = l.Gap
	}
	return passed, gap
}

// Waiting returns the number of calls that wait for each name, with its prefix. A call counts from its first question
// on, also if the lock is free.
func (l *Locker) Waiting() map[string]int { return l.lines.waiting() }

// nothing returns the refusal of a wait that ended before it asked any node.
func (l *Locker) nothing(lock nodescript.Kind) *Refusal {
	fan, _ := l.route(lock)
	return bid.Refuse(make([]nodescript.Answer, fan.N()), nil, true)
}

// sleep waits for d. It returns true after d, or earlier when hurry has a value. It returns false if ctx ends or the
// client closes.
func (l *Locker) sleep(ctx context.Context, d time.Duration, hurry <-chan struct{}) bool {
	t := time.NewTimer(l.apart(d))
	defer t.Stop()
	defer l.Fan.Woken()
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
