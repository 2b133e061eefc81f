package waiting

import (
	"cmp"
	"context"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/bid"
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/fanout"
)

// wait is one call of WaitFor: the waiter's place in the line of its process, and its present bid. Its goroutine owns
// it.
type wait struct {
	*Locker
	want   Want
	place  *place
	ticket int64          // the place in the nodes' queues; 0: not drawn yet
	bid    *bidder        // nil: the client has not met the nodes yet, or the last bid has ended
	drawn  clock.Instant  // when the ticket was drawn, if this waiter asks next; otherwise 0
	fan    *fanout.Fanout // the node set that has the name now
	inbox  *Inbox         // of this node set
	since  clock.Instant  // when the wait began to ask the nodes, or when it asked last

	first bool // it is the first in the line, and must leave it
	asked bool // a question has failed, so the inbox keeps the ticket for the next one

	held  Grant // the lease that it got
	near  bool  // it got a lease, and will pass it on inside this process
	opens opening
}

// WaitFor tries until it has the lock or ctx ends. It also gives up when no majority answers for a second: see Patience
// in outage.go. If a majority has answered since the call began, that time is the TTL, if that is longer. WaitFor does
// not give up while nodes are in quarantine and their votes will complete a majority, because the nodes say how long a
// quarantine lasts. WaitFor calls want.Told with each refusal.
func (l *Locker) WaitFor(ctx context.Context, want Want) (Grant, *Refusal) {
	if want.Open != nil {
		if s := l.Joinable(want.Lock.Line()); s != nil {
			return Grant{Share: s, Late: true}, nil
		}
	}
	w := &wait{Locker: l, want: want}
	w.fan, w.inbox = l.route(want.Lock)
	share := w.enter()
	defer w.end()
	if share != nil {
		return Grant{Share: share, Late: true}, nil
	}
	if !w.first {
		if is, last := w.becomeFirst(ctx); !is {
			return w.before(last)
		}
	}
	for {
		g, r := w.inLine(ctx)
		if r == nil {
			return w.got(g), nil
		}
		if r == moved {
			if r = w.nothing(w.want.Lock); ctx.Err() == nil && !l.stopped() {
				continue
			}
		}
		if ctx.Err() != nil || l.stopped() {
			return Grant{}, l.lines.known(want.Lock.Line(), r)
		}
		pause, hurry, over := w.failed(r)
		if over || !l.sleep(ctx, pause, hurry) {
			return Grant{}, r
		}
		w.since = l.Fan.Now()
	}
}

// enter makes a bid, if the client has met the nodes, and puts it at the end of the line. The order of these calls is
// the order in the line. So a waiter that calls enter first is served first, even if a later waiter of the process has
// drawn an older ticket. A reader may join a share instead.
func (w *wait) enter() (share Share) {
	w.bid, w.drawn, _ = w.waiter(w.want.Lock, w.want.TTL, &w.ticket)
	if w.since = w.drawn; w.since == 0 {
		w.since = w.Fan.Now()
	}
	if w.place, w.first, share = w.lines.enter(w.want, w.bid, w.since); !w.first {
		w.drawn = 0 // this process may have leases before this waiter asks, with tokens above the ticket
	}
	return share
}

// end ends the wait in this order: the inbox forgets the ticket, the line gets its next first waiter, and the bid gives
// back what it may hold. While the bid was the first in line, another goroutine may have passed the lock to it. So it
// may hold a lease that this goroutine never saw.
func (w *wait) end() {
	if w.asked {
		w.inbox.waitEnded(w.ticket)
	}
	if w.first {
		w.lines.leave(w.want.Lock.Line(), w.opens, w.near, func() (*Refusal, clock.Instant) {
			now := w.Fan.Now()
			return w.held.refusal(w.fan.N(), w.want.TTL, now), now
		})
	}
	w.drop()
}

// drop ends the bid. Pass may have registered the bid for its hand-offs, so the inbox forgets it. If Pass registers the
// bid after both, Pass finds that the bid has ended and forgets it.
func (w *wait) drop() {
	if w.bid != nil {
		w.bid.giveUp()
		w.bid.inbox.forget(w.bid)
		w.bid = nil
	}
}

