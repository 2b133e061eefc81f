package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// plan is what the command line asks for.
type plan struct {
	kind    string
	pace    pace
	quick   bool
	systems []*system
	only    *regexp.Regexp // of workload names
	quiet   float64        // a slice with a larger share of foreign CPU is taken again
	retakes *time.Duration // what is left for that
	out     string         // folder of the results; "" prints them
}

func command(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("say what to measure: all, distinct, hot, sixteen, loopers, profile or settings; see go doc")
	}
	p := plan{kind: args[0]}
	flags := flag.NewFlagSet("bench "+p.kind, flag.ContinueOnError)
	flags.BoolVar(&p.quick, "quick", false, "short slices, three repetitions")
	repetitions := flags.Int("reps", 0, "how many `repetitions`; 0 means 5, or 3 with -quick")
	length := flags.Duration("slice", 0, "how `long` a slice is, instead of the plan's")
	names := flags.String("systems", "", "take part: a `regexp` of system names; \"\" means all but the extra ones")
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
	p.pace = full
	if p.quick {
		p.pace = quick
		*retakes = min(*retakes, 15*time.Second)
	}
	if *repetitions > 0 {
		p.pace.repetitions = *repetitions
	}
	if *length > 0 {
		p.pace.distinct, p.pace.hot, p.pace.fair = *length, *length, *length
	}
	p.out, p.retakes = *out, retakes
	if p.out == "" && p.kind == "all" {
		p.out = "results"
	}
	var err error
	if p.only, err = regexp.Compile(*only); err != nil {
		return err
	}
	if p.systems, err = choose(*names); err != nil {
		return err
	}
	switch p.kind {
	case "settings":
		fmt.Print(settingsTable(systems))
		return nil
	case "profile":
		return prof.run()
	case "all", "distinct", "hot", "sixteen", "loopers":
		return p.run()
	}
	return fmt.Errorf("%q is none of all, distinct, hot, sixteen, loopers, profile, settings", p.kind)
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

func (p plan) run() error {
	about := look()
	begin := time.Now()
	var results []*result
	for _, group := range p.groups() {
		got, err := p.runGroup(group)
		if err != nil {
			return err
		}
		results = append(results, got...)
	}
	about.took = time.Since(begin)
	about.loadAfter = loadAverage()
	return p.report(about, results)
}

// groups puts the workloads that can share servers and processes together.
func (p plan) groups() (groups [][]workload) {
	for _, w := range workloads(p.pace) {
		if p.kind != "all" && w.kind != p.kind || !p.only.MatchString(w.name) {
			continue
		}
		if n := len(groups); n > 0 && groups[n-1][0].nodes == w.nodes && groups[n-1][0].processes == w.processes {
			groups[n-1] = append(groups[n-1], w)
		} else {
			groups = append(groups, []workload{w})
		}
	}
	return groups
}

func (p plan) runGroup(group []workload) (results []*result, err error) {
	servers, err := startServers(group[0].nodes)
	if err != nil {
		return nil, err
	}
	defer stopServers(servers)
	var urls []string
	for _, s := range servers {
		if err := s.fresh(context.Background()); err != nil {
			return nil, err
		}
		urls = append(urls, s.url())
	}
	if err := admit(urls); err != nil {
		return nil, err
	}
	teams := map[*system]*team{}
	defer func() {
		for _, t := range teams {
			t.end()
		}
	}()
	for _, s := range p.systems {
		if !group[0].takes(s) {
			continue
		}
		if teams[s], err = newTeam(s, group[0].processes, urls); err != nil {
			return nil, err
		}
	}
	for _, w := range group {
		r := &result{workload: w, samples: map[string][]sample{}}
		results = append(results, r)
		fmt.Fprintf(os.Stderr, "%s ", w.title)
		for range p.pace.repetitions {
			order := slices.SortedFunc(maps.Keys(teams), func(a, b *system) int { return strings.Compare(a.name, b.name) })
			rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
			for _, s := range order {
				x, err := p.take(teams[s], w, servers)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", w.name, err)
				}
				r.samples[s.name] = append(r.samples[s.name], x)
			}
			fmt.Fprint(os.Stderr, ".")
		}
		fmt.Fprintln(os.Stderr)
	}
	return results, nil
}

// take measures a slice; again if the machine was not ours, while there is time for it.
// It returns the quietest.
func (p plan) take(t *team, w workload, servers []*server) (sample, error) {
	best, err := measure(t, w, servers)
	for range 2 {
		if err != nil || best.Foreign <= p.quiet || *p.retakes <= 0 {
			break
		}
		begin := time.Now()
		var x sample
		if x, err = measure(t, w, servers); x.Foreign < best.Foreign {
			best = x
		}
		*p.retakes -= time.Since(begin)
	}
	return best, err
}

// measure runs one slice of one system.
func measure(t *team, w workload, servers []*server) (x sample, err error) {
	before := make([]tally, len(servers))
	for i, s := range servers {
		if before[i], err = s.tally(); err != nil {
			return x, err
		}
	}
	machine, own, begin := machineCPU(), ownCPU(), time.Now()
	outcomes, err := t.run(w.slice(t))
	if err != nil {
		return x, err
	}
	elapsed := time.Since(begin)
	foreign := machineCPU() - machine - (ownCPU() - own)
	var serverCPU time.Duration
	calls := map[string]int{}
	for i, s := range servers {
		after, err := s.tally()
		if err != nil {
			return x, err
		}
		serverCPU += after.CPU - before[i].CPU
		for c, n := range after.Calls {
			calls[c] += n - before[i].Calls[c]
		}
	}
	for _, o := range outcomes {
		foreign -= o.CPUAll
	}
	x = newSample(outcomes, len(servers), serverCPU, calls)
	x.Foreign = max(0, (foreign-serverCPU).Seconds()/elapsed.Seconds()/float64(runtime.NumCPU()))
	return x, nil
}
