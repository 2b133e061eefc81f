package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/verdict"
)

// Some holders load and store the value of their name. The judge is that of package values: a load finds the value that
// was last stored or seen, or one whose store began after that and whose outcome is open.

// register is the judge's knowledge of the value of a name. Values are numbers, in the order in which their stores
// began; 0 is none.
type register struct {
	last   int         // the number of the last store that began
	known  int         // the value that was last stored or seen
	dead   int         // values up to this one must not be seen, except known
	begun  int         // the number of uses that began
	forgot map[int]int // nodes that lost their memory: how many uses had begun before
	gone   int         // a majority lost its memory before this use, so any value may be found; 0: it did not
}

// drawValues has the holders of some calls use the value of their name. Elections have names of their own.
func (p *Plan) drawValues() {
	d := dice(luck(p.Seed, 'v', 'a'))
	if !d.hit(0.25) {
		return
	}
	often := pick(&d, 0.2, 0.6)
	for i := range p.Actors {
		for j := range p.Actors[i].Ops {
			o := &p.Actors[i].Ops[j]
			if d.hit(often) && !p.Actors[i].Foreign && !o.Slot && !o.Shared && o.Also == nil && o.Name != p.Elected-1 {
				o.Values = 1 + d.n(4)
			}
		}
	}
}

// usesValue loads and stores the value of a name some times.
func (w *world) usesValue(l *held, lease *holdfast.Lease, times int) {
	d := dice(luck(w.plan.Seed, 'v', 'u', uint64(l.actor), uint64(w.now())))
	for range times {
		ctx, stop := context.WithTimeout(context.Background(), 1+d.below(2*w.plan.Timeout))
		loads := d.hit(0.4)
		text, use := w.beginsUse(l.name, !loads)
		var found []byte
		var err error
		if loads {
			found, err = lease.Load(ctx)
		} else {
			err = lease.Store(ctx, []byte(text))
		}
		stop()
		if l.h.gone() {
			return
		}
		w.mu.Lock()
		switch {
		case err != nil:
			w.valueFailed(l, loads, err)
		case loads:
			w.loaded(l, found, use)
		default:
			w.stored(l, text, use)
		}
		w.mu.Unlock()
	}
}

// beginsUse notes the beginning of a use. It returns the value to store, if the use stores one, and the number of the
// use.
func (w *world) beginsUse(name int, stores bool) (text string, use int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := &w.names[name].value
	r.begun++
	if stores {
		r.last++
	}
	return fmt.Sprintf("%d/%d", name, r.last), r.begun
}

// stored checks and notes a store that returned nil. The caller holds w.mu.
func (w *world) stored(l *held, text string, use int) {
	r := &w.names[l.name].value
	value := numberOf(text, l.name)
	if value < r.known {
		w.violated(valueWrong, l.name, "client%d/%d stored value %d of name%d after %d was stored or seen", l.h.slot, l.actor, value, l.name, r.known)
	}
	r.noteValue(value, use)
	w.result.Tally.Rare[ValueStored]++
}

// loaded checks and notes the result of a load. The caller holds w.mu.
func (w *world) loaded(l *held, found []byte, use int) {
	r := &w.names[l.name].value
	value := 0
	if found != nil {
		value = numberOf(string(found), l.name)
	}
	switch {
	case value < 0 || value > r.last:
		w.violated(valueWrong, l.name, "client%d/%d loaded %q from name%d, which nobody stored there", l.h.slot, l.actor, found, l.name)
	case r.gone > 0:
	case value != r.known && value <= r.dead:
		w.violated(valueWrong, l.name, "client%d/%d loaded value %d of name%d; %d was stored or seen before, and values up to %d were passed over",
			l.h.slot, l.actor, value, l.name, r.known, r.dead)
	}
	if value > 0 {
		w.result.Tally.Rare[ValueFound]++
	}
	r.noteValue(value, use)
	w.result.Tally.Rare[ValueLoaded]++
}

// valueFailed checks the error of a use. The caller holds w.mu.
func (w *world) valueFailed(l *held, loads bool, err error) {
	w.result.Tally.Rare[ValueUnknown]++
	// Here a load needs all nodes, because their memories are young. A foreign client keeps a node for as long as it
	// likes.
	if loads && errors.Is(err, holdfast.ErrUnavailable) && !w.mayWithhold(err) && w.plan.Broken == (Broken{}) && !w.plan.foreign() {
		w.violated(valueWithheld, l.name, "the value of name%d: client%d/%d got %v, and nothing is wrong with the nodes", l.name, l.h.slot, l.actor, err)
	}
	for _, known := range []error{
		holdfast.ErrLost, holdfast.ErrReleased, holdfast.ErrUnavailable, holdfast.ErrClosed, context.DeadlineExceeded,
	} {
		if errors.Is(err, known) {
			return
		}
	}
	w.violated(errorOfNoKind, l.name, "the value of name%d: client%d/%d got an error of no kind: %v", l.name, l.h.slot, l.actor, err)
}

// mayWithhold reports whether the faults of the plan may keep the value of a name from a holder, whose load failed with
// err. A fault that delays only loads may not: it lasts for a moment, and the holder asks again. A load that waited
// behind such a load may time out.
func (w *world) mayWithhold(err error) bool {
	if slices.ContainsFunc(w.plan.Faults, func(f Fault) bool { return f.Kind != Delay || f.Only != 1<<LoadValue }) {
		return true
	}
	var un *holdfast.UnavailableError
	timedOut := func(n verdict.Answer) bool { return n.Reason == verdict.ReasonTimedOut }
	return len(w.plan.Faults) > 0 && errors.As(err, &un) && slices.ContainsFunc(un.Nodes, timedOut)
}

// numberOf returns the number of a value, -1 if it is no value of this name.
func numberOf(text string, name int) int {
	of, number, _ := strings.Cut(text, "/")
	n, err := strconv.Atoi(number)
	if err != nil || of != strconv.Itoa(name) {
		return -1
	}
	return n
}

// noteValue notes the value that a use stored or saw. A majority has it now, so losses of memory before the use no
// longer count.
func (r *register) noteValue(value, use int) {
	r.known, r.dead = value, r.last
	for node, before := range r.forgot {
		if before < use {
			delete(r.forgot, node)
		}
	}
	if r.gone <= use {
		r.gone = 0
	}
}

// noteLoss notes that a node of n lost its memory. A value is promised while a minority loses it between two uses.
func (r *register) noteLoss(node, n int) {
	if r.forgot == nil {
		r.forgot = map[int]int{}
	}
	if r.forgot[node] = r.begun; len(r.forgot) > (n-1)/2 {
		r.gone = r.begun + 1
	}
}
