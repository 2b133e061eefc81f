//go:build linux

package chaos

import (
	"testing"
	"time"
)

func TestReportsNameEachBrokenPromise(t *testing.T) {
	good := func() *Report {
		return &Report{Plan: Plan{TTL: 2 * time.Second, Window: 200 * time.Millisecond}.withDefaults(), LatestNotice: 821 * time.Millisecond, Grants: 1, Faults: map[string]int{aliased: 1}, MisfitsRefused: map[string]int{aliased: 1}, MisfitsGranted: map[string]int{}}
	}
	if list := good().Broken(); len(list) > 0 {
		t.Fatalf("a good report: %q", list)
	}
	for what, spoil := range map[string]func(*Report){
		"no lease":           func(r *Report) { r.Grants = 0 },
		"overlap":            func(r *Report) { r.Overlaps = 1 },
		"inversion":          func(r *Report) { r.Inversions = 1 },
		"guarded write":      func(r *Report) { r.Guarded.Lost = 1 },
		"counter write":      func(r *Report) { r.Counter.Lost = 1 },
		"starvation":         func(r *Report) { r.LongestWait = time.Hour },
		"no recovery":        func(r *Report) { r.Recovery = -1 },
		"slow recovery":      func(r *Report) { r.Slowest = r.bound() + 1 },
		"ghost":              func(r *Report) { r.Ghosts = []string{"x"} },
		"late notice":        func(r *Report) { r.LatestNotice = r.Plan.margin() },
		"untold":             func(r *Report) { r.Untold = 1 },
		"not linearizable":   func(r *Report) { r.Illegal = 1 },
		"not decided":        func(r *Report) { r.Unknown = 1 },
		"misfit not refused": func(r *Report) { r.MisfitsRefused = nil },
		"misfit granted":     func(r *Report) { r.MisfitsGranted[aliased] = 1 },
	} {
		r := good()
		if spoil(r); len(r.Broken()) != 1 {
			t.Errorf("%s: %q", what, r.Broken())
		}
	}
}

// A run in which a fault had no effect proves nothing about that fault.
func TestALongRunDemandsThatEachKindOfFaultTookEffect(t *testing.T) {
	for name, c := range map[string]struct {
		plan Plan
		want int
	}{
		"as published":                        {Plan{For: 30 * time.Minute}, 11},
		"as published, outside":               {Plan{For: 7*time.Minute + 30*time.Second, Kinds: outsideKinds}, 11},
		"the usual one":                       {Plan{For: 10 * time.Minute}, 3},
		"two rounds":                          {Plan{For: 2*29*5*time.Second + time.Second}, 1},
		"less than two":                       {Plan{For: 2 * time.Minute}, 0},
		"a short test":                        {short(15 * time.Second), 0},
		"faults as close as they can be":      {Plan{For: 2 * time.Minute, Every: time.Second}, 1},
		"one kind, more often than it may be": {Plan{For: time.Minute, Every: time.Second, Kinds: []string{"client killed"}}, 2},
	} {
		r := &Report{Plan: c.plan.withDefaults(), Grants: 1, Faults: map[string]int{}, MisfitsRefused: map[string]int{aliased: 1, fewer: 1, otherwise: 1}}
		if got := r.due(); got != c.want {
			t.Errorf("%s: each kind must take effect %d times, want %d", name, got, c.want)
		}
		for _, k := range r.Plan.Faults() {
			r.Faults[k] = c.want
		}
		if list := r.Broken(); len(list) > 0 {
			t.Errorf("%s, where each kind took effect as often as it had to: %q", name, list)
		}
		if c.want == 0 {
			continue
		}
		r.Faults[r.Plan.Faults()[0]]--
		if list := r.Broken(); len(list) != 1 {
			t.Errorf("%s, where one kind did not: %q", name, list)
		}
	}
}

func TestFaultsWithoutEffectAreNotCountedAmongThoseThatHadOne(t *testing.T) {
	a := &arena{plan: Plan{Kinds: []string{"FLUSHALL", "partition"}}.withDefaults(), injuries: []*injury{
		{Kind: "FLUSHALL", From: 1, Took: true},
		{Kind: "partition", From: 2},
		{Kind: "partition", From: 3, Again: true, Took: true},
		{Kind: "FLUSHALL", From: 4},
		{Kind: "FLUSHALL", From: 5, Again: true},
		{Kind: "partition", From: 6, Took: true},
	}}
	r := &Report{Plan: a.plan, Faults: map[string]int{}, Vain: map[string]int{}}
	a.happened(r)
	if r.Rounds != 2 || r.Faults["FLUSHALL"] != 1 || r.Faults["partition"] != 2 || r.Vain["FLUSHALL"] != 2 || r.Vain["partition"] != 1 {
		t.Errorf("%d rounds; took effect: %v; did not: %v", r.Rounds, r.Faults, r.Vain)
	}
	if got := a.blame(5); got != "during: partition" {
		t.Errorf("an overlap after two faults without effect is put down to %q", got)
	}
}

// Clocks that become wrong in turns may shut a name. This is known, so only the judges of beliefs check such a run.
func TestWhatShutsNamesIsJudgedByWhoBelieves(t *testing.T) {
	late := &Report{Plan: Plan{Kinds: []string{"wrong clocks take turns"}}.withDefaults(), Grants: 1, LongestWait: time.Hour, Recovery: -1, Slowest: time.Hour}
	if list := late.Broken(); len(list) > 0 {
		t.Errorf("names that stay shut: %q", list)
	}
	late.Overlaps, late.Inversions = 1, 1
	if list := late.Broken(); len(list) != 2 {
		t.Errorf("two believers, and tokens that fall: %q", list)
	}
}
