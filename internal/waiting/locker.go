package waiting

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/clock"
	"github.com/holdfast-go/holdfast/internal/fanout"
	"github.com/holdfast-go/holdfast/internal/nodescript"
)

const (
	// splitTries is how many attempts TryLock makes while nobody holds the name: several
	// clients that try at the same instant split the votes, and one of them must win.
	splitTries = 12
	// splitDelay is the mean of the first pause after a split; it doubles up to the
	// retry delay. Redlock: "retry after a random delay in order to desynchronize".
	splitDelay = 4 * time.Millisecond
	// splitMost bounds the pauses of TryLock: it tries for a moment, however long a Lock may pause.
	splitMost = 100 * time.Millisecond
)

// Want is what a Lock waits for.
type Want struct {
	Lock    nodescript.Lock
	TTL     time.Duration
	Through bool           // it waits through outages
	Told    func(*Refusal) // of each refusal
}

// Locker gets locks for one client. It is safe for concurrent use.
type Locker struct {
	Fan        *fanout.Fanout
	RetryDelay time.Duration
	NewOwner   func(ticket int64) string // a new one for every bid
	Stop       <-chan struct{}           // closed when the client is: every wait ends
	Inbox      *Inbox
	Fair       bool          // no passes
	Gap        time.Duration // left to polling clients of other libraries now and then, see gapDue; 0: none

	lines lines
}

