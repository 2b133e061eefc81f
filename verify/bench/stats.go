package main

import (
	"slices"
	"time"
)

// sample has the figures of one system in one slice.
type sample struct {
	Rate      float64 // cycles per second
	CPU       float64 // µs of the workers per cycle
	ServerCPU float64 // µs of all servers per cycle
	Scripts   float64 // script calls per cycle and node
	Commands  float64 // commands per cycle and node, including commands inside scripts
	CycleP50  float64 // µs
	CycleP99  float64
	LockP50   float64
	LockP99   float64
	Longest   float64 // µs: the longest wait for the lock
	Least     float64 // the cycles of the least served process (in sixteen: goroutine), divided by the mean
	Unserved  int     // goroutines that never had the lock
	Failed    int
	Foreign   float64 // the share of the machine's CPU that other programs used
	Error     string

	Handed  handed  // only for workloads of the kind handoffs
	Endured endured // only for workloads of the kind patience
}

func newSample(outcomes []outcome, nodes int, serverCPU time.Duration, calls map[string]int) sample {
	var lock, cycle histogram
	var cpu time.Duration
	var x sample
	total, all, least := 0, 0, -1
	for _, o := range outcomes {
		lock.merge(o.Lock)
		cycle.merge(o.Cycle)
		cpu += o.CPU
		n := o.total()
		total, all = total+n, all+o.All
		if least < 0 || n < least {
			least = n
		}
		for _, c := range o.Cycles {
			if c == 0 {
				x.Unserved++
			}
		}
		x.Failed += o.Failed
		if o.Error != "" {
			x.Error = o.Error
		}
	}
	x.LockP50, x.LockP99, x.Longest = micros(lock.quantile(.5)), micros(lock.quantile(.99)), micros(lock.Longest)
	if total == 0 {
		return x
	}
	x.Rate = float64(total) / outcomes[0].Seconds
	x.CPU = micros(cpu) / float64(total)
	x.ServerCPU = micros(serverCPU) / float64(all)
	per := float64(all * nodes)
	x.Scripts = float64(calls["evalsha"]+calls["eval"]) / per
	for c, n := range calls {
		if c != "info" {
			x.Commands += float64(n) / per
		}
	}
	x.CycleP50, x.CycleP99 = micros(cycle.quantile(.5)), micros(cycle.quantile(.99))
	x.Least = float64(least) * float64(len(outcomes)) / float64(total)
	return x
}

// result has the samples of one workload: for each system one per repetition.
type result struct {
	workload workload
	samples  map[string][]sample
}

// spread is a median, with the lowest and highest value.
type spread struct{ low, median, high float64 }

func spreadOf(values []float64) spread {
	if len(values) == 0 {
		return spread{}
	}
	s := slices.Sorted(slices.Values(values))
	n := len(s)
	return spread{s[0], (s[(n-1)/2] + s[n/2]) / 2, s[n-1]}
}

type metric func(sample) float64

func (r *result) of(system string, m metric) spread { return spreadOf(r.values(system, m)) }

func (r *result) values(system string, m metric) (values []float64) {
	for _, x := range r.samples[system] {
		values = append(values, m(x))
	}
	return values
}

// ratio returns a's m divided by b's m, computed within each repetition.
func (r *result) ratio(a, b string, m metric) spread {
	return quotients(r.values(a, m), r.values(b, m))
}

// against compares two workloads of one system: for each repetition it divides the metric m in r by the metric m in
// other.
func (r *result) against(results []*result, other, system string, m metric) (s spread, than string, ok bool) {
	for _, o := range results {
		if o.workload.name == other && len(o.samples[system]) > 0 && len(r.samples[system]) > 0 {
			return quotients(r.values(system, m), o.values(system, m)), other, true
		}
	}
	return s, other, false
}

func quotients(x, y []float64) spread {
	var q []float64
	for i := range min(len(x), len(y)) {
		if y[i] != 0 {
			q = append(q, x[i]/y[i])
		}
	}
	return spreadOf(q)
}

// bestRival returns the rival with the largest median of m, or with the smallest.
func (r *result) bestRival(m metric, smallest bool) string {
	best := ""
	for _, s := range systems {
		if !s.rival || len(r.samples[s.name]) == 0 {
			continue
		}
		x, y := r.of(s.name, m).median, 0.0
		if best != "" {
			y = r.of(best, m).median
		}
		if best == "" || (x > y) != smallest && x != y {
			best = s.name
		}
	}
	return best
}

func rate(x sample) float64     { return x.Rate }
func cpu(x sample) float64      { return x.CPU }
func cycleP50(x sample) float64 { return x.CycleP50 }
func longest(x sample) float64  { return x.Longest }
func leastOf(x sample) float64  { return x.Least }

func handedCalls(x sample) float64  { return x.Handed.Calls }
func gapInPings(x sample) float64   { return x.Handed.inPings() }
func enduredCalls(x sample) float64 { return x.Endured.Mean }
func waitersCalls(x sample) float64 { return x.Endured.Asked }
func renewalBurst(x sample) float64 { return x.Endured.Renewal }
