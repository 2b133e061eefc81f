package main

import (
	"flag"
	"fmt"
	"regexp"
	"time"
)

// plan is what the command line asks for.
type plan struct {
	kind    string
	pace    pace
	quick   bool
	reps    int            // 0: the pace's
	hold    *time.Duration // of handoffs and patience; nil: the workload's
	named   bool           // the systems were chosen
	systems []*system
	only    *regexp.Regexp // of workload names
	quiet   float64        // a slice with a larger share of foreign CPU is taken again
	retakes *time.Duration // what is left for that
	out     string         // folder of the results; "" prints them
}

func command(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("say what to measure: all, distinct, hot, sixteen, loopers, handoffs, patience, profile or settings; see go doc")
	}
	p := plan{kind: args[0]}
	flags := flag.NewFlagSet("bench "+p.kind, flag.ContinueOnError)
	flags.BoolVar(&p.quick, "quick", false, "short slices, three repetitions")
	flags.IntVar(&p.reps, "reps", 0, "how many `repetitions`; 0 means 5, or 3 with -quick, and 1 of patience")
	length := flags.Duration("slice", 0, "how `long` a slice is, instead of the plan's")
	names := flags.String("systems", "", "take part: a `regexp` of system names; \"\" means all but the extra ones")
	flags.Func("hold", "handoffs, patience: hold the lock for so `long` instead of 2ms and 1m", func(s string) error {
		d, err := time.ParseDuration(s)
		p.hold = &d
		return err
	})
	only := flags.String("only", "", "a `regexp` of workload names, such as distinct-1n-64g")
	flags.Float64Var(&p.quiet, "quiet", 0.1, "take a slice again, up to twice, if others used more than this `share` of the CPU meanwhile")
	retakes := flags.Duration("retakes", 4*time.Minute, "spend at most this `long` on that")
	out := flags.String("out", "", "`folder` to write results to; all writes to results by default, the others print")
	var prof profile
	prof.flags(flags)
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q: flags come after %s, and nothing after them", flags.Arg(0), p.kind)
	}
	if p.hold != nil && p.kind != "handoffs" && p.kind != "patience" {
		return fmt.Errorf("-hold is for handoffs or patience, which hold a lock for very different times, not for %s", p.kind)
	}
	p.pace = full
	if p.quick {
		p.pace = quick
		*retakes = min(*retakes, 15*time.Second)
	}
	if p.reps > 0 {
		p.pace.repetitions = p.reps
	}
	if *length > 0 {
		p.pace.distinct, p.pace.hot, p.pace.fair = *length, *length, *length
		p.pace.ladder, p.pace.crowd = *length, *length
	}
	p.out, p.retakes = *out, retakes
	if p.out == "" && p.kind == "all" {
		p.out = "results"
	}
	var err error
	if p.only, err = regexp.Compile(*only); err != nil {
		return err
	}
	p.named = *names != ""
	if p.systems, err = choose(*names); err != nil {
		return err
	}
	switch p.kind {
	case "settings":
		fmt.Print(settingsTable(systems))
		return nil
	case "profile":
		return prof.run()
	case "all", "distinct", "hot", "sixteen", "loopers", "handoffs", "patience":
		return p.run()
	}
	return fmt.Errorf("%q is none of all, distinct, hot, sixteen, loopers, handoffs, patience, profile, settings", p.kind)
}

func choose(names string) (chosen []*system, err error) {
	pattern, err := regexp.Compile("^(" + names + ")$")
	if err != nil {
		return nil, err
	}
	for _, s := range systems {
		if names == "" && !s.extra || names != "" && pattern.MatchString(s.name) {
			chosen = append(chosen, s)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("-systems %q matches none; see: bench settings", names)
	}
	return chosen, nil
}

// wants reports whether w is asked for. Who is in a hurry does not want to wait a minute
// for patience, unless that is what was asked for.
func (p plan) wants(w workload) bool {
	if p.kind == "all" {
		return p.only.MatchString(w.name) && !(p.quick && w.once)
	}
	return p.only.MatchString(w.name) && w.kind == p.kind
}

// takes reports whether s is measured with w. Where there is nobody to compare with, one
// driver is enough unless more are named: hundreds of processes are started for each.
func (p plan) takes(w workload, s *system) bool {
	return w.takes(s) && (!w.tokens || p.named || s.name == holdfastRueidis)
}

// groups puts the workloads that can share servers and processes together.
func (p plan) groups() (groups [][]workload) {
	for _, w := range workloads(p.pace) {
		if !p.wants(w) {
			continue
		}
		if p.hold != nil && w.tokens && w.hold > 0 {
			w.hold = *p.hold
		}
		if n := len(groups); n > 0 && together(groups[n-1][0], w) {
			groups[n-1] = append(groups[n-1], w)
		} else {
			groups = append(groups, []workload{w})
		}
	}
	return groups
}

// many is when processes are so many that they load the machine with keeping their
// connections alive, although they do nothing.
const many = 100

// together reports whether workloads can have the same servers and processes. Those with
// tokens use as many of a team as they need; the few others idle meanwhile.
func together(a, b workload) bool {
	return a.nodes == b.nodes && a.tokens == b.tokens &&
		(a.processes == b.processes || a.tokens && (a.processes > many) == (b.processes > many))
}

// inTurn splits a group into those that take turns within each repetition. Comparisons
// are of systems, one workload after the other; the ladder is compared with itself.
func inTurn(group []workload) (sets [][]workload) {
	for i, w := range group {
		if i > 0 && w.tokens && w.kind == group[i-1].kind {
			sets[len(sets)-1] = append(sets[len(sets)-1], w)
		} else {
			sets = append(sets, []workload{w})
		}
	}
	return sets
}