// Try makes one attempt, or a few if nobody has the lock and others try too. The
// refusal is nil if it was granted; with neither, ctx ended before anything was known.
func (l *Locker) Try(ctx context.Context, lock nodescript.Lock, ttl time.Duration) (Grant, *Refusal) {
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

// Wait tries until it has the lock or ctx ends, or no quorum was met for patience (for
// ttl, once this call had met one). Quarantines are waited for: the nodes say how long.
// told is called with each refusal.
func (l *Locker) Wait(ctx context.Context, lock nodescript.Lock, ttl time.Duration, told func(*Refusal)) (Grant, *Refusal) {
	return l.WaitFor(ctx, Want{Lock: lock, TTL: ttl, Told: told})
}

// WaitFor is Wait, for a wish that may have more to it.
func (l *Locker) WaitFor(ctx context.Context, want Want) (Grant, *Refusal) {
	var ticket int64
	name := want.Lock.Name
	b, _ := l.waiter(want.Lock, want.TTL, &ticket) // nil: the nodes were not met yet
	// Its place in here is by when it called, whoever of the process draws a ticket first.
	p, first := l.lines.enter(want, b, l.Fan.Now())
	// Whatever ended the wait: as soon as b was the first in line the lock may have been
	// passed to it, and it may have won before anybody looked.
	defer func() {
		if b != nil {
			b.giveUp()
			l.Inbox.forget(b)
		}
	}()
	var met <-chan struct{}
	if b == nil {
		met = l.Fan.Met()
	}
	// Not when it is the first in here: then it would stand behind all who came to other
	// processes meanwhile.
	draw := func() {
		if b, _ = l.waiter(want.Lock, want.TTL, &ticket); b != nil {
			l.lines.gets(p, b)
		}
	}
	if !first {
		if is, last := l.lines.turn(ctx, l.Stop, p, met, draw); !is {
			if b != nil {
				if g, r := b.outcome(true); r == nil { // it was passed the lock at the moment at which ctx ended
					return g, nil
				}
			}
			return Grant{}, cmp.Or(last, l.nothing())
		}
	}
	var held *Refusal // by whom, when the lock was got and will be passed on
	defer func() { l.lines.leave(name, held, l.Fan.Now()) }()
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
		want.Told(r)
	}
	for {
		began := l.Fan.Now()
		g, r := l.inLine(ctx, p, &ticket, b, after)
		if r == nil {
			if !l.Fair {
				held = g.refusal(l.Fan.N(), want.TTL, l.Fan.Now())
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
		// However long RetryDelay is: that there is no quorum is told in time, and found out when there is.
		now, pause, over := l.Fan.Now(), min(jitter(l.Fan, l.RetryDelay), askEvery), false
		switch votesIn, ok := l.recall(r).VotesIn(); {
		case r.Kind != Unavailable:
		case ok:
			// Somebody else may restart or vouch for the node meanwhile.
			pause = min(votesIn+jitter(l.Fan, 5*time.Millisecond), time.Second)
			l.lines.learned(name, r, now)
		default:
			var next time.Duration
			over, next = l.lines.failed(name, r, cmp.Or(r.asked, began), l.Fan.Greeted(), now)
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

// inLine asks, and joins the nodes' queues if somebody has the lock.
func (l *Locker) inLine(ctx context.Context, p *place, ticket *int64, b *bid, after func(*Refusal)) (Grant, *Refusal) {
	if b == nil {
		if answers := l.Fan.Settle(ctx); answers != nil {
			return Grant{}, refusal(answers, nil, ctx.Err() != nil)
		}
		var err error
		if b, err = l.waiter(p.want.Lock, p.want.TTL, ticket); err != nil {
			r := l.nothing()
			r.Kind, r.Err = Unavailable, err
			return Grant{}, r
		}
		l.lines.gets(p, b)
	}
	defer l.Inbox.forget(b) // who gives the lock back in here may have made it expect
	defer b.giveUp()        // first: who finds it over later forgets it, see Pass
	if !l.Inbox.stood() {
		// Whoever has never waited asks first: most locks are free.
		g, r := l.ask(ctx, b)
		switch {
		case r == nil || ctx.Err() != nil || l.stopped():
			return g, r
		case b.handing(): // others subscribed meanwhile, and who gave the lock back in here had it join
		case r.Kind == Unavailable:
			return g, r
		default:
			after(r)
		}
	}
	return l.queue(ctx, b, after)
}

// ask is one question to all nodes. Without an inbox no hand-off would be heard, so it
// joins no queue.
func (l *Locker) ask(ctx context.Context, b *bid) (Grant, *Refusal) {
	b.begin()
	for more := true; more; {
		select {
		case <-b.wake:
			more = b.undecided() // again already: by a pass
		case <-ctx.Done():
			more = false
		case <-l.Stop:
			more = false
		}
	}
	return b.outcome(true)
}

// attempt is one try without a place in any queue.
func (l *Locker) attempt(ctx context.Context, lock nodescript.Lock, ttl time.Duration) (Grant, *Refusal) {
	if answers := l.Fan.Settle(ctx); answers != nil {
		return Grant{}, refusal(answers, nil, ctx.Err() != nil)
	}
	b := newBid(l.Fan, lock, l.NewOwner(l.Fan.StampAt(l.Fan.Now())), ttl)
	defer b.giveUp()
	g, r := l.ask(ctx, b)
	if r == nil || !r.doubt || ctx.Err() != nil || l.stopped() {
		return g, r
	}
	// Whoever keeps what it has of the nodes while it waits would keep it from others, and from a holder's repair.
	b.endBid(false)
	return Grant{}, l.settled(ctx, b)
}

// settled is why a bid that is over failed, when the answers have come that may tell whether somebody has the lock. It waits for
// two windows at most: a node refuses a stamp that comes later than one, and the answer takes as long.
func (l *Locker) settled(ctx context.Context, b *bid) *Refusal {
	b.mu.Lock()
	r, late := b.refused(false), b.sent.Add(min(l.Fan.Timeout(), 2*l.Fan.Set().Window)).Sub(l.Fan.Now())
	b.mu.Unlock()
	timer := time.NewTimer(l.apart(late))
	defer timer.Stop()
	for more := true; more && r.doubt; {
		select {
		case <-b.wake:
		case <-timer.C:
			more = false
		case <-ctx.Done():
			more = false
		case <-l.Stop:
			more = false
		}
		b.mu.Lock()
		r = b.refused(false)
		b.mu.Unlock()
	}
	return r
}

// jitter draws between half and one and a half of d.
func jitter(f *fanout.Fanout, d time.Duration) time.Duration { return d/2 + f.Draw(d+1) }

func (l *Locker) stopped() bool {
	select {
	case <-l.Stop:
		return true
	default:
		return false
	}
}

// Pass offers a lease that its owner has ended to a waiter of this process, and reports
// whether one takes it: then it releases what remains of it, too. Else gap is for how long the name is to be left to
// clients of other libraries before it is handed on; 0: not at all.
func (l *Locker) Pass(lock nodescript.Lock, g Grant, highest int64, over clock.Instant) (passed bool, gap time.Duration) {
	if l.stopped() {
		return false, 0
	}
	due := l.gapDue(lock.Name, g.Token)
	passed, next := l.lines.pass(lock.Name, handed{owner: g.Owner, highest: highest, over: over, passes: g.passes}, g.Others, l.Fair || due)
	if next != nil && l.Inbox.stood() {
		// It may just have become the first in here, or have waited for a pass. Its place is by its
		// ticket, so it is to be in the queues before the name is handed on.
		l.Inbox.expect(next)
		if !next.joinFirst() {
			l.Inbox.forget(next) // it was over already: nobody else would
		}
	}
	if due && (next != nil || g.contended()) {
		gap = l.Gap
	}
	return passed, gap
}

// nothing is the refusal of a wait that ended before anything was asked.
func (l *Locker) nothing() *Refusal {
	return refusal(make([]nodescript.Answer, l.Fan.N()), nil, true)
}

// sleep reports whether d passed before ctx ended or the client was closed.
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

// nth returns the nth smallest, counted from 1.
func nth[T cmp.Ordered](s []T, n int) T {
	slices.Sort(s)
	return s[n-1]
}
