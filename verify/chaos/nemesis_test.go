//go:build linux

package chaos

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"
)

// Different locks are compared under the same run. The comparison is valid because each lock gets the same faults, and
// each kind of fault equally often.
func TestRunsWithOneSeedAreDealtTheSameFaults(t *testing.T) {
	rounds := func(p Plan) (list []card) {
		a := &arena{plan: p.withDefaults(), rng: rand.New(rand.NewPCG(p.Seed, 0))}
		for range 3 {
			list = append(list, a.deal()...)
		}
		return list
	}
	redsync, common := Plan{Locker: "redsync", Seed: 1}, Plan{Locker: "redsync"}.Faults()
	holdfast := rounds(Plan{Locker: "holdfast", Seed: 1, Kinds: common})
	if !slices.Equal(rounds(redsync), holdfast) {
		t.Error("two locks are dealt different faults")
	}
	if slices.Equal(rounds(Plan{Locker: "redsync", Seed: 2}), holdfast) {
		t.Error("two seeds deal the same faults")
	}
	dealt := map[string]int{}
	for _, c := range holdfast {
		dealt[c.kind.name]++
	}
	for _, k := range common {
		if dealt[k] != 3 {
			t.Errorf("%s was dealt %d times in three rounds", k, dealt[k])
		}
	}
}

// A run of another lock leaves out faults that only Holdfast can answer. A run without a minority of nodes leaves out
// faults that need one.
func TestFaultsThatDoNotApplyAreLeftOut(t *testing.T) {
	for _, c := range []struct {
		plan Plan
		kind string
		want bool
	}{
		{Plan{Locker: "holdfast"}, otherwise, true},
		{Plan{Locker: "redsync"}, otherwise, false},
		{Plan{Locker: "redsync"}, "clock steps", true},
		{Plan{Locker: "plain", Nodes: 1}, "clock steps", false},
		{Plan{Locker: "plain", Nodes: 1}, "FLUSHALL", true},
		{Plan{Locker: "plain", Nodes: 1}, "some keys evicted", true},
		{Plan{Locker: "holdfast"}, "FLUSHALL and a false voucher", false},
	} {
		if got := slices.Contains(c.plan.Faults(), c.kind); got != c.want {
			t.Errorf("%s with %d nodes, %s: %t, want %t", c.plan.Locker, c.plan.Nodes, c.kind, got, c.want)
		}
	}
}

// Each dealt fault can begin. A fault without a target would wait forever, and its round would wait too.
func TestEachFaultThatIsDealtCanBegin(t *testing.T) {
	for _, nodes := range []int{1, 2, 3, 5} {
		p := Plan{Locker: "plain", Nodes: nodes, Outside: true}.withDefaults()
		for _, k := range p.deck() {
			for seed := range uint64(200) {
				a := &arena{plan: p, slots: []*process{{}, {}}}
				for range nodes {
					a.nodes = append(a.nodes, &node{})
				}
				if k.begin(a, rand.New(rand.NewPCG(seed, 0))) == nil {
					t.Errorf("%s, seed %d: it finds nobody to hit among %d nodes that are all free", k.name, seed, nodes)
					break
				}
			}
		}
	}
}

// The conditions of a fault are not always true: perhaps no client is connected, or no key is evictable. The fault then
// comes again with other choices, and the later faults stay the same.
func TestAFaultWithoutEffectIsTriedAgain(t *testing.T) {
	old := kinds
	t.Cleanup(func() { kinds = old })
	tries := map[string]int{}
	var mu sync.Mutex
	fault := func(name string, from int) kind {
		return kind{name: name, begin: func(*arena, *rand.Rand) *deed {
			return &deed{do: func() bool {
				mu.Lock()
				defer mu.Unlock()
				tries[name]++
				return tries[name] >= from
			}}
		}}
	}
	kinds = []kind{fault("at once", 1), fault("the third time", 3), fault("never", 1<<30)}
	p := Plan{Locker: "plain", Seed: 1, Every: time.Minute}.withDefaults()
	a := &arena{t: t, plan: p, rng: rand.New(rand.NewPCG(p.Seed, 0))}
	for round := a.deal(); len(round) > 0; round, a.again = append(round[1:], a.again...), nil {
		a.begin(round[0]).do()
	}
	if tries["at once"] != 1 || tries["the third time"] != 3 || tries["never"] != mostTries {
		t.Errorf("tried: %v; the last is given up after %d", tries, mostTries)
	}
	r := &Report{Plan: p, Faults: map[string]int{}, Vain: map[string]int{}}
	a.happened(r)
	if r.Rounds != 1 || r.Faults["at once"] != 1 || r.Faults["the third time"] != 1 || r.Faults["never"] != 0 || r.Vain["never"] != mostTries {
		t.Errorf("%d rounds; took effect: %v; did not: %v", r.Rounds, r.Faults, r.Vain)
	}
}
