package main

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

func (p plan) run() error {
	about := look()
	begin := time.Now()
	var results []*result
	for _, group := range p.groups() {
		got, err := p.runGroup(group)
		results = append(results, got...)
		if err != nil {
			// An error must not lose the results of the other groups, which take up to twenty minutes.
			fmt.Fprintf(os.Stderr, "\nbench: %v\n", err)
			about.missed = append(about.missed, err)
		}
	}
	missed := errors.Join(about.missed...)
	switch {
	case len(results) == 0 && missed != nil:
		return errors.New("nothing was measured, see above")
	case len(results) == 0:
		return errors.New("-only or -systems leaves nothing to measure; handoffs and patience need systems with tokens")
	}
	about.took = time.Since(begin)
	about.loadAfter = loadAverage()
	if err := p.report(about, results); err != nil || missed == nil {
		return err
	}
	return errors.New("not everything was measured, see above and in the results")
}

// runGroup measures a group. An error says which part of the group is missing in the results.
func (p plan) runGroup(group []workload) (results []*result, err error) {
	on, err := newStage(group[0].nodes, group[0].state)
	if err != nil {
		return nil, err
	}
	defer on.end()
	teams := map[*system]*team{}
	defer func() {
		for _, t := range teams {
			t.end()
		}
	}()
	for _, s := range p.systems {
		if !p.takes(group[0], s) {
			continue
		}
		size, procs := 0, 0
		for _, w := range group {
			size = max(size, w.processes)
		}
		if group[0].tokens {
			procs = 2 // hundreds of processes with one thread per core would measure only the scheduler
		}
		if teams[s], err = newTeam(s, size, procs, on.urls); err != nil {
			return nil, err
		}
	}
	if len(teams) == 0 {
		return nil, nil // no system takes part
	}
	for _, set := range inTurn(group) {
		got, missed := p.runSet(set, teams, on)
		results = append(results, got...)
		err = errors.Join(err, missed)
	}
	return results, err
}

// runSet measures all systems with all workloads of a set, in a new order in each repetition. If a slice fails, the
// results are those of the complete repetitions before it.
func (p plan) runSet(set []workload, teams map[*system]*team, on *stage) (results []*result, err error) {
	for _, w := range set {
		results = append(results, &result{workload: w, samples: map[string][]sample{}})
	}
	fmt.Fprintf(os.Stderr, "%s ", set[0].headline())
	repetitions := p.pace.repetitions
	if set[0].once && p.reps == 0 {
		repetitions = 1
	}
	for done := range repetitions {
		for _, i := range rand.Perm(len(results)) {
			r := results[i]
			order := slices.SortedFunc(maps.Keys(teams), func(a, b *system) int { return strings.Compare(a.name, b.name) })
			rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
			for _, s := range order {
				x, err := p.take(teams[s], r.workload, on)
				if err != nil {
					return firstOf(results, done), fmt.Errorf("%d of %d repetitions of %q, then %s: %w", done, repetitions, set[0].headline(), r.workload.name, err)
				}
				r.samples[s.name] = append(r.samples[s.name], x)
			}
		}
		fmt.Fprint(os.Stderr, ".")
	}
	fmt.Fprintln(os.Stderr)
	return results, nil
}

// firstOf returns the results of the first n repetitions.
func firstOf(results []*result, n int) []*result {
	if n == 0 {
		return nil
	}
	for _, r := range results {
		for name, all := range r.samples {
			r.samples[name] = all[:n]
		}
	}
	return results
}

// take measures a slice. It repeats a slice with too much foreign CPU while there is time for that, and returns the
// sample with the least foreign CPU.
func (p plan) take(t *team, w workload, on *stage) (sample, error) {
	best, err := measure(t, w, on)
	for range 4 {
		if !errors.Is(err, errLate) {
			break
		}
		best, err = measure(t, w, on)
	}
	for range 2 {
		// The workload "patience", which takes a minute, is not repeated: it counts calls, and the CPU time of other
		// programs does not change these counts.
		if err != nil || w.once || best.Foreign <= p.quiet || *p.retakes <= 0 {
			break
		}
		begin := time.Now()
		var x sample
		if x, err = measure(t, w, on); err == nil && x.Foreign < best.Foreign {
			best = x
		}
		*p.retakes -= time.Since(begin)
	}
	return best, err
}

// measure runs one slice of one system.
func measure(t *team, w workload, on *stage) (x sample, err error) {
	switch {
	case w.once:
		return measurePatience(t, w, on)
	case w.tokens:
		return measureHandoffs(t, w, on)
	}
	x, _, err = account(on, func() ([]outcome, error) { return t.run(w.slice(t)) })
	return x, err
}

// account runs a slice. It makes a sample from the outcomes and from the work of the servers and the machine in that
// time.
func account(on *stage, slice func() ([]outcome, error)) (x sample, outcomes []outcome, err error) {
	before := make([]tally, len(on.servers))
	for i, s := range on.servers {
		if before[i], err = s.tally(); err != nil {
			return x, nil, err
		}
	}
	machine, own, others, begin := machineCPU(), ownCPU(), on.cpu(), time.Now()
	outcomes, err = slice()
	if err != nil {
		return x, nil, err
	}
	elapsed := time.Since(begin)
	foreign := machineCPU() - machine - (ownCPU() - own) - (on.cpu() - others)
	var serverCPU time.Duration
	calls := map[string]int{}
	for i, s := range on.servers {
		after, err := s.tally()
		if err != nil {
			return x, nil, err
		}
		serverCPU += after.CPU - before[i].CPU
		for c, n := range after.Calls {
			calls[c] += n - before[i].Calls[c]
		}
	}
	for _, o := range outcomes {
		foreign -= o.CPUAll
	}
	x = newSample(outcomes, len(on.servers), serverCPU, calls)
	x.Foreign = max(0, (foreign-serverCPU).Seconds()/elapsed.Seconds()/float64(runtime.NumCPU()))
	return x, outcomes, nil
}
