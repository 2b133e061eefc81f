package sim

import (
	"errors"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
	"github.com/holdfast-go/holdfast/verdict"
)

// A waiter may hear from fewer than a majority of the nodes for a second, or for the lock's TTL if that is longer. Lock
// then tells the waiter that no quorum answered. It tells all waiters of a client at once, not one after the other. The
// check counts the replies that came back, and ignores why the others are missing. The answer "not yet" counts as a
// reply: Lock waits for quarantines.

// tellsIn returns the longest delay of the message to the waiter after that time.
func (w *world) tellsIn() time.Duration {
	d := time.Second + // a waiter in the queue asks once a second
		3*(w.plan.Timeout+w.plan.Window) + // the present question, the one that finds the outage, and the last one
		20*time.Millisecond
	if slices.ContainsFunc(w.plan.Actors, func(a Actor) bool {
		return slices.ContainsFunc(a.Ops, func(o Op) bool { return o.OnWait == SlowOnWait })
	}) {
		d += 4 * (w.plan.MaxTTL + w.plan.Slow) // attempts wait for OnWait callbacks, even for those of earlier waiters
	}
	return d
}

// settles notes that a client waits for an event with a known end, whether nodes answer or not. The client may wait
// until it trusts the nodes' clocks again. Or it waits until enough nodes leave quarantine to make a majority with the
// voting nodes.
func (w *world) settles(h *host, err error) {
	var none *holdfast.UnavailableError
	if !errors.As(err, &none) {
		return
	}
	waits, later, could := false, 0, 0
	for _, n := range none.Nodes {
		var unsettled quorum.Unsettled
		waits = waits || errors.As(n.Err, &unsettled) && unsettled.Left > 0
		switch {
		case n.VotesIn > 0:
			later++
		case granted(n), n.Reason == verdict.ReasonHeld:
			could++
		}
	}
	if waits || later > 0 && later+could >= w.plan.majority() {
		w.mu.Lock()
		defer w.mu.Unlock()
		h.settled = w.now()
	}
}

// quiet returns the time since which a waiter's client has heard from no majority while it waited. The caller holds
// w.mu.
func (w *world) quiet(x *wait) time.Duration {
	var heard []time.Duration
	for _, l := range x.h.links {
		heard = append(heard, time.Duration(l.heard.Load()))
	}
	slices.Sort(heard)
	return max(x.since, x.h.woke, x.h.settled, w.busyUntil(x.h), heard[len(heard)-w.plan.majority()])
}

// allowed returns the time for which a waiter may look for a quorum. The caller holds w.mu.
func (w *world) allowed(x *wait) time.Duration {
	ttl := x.op.TTL
	if ttl == 0 {
		ttl = w.plan.Clients[x.h.slot].TTL
	}
	d := max(time.Second, ttl)
	return d + d/50 // the waiter's own clock may be slow
}

// willTell checks a waiter at the time at which it must know of the outage, if its client hears nothing. The caller
// holds w.mu.
func (w *world) willTell(x *wait, after time.Duration) {
	w.unique++
	x.look = time.AfterFunc(after+time.Duration(1+w.unique%50_000), func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if again := w.untold(x); again > 0 {
			w.willTell(x, again)
		}
	})
}

// untold checks that a waiter hears of an outage in time. It returns the delay until the next check, 0 if no check is
// needed. The caller holds w.mu.
func (w *world) untold(x *wait) (again time.Duration) {
	quiet := w.quiet(x)
	past := w.now() - quiet - w.allowed(x)
	switch {
	case x.over, x.h.dead, x.h.closing, w.plan.Broken != (Broken{}):
		return 0
	case x.h.asleep: // the client's clock stopped
		return noticed
	case past < w.tellsIn():
		return w.tellsIn() - past
	}
	w.violated(anyOther, x.name, "client%d/%d has waited for name%d since %.6f, heard of no majority since %.6f, and was not told for %s longer than promised",
		x.h.slot, x.actor, x.name, x.since.Seconds(), quiet.Seconds(), past)
	return 0
}

// toldAt notes how late a waiter learns of an outage. The caller holds w.mu.
func (w *world) toldAt(x *wait) {
	if quiet := w.quiet(x); w.now()-quiet >= time.Second {
		w.result.Tally.Silences++
		w.result.Tally.UntoldM = max(w.result.Tally.UntoldM, (w.now() - quiet - w.allowed(x)).Milliseconds())
	}
}

// drawOutage gives some worlds an outage of seconds, and a client with several goroutines that wait through it.
func (p *Plan) drawOutage() {
	d := dice(luck(p.Seed, 'o'))
	if !d.hit(0.1) || p.Rare != 0 {
		return
	}
	// An outage of the only shared node may last longer than the node keeps its members: docs/guide/limits.md excepts
	// it.
	defer p.sparesShared(len(p.Faults))
	nodes := uint32(1)<<p.N - 1
	if d.hit(0.5) { // the fault hits only a majority
		nodes = 1<<p.majority() - 1
	}
	f := Fault{
		ID: 900, Kind: pick(&d, Hang, Cut, CutOut, CutBack, Restart), At: d.below(p.Heal * 9 / 10), For: d.between(2*time.Second, 12*time.Second),
		Nodes: nodes, Clients: 1<<len(p.Clients) - 1,
	}
	p.Heal += f.For
	p.Faults = append(p.Faults, f)
	client := d.n(len(p.Clients))
	for range 2 + d.n(4) {
		a := Actor{ID: len(p.Actors), Client: client}
		// If a start is before the world, the pause separates the calls.
		start := f.At - time.Second + d.below(3*time.Second)
		a.Ops = append(a.Ops, Op{At: start, Pause: time.Duration(1 + a.ID), Wait: true, Hold: 1 + d.below(time.Second)})
		p.Actors = append(p.Actors, a)
	}
}
