//go:build linux

package chaos

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Locks are compared under the same run: that they are dealt the same faults, and each kind equally often, is what
// makes the comparison one.
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

// What only Holdfast has an answer to, and what needs a minority, is not inflicted where there is none.
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

// A fault that is dealt is drawn once: one that hits nobody would wait for ever, and its round with it.
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
