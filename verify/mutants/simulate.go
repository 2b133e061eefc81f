package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"
)

const (
	simPkg    = "verify/sim"
	simTest   = "TestPromisesHoldInSimulatedWorlds"
	simWithin = 20 * time.Minute // for one weakening
)

// simulate runs the weakenings whose names match, from the world of seed first on. Each has at most attempts simulated
// attempts, or its own number. It prints a table with the number of attempts until a promise broke.
func simulate(ctx context.Context, b *bench, which *regexp.Regexp, attempts, first int) error {
	if attempts < 1 || first < 1 {
		return fmt.Errorf("%d attempts from seed %d on: want at least 1 of both", attempts, first)
	}
	start, found, missed := time.Now(), 0, 0
	fmt.Printf(simRow, "WEAKENED", "FILE", "FOUND AFTER", "WHAT BROKE")
	for _, s := range allInSimulation() {
		if !which.MatchString(s.name) || ctx.Err() != nil {
			continue
		}
		f, err := b.simulated(ctx, s, max(attempts, s.attempts), first)
		switch {
		case err != nil:
			missed++
			fmt.Printf("%s: %s: %v\n", s.name, s.file, err)
		case f.broke != "":
			found++
			fmt.Printf(simRow, s.name, s.file, f.attempts+" attempts", f.broke)
		case s.unseen != "":
			fmt.Printf(simRow, s.name, s.file, "not found", "as expected: "+s.unseen)
		default:
			missed++
			fmt.Printf(simRow, s.name, s.file, "NOT FOUND", "within "+f.attempts+" attempts")
		}
	}
	fmt.Printf("%d found in %s\n", found, time.Since(start).Round(time.Second))
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case missed > 0:
		return fmt.Errorf("%d weakenings were not found in as many attempts as they have, from seed %d on", missed, first)
	}
	return nil
}

const simRow = "%-54s %-34s %-16s %s\n"

// finding is the simulation's result for a weakening.
type finding struct {
	attempts string // the number of attempts until the promise broke
	broke    string // the first promise broken; "" if none was
}

var (
	simFound = regexp.MustCompile(`within (\d+) attempts in \d+ worlds:`)
	simBroke = regexp.MustCompile(`seed \d+ breaks a promise; .*\n\s*\S+\.go:\d+: (.*)`)
	simHeld  = regexp.MustCompile(`(\d+) attempts \(`)
)

// simulated runs the simulation with a weakening.
func (b *bench) simulated(ctx context.Context, s simulated, attempts, first int) (f finding, err error) {
	m := mutant{
		name: s.name, file: s.file, old: s.old, new: s.new, pkg: simPkg, check: simTest, within: simWithin,
		args: fmt.Sprintf("-sim.n %d -sim.first %d -sim.shrink 0", attempts, first),
	}
	binary, err := b.buildWeak(ctx, m)
	if err != nil {
		return f, err
	}
	defer os.Remove(binary)
	r, err := b.run(ctx, binary, m)
	if err != nil {
		return f, err
	}
	if !r.failed {
		held := simHeld.FindStringSubmatch(r.output)
		if held == nil {
			return f, fmt.Errorf("cannot read what the simulation said:\n%s", tail(r.output, 2000))
		}
		return finding{attempts: held[1]}, nil
	}
	n, what := simFound.FindStringSubmatch(r.output), simBroke.FindStringSubmatch(r.output)
	if n == nil || what == nil {
		return f, fmt.Errorf("the simulation failed otherwise:\n%s", tail(r.output, 2000))
	}
	return finding{n[1], strings.TrimSpace(what[1])}, nil
}