// becomeFirst waits until this waiter is the first in its line. It draws the ticket as soon as the client has met the
// nodes, even before that. If it drew the ticket later, as the first in line, waiters of other processes that came in
// the meantime would be served before it.
func (w *wait) becomeFirst(ctx context.Context) (first bool, last *Refusal) {
	var met <-chan struct{}
	if w.bid == nil {
		met = w.fan.Met()
	}
	w.first, last = w.lines.becomeFirst(ctx, w.Stop, w.place, met, func() {
		if w.bid, _, _ = w.waiter(w.want.Lock, w.want.TTL, &w.ticket); w.bid != nil {
			w.lines.gets(w.place, w.bid)
		}
	})
	if w.first {
		w.Fan.Woken()
		w.since = w.Fan.Now()
	}
	return w.first, last
}

// before returns the result of a wait that ended before this waiter was the first in its line.
func (w *wait) before(last *Refusal) (Grant, *Refusal) {
	if w.place.share != nil {
		return Grant{Share: w.place.share}, nil
	}
	if w.bid != nil && w.want.Open == nil { // a reader gives the lease back: its share would have to be opened before leave
		if g, r := w.bid.outcome(true); r == nil { // a pass brought the lock when ctx ended
			return g, nil
		}
	}
	return Grant{}, cmp.Or(last, w.nothing(w.want.Lock))
}

// got notes the lease of g, and opens the share of a reader.
func (w *wait) got(g Grant) Grant {
	w.held, w.near = g, !w.Fair && !w.want.Lock.Shares()
	if w.want.Open != nil {
		g.Share = w.want.Open(g)
		w.opens = w.newOpening(g.Share, g)
	}
	return g
}

// refused tells a refusal to the other waiters of the line and to the caller.
func (w *wait) refused(r *Refusal) {
	if r.Kind != Unavailable {
		w.lines.learned(w.want.Lock.Line(), r, w.Fan.Now())
	}
	if w.want.Told != nil {
		w.want.Told(r)
	}
}

// failed notes that a question has failed, and returns the pause before the next one. hurry ends the pause early. over
// reports whether the wait ends, because no majority has answered for too long.
func (w *wait) failed(r *Refusal) (pause time.Duration, hurry <-chan struct{}, over bool) {
	w.asked = true
	hurry = w.inbox.waitContinues(w.ticket)
	// A long RetryDelay must not delay the error that no majority answers. It must also not delay the next question,
	// because the nodes may answer again. So the pause is askEvery at most.
	name, now := w.want.Lock.Line(), w.Fan.Now()
	pause = min(jitter(w.Fan, w.RetryDelay), askEvery)
	switch votesIn, ok := w.recall(r).VotesIn(w.fan.Votes); {
	case r.Kind != Unavailable:
	case ok:
		// The pause is a second at most, because an operator may end the quarantine earlier with a voucher, or the node
		// may restart.
		pause = min(votesIn+jitter(w.Fan, 5*time.Millisecond), time.Second)
		w.lines.learned(name, r, now)
	default:
		var next time.Duration
		over, next = w.lines.failed(name, r, cmp.Or(r.Asked, w.since), w.fan.Greeted(), now)
		pause = min(pause, next)
	}
	w.refused(r)
	return pause, hurry, over
}

// inLine asks the nodes once, and joins their queues if another owner has the lock. The bid ends with it.
func (w *wait) inLine(ctx context.Context) (Grant, *Refusal) {
	if w.bid == nil {
		w.follow()
		if answers := w.fan.Settle(ctx); answers != nil {
			return Grant{}, bid.Refuse(answers, nil, ctx.Err() != nil)
		}
		b, drawn, err := w.waiter(w.want.Lock, w.want.TTL, &w.ticket)
		if err != nil {
			r := w.nothing(w.want.Lock)
			r.Kind, r.Err = Unavailable, err
			return Grant{}, r
		}
		w.bid, w.drawn = b, drawn
		w.lines.gets(w.place, b)
	}
	defer w.drop()
	drawn := w.drawn
	w.drawn = 0
	if !w.bid.inbox.isEnough() {
		// In a client that has never waited, the inbox is closed. Opening it costs one subscription per node. Most
		// locks are free, so the client first asks without it.
		g, r := w.ask(ctx, w.bid, drawn)
		switch {
		case r == nil || ctx.Err() != nil || w.stopped():
			return g, r
		case w.bid.handing(): // another waiter has opened the inbox since then, and Pass let this bid join the queues
		case r.Kind == Unavailable:
			return g, r
		default:
			w.refused(r)
		}
	}
	return w.queue(ctx, w.bid, drawn, w.refused)
}

// follow finds the node set that has the name now. The waiter takes its ticket along.
func (w *wait) follow() {
	fan, inbox := w.route(w.want.Lock)
	if inbox != w.inbox && w.asked {
		w.inbox.waitEnded(w.ticket)
		w.asked = false
	}
	w.fan, w.inbox = fan, inbox
}
