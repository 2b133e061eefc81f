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

	// forgets: nodes may lose memory by it. calm: it must not meet such a fault. outside: the
	// lock's assumptions do not hold while it lasts, or after it.
	forgets, calm, outside bool
	shuts                  bool // a name may be granted to nobody for long by it
	needs                  int  // so many nodes at least
	ours                   bool // it is about Holdfast's own clients

	// begin chooses whom it hits, and reserves them, under the arena's mu; nil if there is
	// nobody free. What it returns does the fault from beginning to end.
	begin func(a *arena, r *rand.Rand) *deed
}

// deed is a fault that is ready to happen.
type deed struct {
	nodes []*node            // that may not vote meanwhile
	do    func() (took bool) // whether it had any effect
}

var kinds = slices.Concat(serverKinds, memoryKinds, clockKinds, networkKinds, commandKinds, clientKinds, misfitKinds)

// Kinds are the names of all kinds of faults, those outside of the assumptions last.
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
		case len(p.Kinds) == 0 && k.outside && !p.Outside:
		case k.needs > p.Nodes, k.ours && !p.ours():
		default:
			deck = append(deck, k)
		}
	}
	return deck
}

// Faults are the names of the kinds of faults that such a run inflicts, in the order of [Kinds].
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

// timely reports whether it can be demanded how soon names are granted.
func (p Plan) timely() bool {
	return !slices.ContainsFunc(p.deck(), func(k *kind) bool { return k.shuts })
}

// card is a fault to come: its kind, and the seed of all that is chosen in it.
type card struct {
	kind  *kind
	seed  uint64
	tries int // that had no effect
}

// mostTries is how often a fault is tried that has no effect: what it needs is not always there.
const mostTries = 5

// again is the card for another try.
func (c card) again() card {
	return card{c.kind, rand.New(rand.NewPCG(c.seed, 1)).Uint64(), c.tries + 1}
}

// deal is a round of faults: each kind once. Runs with the same kinds and the same seed are dealt the
// same rounds, whatever lock they are about.
func (a *arena) deal() (round []card) {
	for _, k := range a.plan.deck() {
		round = append(round, card{kind: k, seed: a.rng.Uint64()})
	}
	a.rng.Shuffle(len(round), func(i, j int) { round[i], round[j] = round[j], round[i] })
	return round
}

// torment inflicts faults until the time is over, and returns when the last has ended. Kinds come in
// rounds, in another order each time; faults overlap.
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
		// The first that can happen now; the others keep their places.
		pause := 50 * time.Millisecond
		for i, c := range round {
			if d := a.begin(c); d != nil {
				under.Go(func() { d.do() })
				round = slices.Delete(round, i, i+1)
				if c.tries == 0 { // another try is no fault more
					pause = between(a.rng, a.plan.Every/2, a.plan.Every*3/2)
				}
				break
			}
		}
		time.Sleep(min(pause, time.Until(until)))
	}
}

// begin lets a fault begin, if it can.
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
		// Also where a fault fails the test and ends its goroutine.
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

// outsideKinds are the faults of a run outside of the assumptions: most of those, and what may then do harm.
var outsideKinds = []string{
	"clocks of a majority step together", "clocks of a majority step each its own way", "FLUSHALL and a false voucher",
	"client killed", "client frozen", "server killed, AOF cut back", "partition",
}
