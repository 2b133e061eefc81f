package nodemodel

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// forceTexts are the texts of force by configuration and operation. To make one takes a millisecond.
var forceTexts = map[string]string{}

func forceText(config int, op nodescript.Op) string {
	key := fmt.Sprint(config, op)
	if forceTexts[key] == "" {
		forceTexts[key] = nodescript.ForceText(configs[config], op)
	}
	return forceTexts[key]
}

// forces runs force on both sides.
func (w *world) forces(config int, c nodescript.Call) (real, model string) {
	text := forceText(config, c.Op)
	args := append([]string{"EVAL", w.weaken(text), fmt.Sprint(len(c.Keys))}, c.Keys...)
	real = told(w.wire.do(append(args, c.Args...)...))
	model = said(w.whole(func() node.Reply {
		return w.model.Eval(context.Background(), text, node.Call{Keys: c.Keys, Args: c.Args})
	}))
	w.count("force of "+c.Op.String(), model, 1)
	for range w.heard {
		w.seen["force hands on"]++
	}
	return real, model
}

func (g *generator) forceOf(c nodescript.Call) operation {
	config := g.config()
	return operation{say: fmt.Sprintf("force %s%d %q %q", c.Op, config, c.Keys, c.Args), do: func(w *world) (string, string) {
		return w.forces(config, c)
	}}
}

// force ends the lease of an owner for an operator. Most often a renewal or a release of that owner follows, or the
// next owner comes.
func (g *generator) force() operation {
	l := g.lock()
	owner, T := g.holder(l)
	if g.IntN(3) == 0 {
		owner, T = g.entry(l)
	}
	w, stamp, next := time.Duration(W)*time.Microsecond, g.stamp(), pick(g, owners...)
	if nodescript.IsReader(owner) {
		next = pick(g, sharers...)
	}
	all := []operation{
		g.script(g.config(), nodescript.ExtendCall(l, owner, T, stamp, pick(g, g.w.now, g.w.now+2_000_000), g.ttl(), w)),
		g.script(g.config(), nodescript.ReleaseCall(l, owner, inRange(pick(g, T, stamp)))),
		g.script(g.config(), nodescript.AcquireCall(l, next, stamp, g.ttl())),
		g.script(g.config(), nodescript.AcquireCall(l, cmp.Or(owner, next), T, g.ttl())),
	}
	for range g.IntN(4) {
		g.then = append(g.then, pick(g, all...))
	}
	if g.IntN(30) == 0 {
		return g.set(nodescript.ForcedKey(nodescript.RecordKey(l.Name)), "text", time.Minute)
	}
	return g.forceOf(nodescript.ForceCall(l, owner, T))
}

// forced fails unless an operator's release gives the answer, and tells these owners.
func (w *world) forced(want, owner string, T int64, told ...string) {
	w.t.Helper()
	real, model := w.forces(0, nodescript.ForceCall(lock, owner, T))
	var heard []string
	for _, m := range w.heard {
		_, news, _ := strings.Cut(m, " ")
		h, _ := nodescript.ParseHandoff(news)
		heard = append(heard, h.Owner)
	}
	w.check(want, real, model)
	if !slices.Equal(heard, told) {
		w.t.Fatalf("%q were told, want %q", heard, told)
	}
}

// extends returns the renewal of a writer or a reader.
func extends(owner string, T, stamp int64) nodescript.Call {
	return nodescript.ExtendCall(lock, owner, T, stamp, T+5_000_000, 10*time.Second, window)
}

