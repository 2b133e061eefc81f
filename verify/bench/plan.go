package main

import (
	"flag"
	"fmt"
	"regexp"
	"time"
)

// plan has the settings of the command line.
type plan struct {
	kind    string
	state   state
	pace    pace
	quick   bool
	reps    int            // repetitions; 0: as pace says
	hold    *time.Duration // the hold times of handoffs and patience; nil: those of the workload
	named   bool           // -systems is given
	systems []*system
	only    *regexp.Regexp // a pattern for the names of workloads
	quiet   float64        // a slice with a larger share of foreign CPU is repeated
	retakes *time.Duration // the remaining time for such repetitions
	out     string         // folder of the results; "" prints them
}

func command(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("what to measure is missing: all, distinct, hot, sixteen, loopers, handoffs, patience, shared, profile or settings; see go doc")
	}
	p := plan{kind: args[0]}
	flags := flag.NewFlagSet("bench "+p.kind, flag.ContinueOnError)
	flags.BoolVar(&p.quick, "quick", false, "short slices, three repetitions")
	flags.IntVar(&p.reps, "reps", 0, "the number of `repetitions`; 0 means 9, or 3 with -quick, and 1 for patience")
	length := flags.Duration("slice", 0, "the `length` of a slice; 0 means the length of the workload")
	names := flags.String("systems", "", "a `regexp` for the names of the systems that take part; \"\" means all except the extra ones")
	flags.Func("hold", "handoffs, patience: the `time` for which the lock is held, instead of 2ms and 1m", func(s string) error {
		d, err := time.ParseDuration(s)
		p.hold = &d
		return err
	})
	only := flags.String("only", "", "a `regexp` for the names of workloads, without their state, such as distinct-1n-64g")
	flags.Float64Var(&p.quiet, "quiet", 0.1, "repeat a slice, up to twice, if other programs used more than this `share` of the CPU")
	retakes := flags.Duration("retakes", 4*time.Minute, "the `time` for such repetitions at most")
	out := flags.String("out", "", "the `folder` for the results; by default all writes to results, and the other commands print")
	p.state.flags(flags)
	var prof profile
	prof.flags(flags)
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q: only flags may follow %s", flags.Arg(0), p.kind)
	}
	if p.hold != nil && p.kind != "handoffs" && p.kind != "patience" {
		return fmt.Errorf("-hold works with handoffs or patience, not with %s: their times are very different", p.kind)
	}
	if err := p.state.check(); err != nil {
		return err
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
	if p.kind == "shared" && *names == "" {
		*names = holdfastRueidis + "|" + holdfastReaders
	}
	if p.systems, err = choose(*names); err != nil {
		return err
	}
	switch p.kind {
	case "settings":
		fmt.Print(settingsTable(systems))
		return nil
	case "profile":
		return prof.run(p.state)
	case "all", "distinct", "hot", "sixteen", "loopers", "handoffs", "patience", "shared":
		return p.run()
	}
	return fmt.Errorf("%q is none of all, distinct, hot, sixteen, loopers, handoffs, patience, shared, profile, settings", p.kind)
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

// wants reports whether the command line asks for w. With -quick, "all" does not include patience, which takes a
// minute. It never includes shared, which compares other systems.
func (p plan) wants(w workload) bool {
	if p.kind == "all" {
		return p.only.MatchString(w.name) && !(p.quick && w.once) && w.kind != "shared"
	}
	return p.only.MatchString(w.name) && w.kind == p.kind
}

// takes reports whether workload w measures system s. Only systems with fencing tokens take part in a workload with
// tokens. These are the two drivers of Holdfast, and each starts hundreds of processes. So only the rueidis driver
// takes part, unless -systems is given.
func (p plan) takes(w workload, s *system) bool {
	return w.takes(s) && (!w.tokens || p.named || s.name == holdfastRueidis)
}

// workloads returns the workloads that the command line asks for, in its state. The command all also measures a lone
// caller in other states.
func (p plan) workloads() (list []workload) {
	var others []workload
	for _, w := range workloads(p.pace) {
		if !p.wants(w) {
			continue
		}
		list = append(list, w.in(p.state))
		if p.kind == "all" && p.state == usual && w.kind == "distinct" && w.goroutines == 1 {
			for _, s := range otherStates {
				others = append(others, w.in(s))
			}
		}
	}
	return append(list, others...)
}

// groups returns the workloads in groups. The workloads of one group share servers and processes.
func (p plan) groups() (groups [][]workload) {
	for _, w := range p.workloads() {
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

// many is the number of processes above which even idle processes load the machine, by keeping their connections alive.
const many = 100

// together reports whether two workloads can share servers and processes. A workload with tokens may use only a part of
// the processes; the others are then idle.
func together(a, b workload) bool {
	return a.nodes == b.nodes && a.state == b.state && a.tokens == b.tokens &&
		(a.processes == b.processes || a.tokens && (a.processes > many) == (b.processes > many))
}

// inTurn splits a group into sets of workloads that take turns within each repetition. A comparison of systems is a set
// with one workload. The workloads that the function ladder makes are one set, because they are compared with each
// other.
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
