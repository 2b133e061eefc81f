//go:build linux

package chaos

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// kind is one kind of fault.
type kind struct {
	name string

	// forgets: the fault may delete memory of nodes. calm: the fault must not meet a fault that forgets. outside: the
	// lock's assumptions do not hold during the fault or after it.
	forgets, calm, outside bool
	shuts                  bool // for a long time no client may get a name
	needs                  int  // the least number of nodes
	ours                   bool // the fault concerns only Holdfast's own clients
	named                  bool // the fault comes only if [Plan.Kinds] names it

	// begin chooses the targets and reserves them, under the arena's mu. It returns nil if no target is free. The
	// returned deed runs the fault from its begin to its end.
	begin func(a *arena, r *rand.Rand) *deed
}

// deed is a fault that is ready to run.
type deed struct {
	nodes []*node            // nodes that may not vote during the fault
	do    func() (took bool) // runs the fault; took: the fault had an effect
}

var kinds = slices.Concat(serverKinds, memoryKinds, clockKinds, networkKinds, commandKinds, clientKinds, readerKinds, misfitKinds)

// Kinds returns the names of all kinds of faults. The kinds outside of the assumptions come last.
func Kinds() (list []string) {
	for _, outside := range []bool{false, true} {
		for _, k := range kinds {
			if k.outside == outside {
				list = append(list, k.name)
			}
		}
	}
	return list
}

func (p Plan) deck() (deck []*kind) {
	for i := range kinds {
		k := &kinds[i]
		switch {
		case len(p.Kinds) > 0 && !slices.Contains(p.Kinds, k.name):
		case len(p.Kinds) == 0 && (k.named || k.outside && !p.Outside):
		case k.needs > p.Nodes, k.ours && !p.ours():
		default:
			deck = append(deck, k)
		}
	}
	return deck
}

// Faults returns the names of the kinds of faults in a run of this plan, in the order of [Kinds].
func (p Plan) Faults() (list []string) {
	for _, k := range p.withDefaults().deck() {
		list = append(list, k.name)
	}
	slices.SortStableFunc(list, func(x, y string) int { return slices.Index(Kinds(), x) - slices.Index(Kinds(), y) })
	return list
}

// outside reports whether any of the faults breaks the lock's assumptions.
func (p Plan) outside() bool {
	return slices.ContainsFunc(p.deck(), func(k *kind) bool { return k.outside })
}

// timely reports whether the run may require prompt grants. A busy client delays the others.
func (p Plan) timely() bool {
	return p.Busy == 0 && !slices.ContainsFunc(p.deck(), func(k *kind) bool { return k.shuts })
}

// card is a future fault: its kind, and the seed of all its choices.
type card struct {
	kind  *kind
	seed  uint64
	tries int // how often the fault was tried without effect
}

// mostTries limits the tries of a fault without effect. A fault may stay without effect because its conditions are not
// always true.
const mostTries = 5

// again returns the card for another try.
func (c card) again() card {
	return card{c.kind, rand.New(rand.NewPCG(c.seed, 1)).Uint64(), c.tries + 1}
}

// deal returns a round of faults: each kind once. Runs with the same kinds and the same seed have the same rounds, for
// any lock.
func (a *arena) deal() (round []card) {
	for _, k := range a.plan.deck() {
		round = append(round, card{kind: k, seed: a.rng.Uint64()})
	}
	a.rng.Shuffle(len(round), func(i, j int) { round[i], round[j] = round[j], round[i] })
	return round
}

// torment runs faults until the given time, and returns when the last fault has ended. Each kind comes once per round,
// and each round has a new order. Faults overlap.
func (a *arena) torment(until time.Time) {
	var under sync.WaitGroup
	defer under.Wait()
	var round []card
	for time.Now().Before(until) {
		a.mu.Lock()
		round, a.again = append(a.again, round...), nil
		a.mu.Unlock()
		if len(round) == 0 {
			if round = a.deal(); len(round) == 0 {
				time.Sleep(time.Until(until))
				return
			}
		}
		// This loop finds the first fault that can begin now. The other faults keep their places.
		pause := 50 * time.Millisecond
		for i, c := range round {
			if d := a.begin(c); d != nil {
				under.Go(func() { d.do() })
				round = slices.Delete(round, i, i+1)
				if c.tries == 0 { // another try of a fault is not an additional fault
					pause = between(a.rng, a.plan.Every/2, a.plan.Every*3/2)
				}
				break
			}
		}
		time.Sleep(min(pause, time.Until(until)))
	}
}

// begin begins the fault of a card, unless the fault must wait. It returns nil then.
func (a *arena) begin(c card) *deed {
	a.mu.Lock()
	defer a.mu.Unlock()
	k := c.kind
	quiet := a.amnesia == 0 && Monotonic()-a.forgot > int64(a.plan.quarantine()+time.Second)
	switch {
	case k.forgets && (a.calm > 0 || a.wantCalm):
		return nil
	case k.calm && !quiet:
		a.wantCalm = true
		return nil
	}
	d := k.begin(a, rand.New(rand.NewPCG(c.seed, 0)))
	if d == nil {
		return nil
	}
	in := &injury{Kind: k.name, From: Monotonic(), Again: c.tries > 0}
	for _, n := range d.nodes {
		in.Nodes = append(in.Nodes, a.index(n))
	}
	a.injuries = append(a.injuries, in)
	if k.forgets {
		a.amnesia++
	}
	if k.calm {
		a.calm++
		a.wantCalm = false
	}
	do := d.do
	d.do = func() (took bool) {
		if a.plan.Verbose {
			a.t.Logf("%7.3f  %s %v", a.since(in.From), k.name, in.Nodes)
		}
		// This function also runs if a fault fails the test and ends its goroutine.
		defer func() {
			a.mu.Lock()
			defer a.mu.Unlock()
			in.To, in.Took = Monotonic(), took
			if !took && c.tries+1 < mostTries {
				a.again = append(a.again, c.again())
			}
			if k.forgets {
				a.amnesia--
				a.forgot = in.To
			}
			if k.calm {
				a.calm--
			}
		}()
		return do()
	}
	return d
}

func (a *arena) since(at int64) float64 { return time.Duration(at - a.began).Seconds() }

func (in injury) String() string { return fmt.Sprintf("%s %v", in.Kind, in.Nodes) }

// outsideKinds are the faults of a run outside of the assumptions: most of the outside kinds, and faults that can do
// harm in such a run.
var outsideKinds = []string{
	"clocks of a majority step together", "clocks of a majority step each its own way", "FLUSHALL and a false voucher",
	"client killed", "client frozen", "server killed, AOF cut back", "partition",
}
