package sim

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/node"
)

// In forced worlds an operator takes locks away from their holders. The old holder may rely on its lease until its next
// renewal, and never for longer than a TTL after the release. Its later renewals must not bring the lease back. All
// other promises hold as in other worlds: tokens grow, and waiters are served.

// isForced reports whether a seed makes a forced world.
func isForced(seed uint64) bool { return luck(seed, 'f', 'o')%16 == 0 }

// drawForced makes the plan of a forced world. Faults hit a minority of the nodes and some clients. Without faults on the
// way of the operator, a forced release would almost always succeed.
func drawForced(seed uint64) *Plan {
	d := dice(luck(seed, 'f', 'p'))
	p := &Plan{Seed: seed, N: pick(&d, 1, 3, 3, 5), Window: pick[time.Duration](&d, 20, 50, 100, 250) * time.Millisecond}
	shortest := 8 * p.Window
	p.MaxTTL = shortest * time.Duration(1+d.n(4))
	p.Slow = p.Window / pick[time.Duration](&d, 20, 50, 100)
	p.Timeout = p.Window/2 + 8*p.Slow
	p.Heal = time.Second + 12*p.MaxTTL
	for i := range 1 + d.n(2) {
		p.Names = append(p.Names, "name"+string(rune('0'+i)))
	}
	for c := range 3 + d.n(4) {
		ttl := min(shortest+d.below(2*shortest), p.MaxTTL)
		p.Clients = append(p.Clients, ClientPlan{TTL: ttl, Retry: 50 * time.Millisecond})
		for range 1 + d.n(2) {
			a := Actor{ID: len(p.Actors), Client: c}
			for range 4 + d.n(8) {
				o := Op{Pause: d.below(2 * ttl), Name: d.n(len(p.Names)), Wait: d.hit(0.7), Shared: d.hit(0.3), Hold: d.below(pick[time.Duration](&d, 1, 3, 6) * ttl)}
				if d.hit(0.3) {
					o.Look = ForceLock // the operator, or a colleague, then wants the lock itself
				}
				if o.Wait && d.hit(0.3) {
					o.Patience, o.Cancel = d.below(2*p.MaxTTL), d.hit(0.5)
				}
				if d.hit(0.1) {
					o.Extend = p.MaxTTL
				}
				a.Ops = append(a.Ops, o)
			}
			a.Wish = []int{d.n(len(p.Names))}
			p.Actors = append(p.Actors, a)
		}
	}
	for range d.n(10) {
		f := Fault{ID: len(p.Faults), Kind: pick(&d, Cut, CutOut, CutBack, Hang, Loss, Delay, Duplicate, Crash, Close, Pause, Inbox), P: 0.5}
		f.At = d.below(p.Heal)
		f.For = 1 + d.below(min(p.Heal-f.At, 3*p.MaxTTL))
		f.Nodes, f.Clients = uint32(1+d.n(1<<p.N-1)), uint32(1+d.n(1<<len(p.Clients)-1))
		f.Back = d.hit(0.5)
		p.Faults = append(p.Faults, f)
	}
	for range d.n(8) { // the messages of one client, perhaps of an operator, reach some nodes only
		f := Fault{ID: len(p.Faults), Kind: Loss, P: 0.5, At: d.below(p.Heal), Clients: 1 << d.n(len(p.Clients)), Nodes: 1<<p.N - 1}
		f.For = 1 + d.below(min(p.Heal-f.At, 2*p.MaxTTL))
		p.Faults = append(p.Faults, f)
	}
	return p
}

// forces reports whether a call is a forced release. text is the whole text of its script.
func forces(text string, c node.Call) bool {
	return text != "" && len(c.Args) == 4 && strings.Contains(c.Args[0], "~")
}

// forcedOn notes that a node has executed a forced release, whatever it answered.
func (w *world) forcedOn(c node.Call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.forced[c.Keys[0]+" "+c.Args[0]] = w.now()
}

// isForced reports whether some node has executed a forced release of a lease. The caller holds w.mu.
func (w *world) isForced(l *held) bool {
	return w.forcedAt(l) > 0
}

// forcedAt returns when a node last executed a forced release of a lease, 0 if no node did. The caller holds w.mu.
func (w *world) forcedAt(l *held) time.Duration {
	if len(w.forced) == 0 {
		return 0
	}
	return w.forced[w.names[l.name].record+" "+l.lease.Owner()]
}

// force takes a lock away from its holders.
func (w *world) force(h *host, op Op) {
	ctx, stop := context.WithTimeout(context.Background(), 4*w.plan.Timeout)
	defer stop()
	w.mu.Lock()
	before := slices.Clone(w.names[op.Name].believed)
	w.mu.Unlock()
	u, err := h.client.Admin().Unlock(ctx, w.called(h, op.Name), holdfast.UnlockOptions{})
	if h.gone() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil && outcome(err) == outcomes {
		w.violated(errorOfNoKind, op.Name, "Unlock of an operator returned an error of no kind: %v", err)
	}
	var other *holdfast.HeldError
	if errors.As(err, &other) {
		for _, l := range before {
			if !l.over && l.ctx.Err() == nil && l.lease.Owner() == other.Holder().Owner {
				w.violated(endedWrong, l.name, "an operator took name%d away from client%d/%d, which still has it", l.name, l.h.slot, l.actor)
			}
		}
	}
	if u == nil || len(u.Holders) == 0 {
		return
	}
	w.result.Tally.Rare[ForceLock]++
	w.note("forced", h.slot, -1, op.Name, 0, 0)
	for _, taken := range u.Holders { // a majority has executed these releases
		for _, l := range w.names[op.Name].believed {
			if l.lease.Owner() == taken.Owner && !l.over && l.ctx.Err() == nil {
				w.mustNotice(l, w.now())
			}
		}
	}
}

// mustNotice checks that no renewal of a lease succeeds any more, because a majority of the nodes has ended the lease. An
// answer that a majority gave before may still be on its way. So the lease has another deadline at most when the timeout of
// a call is over, and its holder must know of the loss at that deadline. The caller holds w.mu.
func (w *world) mustNotice(l *held, from time.Duration) {
	if l.rival {
		return
	}
	l.rival = true
	over := func() bool {
		return l.over || l.h.dead || l.h.asleep || l.ctx.Err() != nil || l.h.woke >= from && l.h.woke > 0
	}
	later := func(d time.Duration, f func()) {
		w.unique++
		time.AfterFunc(d+time.Duration(1+w.unique%50_000), func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			if !over() {
				f()
			}
		})
	}
	later(2*w.plan.Timeout, func() {
		later(max(time.Until(l.lease.Deadline()), 0)+prompt(longest(w.plan)), func() {
			w.violated(twoHolders, l.name, "client%d/%d still relies on name%d, which an operator took away %s ago", l.h.slot, l.actor, l.name, w.now()-from)
		})
	})
}

// toldOfForce checks the cause of a loss: it says that an operator ended the lease only if an operator did. The caller
// holds w.mu.
func (w *world) toldOfForce(l *held, cause error) {
	var lost *holdfast.LostError
	if !errors.As(cause, &lost) || !lost.Forced {
		return
	}
	w.result.Tally.Rare[ForceTold]++
	if !slices.ContainsFunc(l.set(), w.isForced) {
		w.violated(endedWrong, l.name, "client%d/%d was told that an operator took name%d away, and none did", l.h.slot, l.actor, l.name)
	}
}
