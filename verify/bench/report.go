package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// report writes the results as a file and a chart in p.out, or as text to stdout.
func (p plan) report(a about, results []*result) error {
	if p.out == "" {
		p.write(os.Stdout, a, results, "")
		return nil
	}
	if err := os.MkdirAll(p.out, 0o755); err != nil {
		return err
	}
	base := a.date.Format("2006-01-02")
	if p.quick {
		base += "-quick"
	}
	if err := chart(filepath.Join(p.out, base+".svg"), comparisons(results)); err != nil {
		return fmt.Errorf("chart: %w", err)
	}
	var text strings.Builder
	p.write(&text, a, results, base+".svg")
	name := filepath.Join(p.out, base+".md")
	fmt.Fprintln(os.Stderr, "written:", name)
	return os.WriteFile(name, []byte(text.String()), 0o644)
}

func (p plan) write(w io.Writer, a about, results []*result, chart string) {
	fmt.Fprintf(w, "# Measured %s\n\n", a.date.Format("2006-01-02 15:04 MST"))
	for _, line := range a.lines() {
		fmt.Fprintln(w, "-", line)
	}
	fmt.Fprintf(w, "- %s. The titles below name any other state.\n", p.state)
	fmt.Fprintf(w, "- %d repetitions, the systems in turn within each, in a new order each time. Figures are the median, and in brackets the lowest and the highest of all repetitions. A ratio is taken within a repetition.\n", p.pace.repetitions)
	fmt.Fprintf(w, "- Noise: %s of the machine's CPU was used by nobody of this bench (or taken by its host). A slice with more than %.0f %% was taken again, up to twice, within a limit on the time that takes.\n", shares(noise(results)), 100*p.quiet)
	fmt.Fprintf(w, "- Made by `%s`; see [performance.md](../../../docs/results/performance.md).\n\n", strings.Join(append([]string{"go run ."}, os.Args[1:]...), " "))
	if chart != "" && len(comparisons(results)) > 0 {
		fmt.Fprintf(w, "![chart](%s)\n\n", chart)
	}
	writeDemands(w, results)
	for i, r := range results {
		switch {
		case r.workload.kind == "handoffs":
			if i == 0 || results[i-1].workload.headline() != r.workload.headline() {
				writeHandoffs(w, alike(results[i:]))
			}
		case r.workload.once:
			writePatience(w, r)
		case r.workload.hot:
			writeHot(w, r)
		default:
			writeDistinct(w, r)
		}
	}
	fmt.Fprintf(w, "## Settings\n\n%s", settingsTable(p.systems))
}

// noise returns the share of foreign CPU, over all slices.
func noise(results []*result) spread {
	var all []float64
	for _, r := range results {
		for name := range r.samples {
			all = append(all, r.values(name, func(x sample) float64 { return x.Foreign })...)
		}
	}
	return spreadOf(all)
}

func writeDemands(w io.Writer, results []*result) {
	fmt.Fprintf(w, "## What is demanded\n\n| workload | figure | against | measured | wanted | met |\n|---|---|---|---|---|---|\n")
	for _, d := range demands {
		s, against, ok := d.check(results)
		if !ok {
			continue
		}
		met := "**no**"
		if d.met(s) {
			met = "yes"
		}
		if against == "" && d.than == "" {
			against = "itself"
		}
		fmt.Fprintf(w, "| %s | %s, %s | %s | %s | %s | %s |\n", d.workload, d.system, d.what, against, beside(s, d.bound), d.wanted(), met)
	}
	fmt.Fprintln(w)
}

