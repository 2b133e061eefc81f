package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// alike returns the first results that belong into one table.
func alike(results []*result) []*result {
	for i, r := range results {
		if r.workload.headline() != results[0].workload.headline() {
			return results[:i]
		}
	}
	return results
}

// comparisons returns the results that compare systems. A chart can show these.
func comparisons(results []*result) (list []*result) {
	for _, r := range results {
		if !r.workload.tokens {
			list = append(list, r)
		}
	}
	return list
}

func writeHandoffs(w io.Writer, results []*result) {
	fmt.Fprintf(w, `## %s

One name. A hand-off is a pair of leases that follow each other by their tokens; where each process has one goroutine only those
from process to process count. Calls are what INFO commandstats says of a node between two readings in the steady part of a slice, without the
INFO and PING of the bench; what PINGs remain are of client libraries, on idle connections. The gap lies between two processes, from before Unlock was called until Lock had returned, by
CLOCK_MONOTONIC. PING is bare, one at a time 2 to 6 ms apart on a connection of its own, p50: in the same slice, which is what the gap is
judged by; those of them sent while nobody had the lock; before the slice; and before it without pauses.

| who | system | hold | hand-offs/s | in a slice (within a process) | script calls per hand-off and node (EVALSHA + EVAL) | ZADD: questions of who waits, the first and repeated ones | PUBLISH | all commands but PING | gap p50, µs | p99 | PING in the slice, µs | of these in a gap | PING idle | without pauses | gap p50 in PINGs of the slice | in PINGs in a gap | in idle PINGs | gap p50 within a process, µs |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
`, results[0].workload.headline())
	h := func(f func(handed) float64) metric { return func(x sample) float64 { return f(x.Handed) } }
	for _, r := range results {
		for _, s := range systems {
			if len(r.samples[s.name]) == 0 {
				continue
			}
			of := func(f func(handed) float64) spread { return r.of(s.name, h(f)) }
			within := "–"
			if r.workload.goroutines > 1 {
				within = whole(of(func(x handed) float64 { return x.WithinGap }))
			}
			fmt.Fprintf(w, "| %s | %s | %v | %s | %.0f (%.0f) | %s | %.2f | %.2f | %.1f | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |%s\n",
				r.workload.title, s.name, r.workload.hold, whole(of(func(x handed) float64 { return x.Rate })),
				of(func(x handed) float64 { return float64(x.Between + x.Within) }).median, of(func(x handed) float64 { return float64(x.Within) }).median,
				ratios(r.of(s.name, handedCalls)), of(func(x handed) float64 { return x.By["zadd"] }).median, of(func(x handed) float64 { return x.By["publish"] }).median,
				of(func(x handed) float64 { return x.All }).median,
				whole(of(func(x handed) float64 { return x.Gap })), whole(of(func(x handed) float64 { return x.Gap99 })),
				whole(of(func(x handed) float64 { return x.Ping })), whole(of(func(x handed) float64 { return x.Meeting })), whole(of(func(x handed) float64 { return x.Idle })),
				whole(of(func(x handed) float64 { return x.Tight })),
				ratios(r.of(s.name, gapInPings)), ratios(of(func(x handed) float64 { return x.Gap / x.Meeting })), ratios(of(func(x handed) float64 { return x.Gap / x.Idle })), within,
				failures(r.samples[s.name]))
		}
	}
	fmt.Fprintln(w)
	for _, r := range results {
		for _, s := range systems {
			if all := r.samples[s.name]; len(all) > 0 {
				fmt.Fprintf(w, "- %s, held for %v, %s, the last slice: calls per hand-off and node: %s.\n",
					r.workload.title, r.workload.hold, s.name, byCommand(all[len(all)-1].Handed.By))
			}
		}
	}
	fmt.Fprintln(w)
}

func writePatience(w io.Writer, r *result) {
	fmt.Fprintf(w, `## %s, who holds it for %v

Calls are EVALSHA + EVAL by INFO commandstats, read every %v: from %v after all waiters asked at once until the release. Just after a
renewal means from %v before to %v after the holder's deadline was seen to move. The peak is what a node's busiest
%v have of its mean; calls that come independently of each other would make about what stands in brackets behind. Measured %s.

| system | calls per second and waiter, busiest node | of these, waiters' questions (ZADD) | in its busiest second | peak | renewals | calls just after them against other times | all had it once, s | served |
|---|---|---|---|---|---|---|---|---|
`, r.workload.title, r.workload.hold, every, settle, ahead, echo-ahead, every, times(r))
	e := func(f func(endured) float64) metric { return func(x sample) float64 { return f(x.Endured) } }
	var notes strings.Builder
	for _, s := range systems {
		all := r.samples[s.name]
		if len(all) == 0 {
			continue
		}
		of := func(f func(endured) float64) spread { return r.of(s.name, e(f)) }
		last := all[len(all)-1].Endured
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s × (%.2f) | %d | %s | %s | %d of %d |%s\n", s.name,
			thousandths(r.of(s.name, enduredCalls)), thousandths(r.of(s.name, waitersCalls)), ratios(of(func(x endured) float64 { return x.Second })),
			ratios(of(func(x endured) float64 { return x.Peak })), last.Chance, last.Renewed, ratios(r.of(s.name, renewalBurst)),
			ratios(of(func(x endured) float64 { return x.Drain.Seconds() })), last.Served, last.Waiters, failures(all))
		fmt.Fprintf(&notes, "- %s, calls per second, waiter and node, second by second: %s.\n", s.name, seconds(last.Seconds))
		fmt.Fprintf(&notes, "- %s, per second, waiter and node, by command: %s. PING is the client library's, on connections without traffic.\n", s.name, byCommand(last.By))
	}
	fmt.Fprintf(w, "\n%s\n", notes.String())
}

// byCommand lists calls by command, the most frequent first.
func byCommand(by map[string]float64) string {
	names := slices.SortedFunc(maps.Keys(by), func(a, b string) int {
		return cmp.Or(cmp.Compare(by[b], by[a]), cmp.Compare(a, b))
	})
	var list []string
	for _, n := range names {
		if by[n] >= 0.0005 {
			list = append(list, fmt.Sprintf("%s %.3f", n, by[n]))
		}
	}
	return strings.Join(list, ", ")
}

func seconds(list []float64) string {
	var words []string
	for _, x := range list {
		words = append(words, fmt.Sprintf("%.2f", x))
	}
	return strings.Join(words, " ")
}

func thousandths(s spread) string { return fmt.Sprintf("%.3f (%.3f–%.3f)", s.median, s.low, s.high) }

// times returns how often a result was measured, if it differs from the number in the heading.
func times(r *result) string {
	n := 0
	for _, all := range r.samples {
		n = max(n, len(all))
	}
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
