package main

import (
	"regexp"
	"testing"
	"time"
)

func TestQuantilesOfAHistogramAreWithin3Percent(t *testing.T) {
	var h histogram
	for i := 1; i <= 10_000; i++ {
		h.add(time.Duration(i) * 10 * time.Microsecond)
	}
	for q, want := range map[float64]time.Duration{.5: 50 * time.Millisecond, .99: 99 * time.Millisecond, 1: 100 * time.Millisecond} {
		if got := h.quantile(q); got < want*97/100 || got > want*103/100 {
			t.Errorf("quantile %v is %v, want %v", q, got, want)
		}
	}
	if h.Longest != 100*time.Millisecond {
		t.Errorf("longest %v", h.Longest)
	}
	var sum histogram
	sum.merge(h)
	sum.merge(h)
	if sum.quantile(.5) != h.quantile(.5) {
		t.Errorf("twice the same has another median: %v", sum.quantile(.5))
	}
}

// If the machine is half as fast in one repetition, a ratio must not change.
func TestRatiosAreTakenWithinARepetition(t *testing.T) {
	r := &result{samples: map[string][]sample{
		holdfastRueidis: {{Rate: 300}, {Rate: 150}, {Rate: 330}},
		rueidisLock:     {{Rate: 200}, {Rate: 100}, {Rate: 200}},
		bsmRedislock:    {{Rate: 100}, {Rate: 190}, {Rate: 90}},
	}}
	if best := r.bestRival(rate, false); best != rueidisLock {
		t.Errorf("best is %s", best)
	}
	if got, want := r.ratio(holdfastRueidis, rueidisLock, rate), (spread{1.5, 1.5, 1.65}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := r.of(bsmRedislock, rate); got.median != 100 {
		t.Errorf("median %v", got.median)
	}
}

// Every demand names a workload and systems that exist. Otherwise a misspelled demand would never be checked.
func TestDemandsCanBeChecked(t *testing.T) {
	known := map[string]workload{}
	for _, kind := range []string{"all", "shared"} {
		for _, w := range (plan{kind: kind, pace: full, state: usual, only: regexp.MustCompile("")}).workloads() {
			known[w.name] = w
		}
	}
	for _, d := range demands {
		w, ok := known[d.workload]
		if !ok {
			t.Errorf("no workload %s", d.workload)
		}
		if _, ok := known[d.than]; !ok && d.than != "" {
			t.Errorf("%s: no workload %s", d.workload, d.than)
		}
		for _, name := range []string{d.system, d.against} {
			if name == "" || name == "best" {
				continue
			}
			if s, err := systemNamed(name); err != nil || !w.takes(s) {
				t.Errorf("%s: %s does not take part (%v)", d.workload, name, err)
			}
		}
	}
}

// A figure must be the same with 2 and 200 waiters. More than a tenth above fails, and so does more than a tenth below.
func TestADemandToBeAlikeHasTwoSides(t *testing.T) {
	calls := func(n ...float64) map[string][]sample {
		var list []sample
		for _, c := range n {
			list = append(list, sample{Handed: handed{Calls: c}})
		}
		return map[string][]sample{holdfastRueidis: list}
	}
	d := demand{workload: "many", than: "few", system: holdfastRueidis, m: handedCalls, bound: 0.1}
	few := &result{workload: workload{name: "few"}, samples: calls(3, 2, 4)}
	for _, c := range []struct {
		many []float64
		met  bool
	}{{[]float64{3.2, 2.1, 4.1}, true}, {[]float64{3.4, 2.3, 4.6}, false}, {[]float64{2.6, 1.7, 3.5}, false}} {
		s, against, ok := d.check([]*result{{workload: workload{name: "many"}, samples: calls(c.many...)}, few})
		if !ok || against != "few" || d.met(s) != c.met {
			t.Errorf("%v: %+v against %q, %v", c.many, s, against, ok)
		}
	}
	if _, _, ok := d.check([]*result{{workload: workload{name: "many"}, samples: calls(3)}}); ok {
		t.Error("checked against what was not measured")
	}
}