func writeDistinct(w io.Writer, r *result) {
	best := r.bestRival(rate, false)
	lean := r.bestRival(cpu, true)
	fmt.Fprintf(w, "## %s\n\n", r.workload.title)
	fmt.Fprintf(w, "| system | cycles/s | × %s | client CPU per cycle, µs | × %s | server CPU per cycle, µs | commands per cycle and node (script calls) | cycle p50, µs | p99 | lock p50, µs |\n|---|---|---|---|---|---|---|---|---|---|\n", best, lean)
	for _, s := range systems {
		if len(r.samples[s.name]) == 0 {
			continue
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %.1f | %.1f (%.1f) | %s | %s | %s |%s\n", s.name,
			whole(r.of(s.name, rate)), ratios(r.ratio(s.name, best, rate)),
			tenths(r.of(s.name, cpu)), ratios(r.ratio(s.name, lean, cpu)),
			r.of(s.name, func(x sample) float64 { return x.ServerCPU }).median,
			r.of(s.name, func(x sample) float64 { return x.Commands }).median,
			r.of(s.name, func(x sample) float64 { return x.Scripts }).median,
			whole(r.of(s.name, cycleP50)), whole(r.of(s.name, func(x sample) float64 { return x.CycleP99 })),
			whole(r.of(s.name, func(x sample) float64 { return x.LockP50 })), failures(r.samples[s.name]))
	}
	fmt.Fprintln(w)
}

func writeHot(w io.Writer, r *result) {
	best := r.bestRival(rate, false)
	shortest := r.bestRival(longest, true)
	fmt.Fprintf(w, "## %s\n\n", r.workload.title)
	fmt.Fprintf(w, "| system | hand-offs/s | × %s | longest wait, ms | × %s | wait p50, ms | p99 | least served process / mean | goroutines never served | script calls per hand-off and node | client CPU per hand-off, µs |\n|---|---|---|---|---|---|---|---|---|---|---|\n", best, shortest)
	ms := func(m metric) metric { return func(x sample) float64 { return m(x) / 1e3 } }
	for _, s := range systems {
		if len(r.samples[s.name]) == 0 {
			continue
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %.2f | %.1f | %s | %.0f | %.2f | %.0f |%s\n", s.name,
			whole(r.of(s.name, rate)), ratios(r.ratio(s.name, best, rate)),
			tenths(r.of(s.name, ms(longest))), ratios(r.ratio(s.name, shortest, longest)),
			r.of(s.name, ms(func(x sample) float64 { return x.LockP50 })).median,
			r.of(s.name, ms(func(x sample) float64 { return x.LockP99 })).median,
			shares(r.of(s.name, leastOf)),
			r.of(s.name, func(x sample) float64 { return float64(x.Unserved) }).median,
			r.of(s.name, func(x sample) float64 { return x.Scripts }).median, r.of(s.name, cpu).median,
			failures(r.samples[s.name]))
	}
	fmt.Fprintln(w)
}

// failures returns a note for the end of a row if calls failed, because then the rate is not valid.
func failures(samples []sample) string {
	n, why := 0, ""
	for _, x := range samples {
		n += x.Failed
		if x.Error != "" {
			why = x.Error
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" %d calls failed: %s |", n, why)
}

func whole(s spread) string  { return fmt.Sprintf("%.0f (%.0f–%.0f)", s.median, s.low, s.high) }
func tenths(s spread) string { return fmt.Sprintf("%.1f (%.1f–%.1f)", s.median, s.low, s.high) }
func ratios(s spread) string { return fmt.Sprintf("%.2f (%.2f–%.2f)", s.median, s.low, s.high) }
func shares(s spread) string {
	return fmt.Sprintf("%.0f %% (%.0f–%.0f)", 100*s.median, 100*s.low, 100*s.high)
}

func settingsTable(list []*system) string {
	var b strings.Builder
	b.WriteString("| system | settings |\n|---|---|\n")
	for _, s := range list {
		fmt.Fprintf(&b, "| %s: %s | %s |\n", s.name, s.title, s.settings)
	}
	return b.String()
}

// beside prints a figure with enough digits to show on which side of its bound it lies.
func beside(s spread, bound float64) string {
	if math.Abs(s.median-bound) < 0.005 {
		return thousandths(s)
	}
	return ratios(s)
}
