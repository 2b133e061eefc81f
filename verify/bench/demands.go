package main

import (
	"fmt"
	"math"
)

// demand is a bound for one figure, which the report checks.
type demand struct {
	workload string
	what     string
	system   string
	against  string // a rival; "best": the rival with the best m; "": the figure is m itself and not a ratio
	m        metric
	bound    float64
	atMost   bool
	than     string // another workload: the ratio of m here to m there must be 1 ± bound
}

var demands = append([]demand{
	{"distinct-1n-64g", "cycles/s", holdfastRueidis, redsyncRueidis, rate, 1.25, false, ""},
	{"distinct-1n-64g", "cycles/s", holdfastRueidis, bsmRedislock, rate, 1.3, false, ""},
	{"distinct-1n-64g", "cycles/s", holdfastRueidis, redsyncGoredis, rate, 1.7, false, ""},
	{"distinct-1n-64g", "client CPU per cycle", holdfastRueidis, redsyncRueidis, cpu, 0.5, true, ""},
	{"distinct-1n-64g", "cycles/s", holdfastPrivate, "best", rate, 1.15, false, ""},
	{"distinct-1n-1g", "median cycle", holdfastRueidis, "best", cycleP50, 0.9, true, ""},
	{"distinct-1n-1g-300us", "median cycle", holdfastRueidis, "best", cycleP50, 1.0, true, ""},
	{"distinct-1n-1g-asis", "median cycle", holdfastRueidis, "best", cycleP50, 1.25, true, ""},
	{"distinct-1n-1g", "median cycle", holdfastRueidis, limitScripts, cycleP50, 1.05, true, ""},
	{"distinct-5n-64g", "cycles/s", holdfastRueidis, redsyncGoredis, rate, 5, false, ""},
	{"distinct-5n-64g", "cycles/s", holdfastRueidis, redsyncRueidis, rate, 2.5, false, ""},
	{"distinct-5n-1g", "median cycle", holdfastRueidis, redsyncRueidis, cycleP50, 0.9, true, ""},
	{"distinct-5n-1g", "median cycle", holdfastRueidis, redsyncGoredis, cycleP50, 0.65, true, ""},
	{"distinct-1n-256g", "cycles/s", holdfastRueidis, limitScripts, rate, 1, false, ""},
	{"distinct-5n-256g", "cycles/s", holdfastRueidis, limitScripts, rate, 1, false, ""},
	{"distinct-1n-256g", "cycles/s", holdfastRueidis, limitTogether, rate, 0.6, false, ""},
	{"distinct-5n-256g", "cycles/s", holdfastRueidis, limitTogether, rate, 0.6, false, ""},
	{"hot-1n-0s", "hand-offs/s", holdfastRueidis, rueidisLock, rate, 1.5, false, ""},
	{"hot-1n-0s", "longest wait", holdfastRueidis, rueidisLock, longest, 0.25, true, ""},
	{"hot-1n-1ms", "hand-offs/s", holdfastRueidis, "best", rate, 1.0, false, ""},
	{"hot-5n-0s", "hand-offs/s", holdfastRueidis, "best", rate, 1.5, false, ""},
	{"hot-5n-0s", "longest wait", holdfastRueidis, "best", longest, 0.05, true, ""},
	{"sixteen-5n", "hand-offs/s", holdfastRueidis, redsyncRueidis, rate, 0.75, false, ""},
	{"sixteen-5n", "least served process against the mean", holdfastRueidis, "", leastOf, 0.6, false, ""},
	{"sixteen-5n", "longest wait", holdfastRueidis, redsyncRueidis, longest, 0.05, true, ""},
	{"loopers-5n", "least served process against the mean", holdfastRueidis, "", leastOf, 0.6, false, ""},
}, append(onesOwn(), ofReaders()...)...)

// onesOwn returns the demands on figures of Holdfast that no other system has.
func onesOwn() (list []demand) {
	own := func(workload, what string, m metric, atMost float64) {
		list = append(list, demand{workload: workload, what: what, system: holdfastRueidis, m: m, bound: atMost, atMost: true})
	}
	for _, n := range []string{"1n", "5n"} {
		pings := 3.0
		if n == "5n" {
			pings = 4.5 // the slowest node of a majority answers later than one node
		}
		for _, w := range waiters {
			name := fmt.Sprintf("handoffs-%s-%dw", n, w)
			own(name, "script calls per hand-off and node", handedCalls, 2.1)
			if w != waiters[0] {
				list = append(list, demand{workload: name, what: "script calls per hand-off", system: holdfastRueidis, m: handedCalls,
					than: fmt.Sprintf("handoffs-%s-%dw", n, waiters[0]), bound: 0.1})
			}
		}
		for _, w := range waiters {
			own(fmt.Sprintf("handoffs-%s-%dw", n, w), "gap p50 in PINGs of the same slice", gapInPings, pings)
		}
		own("passes-"+n+"-0s", "script calls per hand-off and node", handedCalls, 1.3)
		own("passes-"+n+"-held", "script calls per hand-off and node", handedCalls, 1.3)
		own("patience-"+n, "waiters' script calls per second and waiter, busiest node", waitersCalls, 1)
		// If all waiters asked at the same moment, the figure would be 4. If a quarter of them did, it would be 1.8.
		// Random times give 1.1.
		own("patience-"+n, "calls just after renewals against other times", renewalBurst, 1.5)
	}
	return list
}

// check returns the figure, and the system or workload that it is compared with. ok is false if it was not measured.
func (d demand) check(results []*result) (s spread, against string, ok bool) {
	for _, r := range results {
		if r.workload.name != d.workload {
			continue
		}
		against = d.against
		switch {
		case d.than != "":
			return r.against(results, d.than, d.system, d.m)
		case against == "":
			s = r.of(d.system, d.m)
		case against == "best":
			against = r.bestRival(d.m, d.atMost)
			fallthrough
		default:
			s = r.ratio(d.system, against, d.m)
		}
		return s, against, len(r.samples[d.system]) > 0 && (against == "" || len(r.samples[against]) > 0)
	}
	return s, against, false
}

func (d demand) met(s spread) bool {
	if d.than != "" {
		return math.Abs(s.median-1) <= d.bound
	}
	return d.atMost && s.median <= d.bound || !d.atMost && s.median >= d.bound
}

func (d demand) wanted() string {
	if d.than != "" {
		return fmt.Sprintf("1 ± %v", d.bound)
	}
	if d.atMost {
		return fmt.Sprintf("≤ %v", d.bound)
	}
	return fmt.Sprintf("≥ %v", d.bound)
}
