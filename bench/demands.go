package main

import "fmt"

// demand is one figure the project has promised itself.
type demand struct {
	workload string
	what     string
	system   string
	against  string // a rival; "best": the best rival at m; "": m itself is the figure
	m        metric
	bound    float64
	atMost   bool
}

var demands = []demand{
	{"distinct-1n-64g", "cycles/s", holdfastRueidis, "best", rate, 1.0, false},
	{"distinct-1n-64g", "cycles/s", holdfastRueidis, bsmRedislock, rate, 1.3, false},
	{"distinct-1n-64g", "cycles/s", holdfastRueidis, redsyncGoredis, rate, 1.7, false},
	{"distinct-1n-64g", "client CPU per cycle", holdfastRueidis, "best", cpu, 0.6, true},
	{"distinct-1n-64g", "cycles/s", holdfastPrivate, "best", rate, 1.15, false},
	{"distinct-1n-1g", "median cycle", holdfastRueidis, "best", cycleP50, 1.1, true},
	{"distinct-5n-64g", "cycles/s", holdfastRueidis, redsyncGoredis, rate, 4, false},
	{"distinct-5n-64g", "cycles/s", holdfastRueidis, redsyncRueidis, rate, 2.2, false},
	{"distinct-5n-1g", "median cycle", holdfastRueidis, redsyncGoredis, cycleP50, 0.65, true},
	{"distinct-1n-256g", "cycles/s", holdfastRueidis, limitScripts, rate, 0.6, false},
	{"distinct-5n-256g", "cycles/s", holdfastRueidis, limitScripts, rate, 0.6, false},
	{"hot-1n-0s", "hand-offs/s", holdfastRueidis, rueidisLock, rate, 1.5, false},
	{"hot-1n-0s", "longest wait", holdfastRueidis, rueidisLock, longest, 0.25, true},
	{"hot-1n-1ms", "hand-offs/s", holdfastRueidis, "best", rate, 1.0, false},
	{"hot-5n-0s", "hand-offs/s", holdfastRueidis, "best", rate, 1.5, false},
	{"hot-5n-0s", "longest wait", holdfastRueidis, "best", longest, 0.05, true},
	{"sixteen-5n", "hand-offs/s", holdfastRueidis, "best", rate, 0.6, false},
	{"sixteen-5n", "least served process against the mean", holdfastRueidis, "", leastOf, 0.6, false},
	{"sixteen-5n", "longest wait", holdfastRueidis, "best", longest, 0.05, true},
	{"loopers-5n", "least served process against the mean", holdfastRueidis, "", leastOf, 0.6, false},
}

// check returns the figure and whom it was taken against; not ok if it was not measured.
func (d demand) check(results []*result) (s spread, against string, ok bool) {
	for _, r := range results {
		if r.workload.name != d.workload {
			continue
		}
		against = d.against
		switch against {
		case "":
			s = r.of(d.system, d.m)
		case "best":
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
	return d.atMost && s.median <= d.bound || !d.atMost && s.median >= d.bound
}

func (d demand) wanted() string {
	if d.atMost {
		return fmt.Sprintf("≤ %v", d.bound)
	}
	return fmt.Sprintf("≥ %v", d.bound)
}
