package sim

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/election"
)

// Some worlds have an election on one of their names. Its candidates call Run, lead for a while, and resign. Other
// calls lock the same name. For the judges a leader is a holder, until its lease ends or its callback returns. The
// context of the callback must end with the lease.

// drawElections has some calls of some worlds campaign, and some clients observe the election.
func (p *Plan) drawElections() {
	d := dice(luck(p.Seed, 'e', 'l'))
	if !d.hit(0.125) || p.Rare.has(LongIdle) || p.Rare.has(ManyNames) {
		return
	}
	name, often := d.n(len(p.Names)), pick(&d, 0.2, 0.5)
	p.Elected = name + 1
	for i := range p.Actors {
		a := &p.Actors[i]
		for j := range a.Ops {
			o := &a.Ops[j]
			if a.Foreign || o.Name != name || o.Slot || o.Also != nil || o.Shared || o.Down || o.Dead || !d.hit(often) {
				continue
			}
			*o = Op{
				Pause: o.Pause, At: o.At, Rush: o.Rush, Name: name, Wait: true, Hold: o.Hold, TTL: o.TTL, Cancel: o.Cancel,
				Patience: d.between(p.MaxTTL/4, p.MaxTTL+2*time.Second),
				Terms:    1 + d.n(3), Rest: time.Duration(d.n(2)) * d.below(p.MaxTTL/4), Resign: d.hit(0.3),
			}
			if d.hit(0.5) {
				o.Hold += d.below(p.MaxTTL)
			}
		}
	}
	for range 1 + d.n(2) {
		p.Actors = append(p.Actors, Actor{ID: len(p.Actors), Client: d.n(len(p.Clients)), Watch: true})
	}
}

// elects campaigns in an election until ctx ends or the candidate has led for its terms. It reports whether it led.
func (w *world) elects(ctx context.Context, x *wait, ttl time.Duration, opts []holdfast.Option) bool {
	h, op, terms := x.h, x.op, 0
	ctx, enough := context.WithCancel(ctx) // to end Run: after a resigned or lost term it continues, whatever the callback returns
	defer enough()
	e := election.New(h.client, w.called(h, op.Name), election.WithLock(opts...), election.ResignPause(op.Rest))
	err := e.Run(ctx, func(work context.Context, term election.Term) error {
		if h.gone() {
			enough()
			return nil
		}
		lease, _ := holdfast.FromContext(work)
		l := w.granted(x, lease, ttl)
		w.works(l, work)
		terms++
		w.led(l, term, terms)
		again, pause := w.leads(work, l, lease, e, term, op)
		if x = nil; !again || terms == op.Terms {
			enough()
			return nil
		}
		x = w.campaigns(l, op, pause)
		return nil
	})
	switch {
	case x == nil: // the candidate led, and does not campaign again
	case h.gone():
		w.vanished(x)
	default:
		w.rare(CampaignEnded)
		w.twins(err)
		w.refused(x, err)
	}
	return terms > 0
}

// led checks the number of a term.
func (w *world) led(l *held, term election.Term, terms int) {
	w.rare(Led)
	if terms > 1 {
		w.rare(LedAgain)
	}
	if term.Fence != l.lease.Fence() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.violated(termWrong, l.name, "client%d/%d leads %s with the token %d", l.h.slot, l.actor, term, l.lease.Fence())
	}
}

// leads keeps a leadership for a while. It reports whether the candidate campaigns again, and after which pause.
func (w *world) leads(work context.Context, l *held, lease *holdfast.Lease, e *election.Election, term election.Term, op Op) (again bool, pause time.Duration) {
	if op.Resign != (op.Hold%2 == 0) { // half of the leaders publish
		bounded, stop := context.WithTimeout(work, 2*w.plan.Timeout)
		w.publishes(bounded, l, term)
		stop()
	}
	if op.Resign {
		resigns := time.AfterFunc(1+op.Hold/2, func() { w.resigns(e, l) })
		defer resigns.Stop()
	}
	if w.leadsFor(op.Hold, work.Done(), l, lease); work.Err() != nil { // Run keeps the leadership until the callback returns
		w.leadsFor(min(op.Hold/4, w.plan.MaxTTL), nil, l, lease)
	}
	if l.h.gone() {
		return false, 0
	}
	if cause := context.Cause(lease.Context()); cause != nil {
		w.endsWith(work, l)
		if errors.Is(cause, holdfast.ErrLost) {
			w.rare(LeaderLost)
		}
		w.lost(l, cause)
		return errors.Is(cause, holdfast.ErrLost), 0
	}
	// The candidate's own context may have ended. Run then returns, and campaigns no more.
	again = work.Err() == nil || errors.Is(context.Cause(work), election.ErrResigned)
	w.gives(l, 0)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.names[l.name].freeFrom(w.now() + l.ttl + w.plan.Window) // nobody tells whether the nodes got the release
	w.leaves(l.h, l.name, w.now()+2*w.plan.Timeout)
	return again, op.Rest + 2*w.plan.Timeout
}

// leadsFor waits for a time, until work ends, or until the lease ends.
func (w *world) leadsFor(d time.Duration, work <-chan struct{}, l *held, lease *holdfast.Lease) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-work:
	case <-lease.Context().Done():
	case <-l.h.over:
		if !l.h.gone() { // the client is being closed, and closing ends the lease
			<-lease.Context().Done()
		}
	}
}

// endsWith checks that the context of a callback has ended, because the lease has.
func (w *world) endsWith(work context.Context, l *held) {
	t := time.NewTimer(time.Duration(w.serial())) // another goroutine may end the context, at this instant
	defer t.Stop()
	select {
	case <-work.Done():
	case <-t.C:
		w.mu.Lock()
		defer w.mu.Unlock()
		w.violated(termWrong, l.name, "the lease of client%d/%d, which leads name%d, has ended, and the context of its callback has not", l.h.slot, l.actor, l.name)
	}
}

// campaigns begins the next campaign of a candidate, after a pause.
func (w *world) campaigns(l *held, op Op, pause time.Duration) *wait {
	x := w.asks(l.h, &Actor{ID: l.actor}, op, w.now()+pause)
	w.mu.Lock()
	defer w.mu.Unlock()
	x.since += pause
	return x
}

// publishes publishes the number of a term in this term.
func (w *world) publishes(ctx context.Context, l *held, term election.Term) {
	err := term.Publish(ctx, fmt.Append(nil, term.Fence))
	if l.h.gone() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err == nil:
		w.result.Tally.Rare[Published]++
	case errors.Is(err, context.Canceled):
	default:
		w.valueFailed(l, false, err)
	}
}

// resigns calls Resign. When Resign returns nil, the callback has returned.
func (w *world) resigns(e *election.Election, l *held) {
	ctx, stop := context.WithTimeout(context.Background(), 4*w.plan.Timeout)
	defer stop()
	err := e.Resign(ctx)
	if l.h.gone() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil && !l.over {
		w.violated(termWrong, l.name, "Resign of client%d/%d returned, and the callback of its term has not", l.h.slot, l.actor)
	}
	if err == nil {
		w.result.Tally.Rare[Resigned]++
	}
}