// An operator ends a lease, and the first waiter gets the name. Late renewals do not bring the lease back, and a late
// release does not end the next one.
func TestARenewalAfterAnOperatorsReleaseLocksNothing(t *testing.T) {
	for what, owner := range map[string]string{"a writer": ann, "a reader": amy} {
		t.Run(what, func(t *testing.T) {
			w := voting(t)
			T := w.now
			w.listen(nodescript.Inbox(client(bob)), true)
			w.says("G0", nodescript.AcquireCall(lock, owner, T, 10*time.Second))
			w.says("E", extends(owner, T, T+1000))
			w.says("H", queue(bob, T+2000, T+2000))
			w.forced("D", owner, T, bob)
			w.says("Lx"+bob, extends(owner, T, T+100_000)) // bob has a claim
			w.says("G0", acquire(bob, T+50_000))
			w.says("Lx"+bob, extends(owner, T, T+110_000))
			w.says("Fx"+bob, release(owner, T+120_000))
			w.says("Lx"+bob, nodescript.LeaveCall(lock, owner, T, T+500_000))
			if r := w.stored(lock); r.Owner != bob || r.Leased > T+50_000 {
				t.Errorf("a late release ended the next lease: %+v", r)
			}
			w.says("D", release(bob, T+50_000))
			w.says("Lx", extends(owner, T, T+130_000)) // the name is free
			w.forced("F", owner, T)
		})
	}
}

// A node that does not have the lease refuses it too, as long as it may come.
func TestAnOperatorsReleaseWhereTheLeaseIsMissing(t *testing.T) {
	for what, owner := range map[string]string{"a writer": ann, "a reader": amy} {
		t.Run(what, func(t *testing.T) {
			w := voting(t)
			T := w.now
			w.says("F", release(owner, T-1)) // the node knows nothing
			w.forced("F", owner, T)
			w.says("S", nodescript.AcquireCall(lock, owner, T, 10*time.Second))
			w.says("Lx", extends(owner, T, T+100_000))
			w.at(T + 10_000_000)
			w.says("Lx", nodescript.ExtendCall(lock, owner, T, w.now, T+20_000_000, 10*time.Second, window))
		})
	}
}

// An operator ends an attempt that has not won. The owner then wins with a higher token. This is another lease, so a
// renewal repairs it. An older release that comes late does not change this, and brings no ended lease back.
func TestALeaseAfterAnOperatorsReleaseIsRepaired(t *testing.T) {
	for what, owner := range map[string]string{"a writer": ann, "a reader": amy} {
		t.Run(what, func(t *testing.T) {
			w := voting(t)
			T := w.now
			w.forced("F", owner, T)
			w.forced("F", owner, T-1000)
			w.says("Lx", extends(owner, T, T+40_000))
			w.says("R", extends(owner, T+50_000, T+100_000))
			w.says("E", extends(owner, T+50_000, T+110_000))
			w.forced("D", owner, T+50_000)
			w.says("Lx", extends(owner, T+50_000, T+120_000))
		})
	}
}

// An operator ends the lease of a slot. The slot goes to the first waiter.
func TestAnOperatorsReleaseOfASlot(t *testing.T) {
	w := voting(t)
	before := universe
	t.Cleanup(func() { universe = before })
	s := nodescript.NewSlots("x", 1)
	universe = append(universe, nodescript.SlotsQueueKey("x"), nodescript.SlotKey("x", 0), nodescript.ForcedKey(nodescript.SlotKey("x", 0)))
	T := w.now
	w.listen(nodescript.Inbox(client(bob)), true)
	w.says("G0", s.AcquireCall(0, -1, ann, T, 10*time.Second, ""))
	w.says("Hl", s.AcquireCall(0, -1, bob, T+1, 10*time.Second, nodescript.Micros(T+1)))
	real, model := w.forces(0, s.ForceCall(0, ann, T))
	if len(w.heard) != 1 {
		t.Errorf("heard %q", w.heard)
	}
	w.check("D", real, model)
	late := nodescript.ExtendCall(s.Lock(0), ann, T, T+100_000, T+5_000_000, 10*time.Second, window)
	w.says("Lx"+bob, late)
	w.says("G0", s.AcquireCall(0, -1, bob, T+50_000, 10*time.Second, ""))
	w.says("Lx"+bob, late)
	w.says("Fx"+bob, s.ReleaseCall(0, ann, T+110_000, true))
	w.says("E", nodescript.ExtendCall(s.Lock(0), bob, T+50_000, T+120_000, T+5_000_000, 10*time.Second, window))
}
