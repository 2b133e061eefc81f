package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	which := flag.String("run", "", "only mutants whose name matches this regular expression")
	verbose := flag.Bool("v", false, "show what each check said")
	sim := flag.Bool("sim", false, "have the simulation find the weakenings made for it")
	attempts := flag.Int("n", 400_000, "with -sim: in so many `attempts` each")
	first := flag.Int("first", 1, "with -sim: the first `seed`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	how := func(b *bench, wanted *regexp.Regexp) error { return check(ctx, b, wanted, *verbose) }
	if *sim {
		how = func(b *bench, wanted *regexp.Regexp) error { return simulate(ctx, b, wanted, *attempts, *first) }
	}
	if err := weaken(ctx, *which, namesOf(*sim), how); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// weaken runs how on the mutants whose name matches which, and prints a table.
func weaken(ctx context.Context, which string, names []string, how func(*bench, *regexp.Regexp) error) error {
	wanted, err := regexp.Compile(which)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(names, wanted.MatchString) {
		return fmt.Errorf("none of the %d names of weakenings matches %q; without -run all are made", len(names), which)
	}
	root, err := moduleRoot(ctx)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	return how(newBench(root, dir), wanted)
}

func namesOf(sim bool) (names []string) {
	if sim {
		for _, s := range allInSimulation() {
			names = append(names, s.name)
		}
		return names
	}
	for _, m := range mutants() {
		names = append(names, m.name)
	}
	return names
}

const row = "%-62s %-40s %-74s %-5s %6s\n"

// check runs the named check of each mutant.
func check(ctx context.Context, b *bench, wanted *regexp.Regexp, verbose bool) error {
	start, killed, survived := time.Now(), 0, 0
	fmt.Printf(row, "WEAKENED", "FILE", "KILLED BY", "HOW", "IN")
	list := slices.DeleteFunc(mutants(), func(m mutant) bool { return !wanted.MatchString(m.name) })
	for m := range b.ahead(ctx, list) {
		if ctx.Err() != nil {
			break
		}
		err := m.err
		if err == nil {
			err = b.asItIs(ctx, m)
		}
		var r result
		var line string
		if err == nil {
			r, line, err = b.kill(ctx, m)
		}
		if err != nil {
			survived++
			fmt.Printf("%s: NOT KILLED: %s: %v\n", m.name, m.file, err)
			continue
		}
		killed++
		fmt.Printf(row, m.name, m.file, strings.TrimPrefix(m.pkg+"/", "./")+m.check, m.how(), fmt.Sprintf("%.1fs", r.took.Seconds()))
		if verbose {
			fmt.Printf("    - %s\n    + %s\n    %s\n", m.old, m.new, line)
		}
	}
	var asItIs time.Duration
	for _, d := range b.passed {
		asItIs += d
	}
	fmt.Printf("%d of %d killed in %s; the %d checks pass without a weakening, in %s\n", killed, killed+survived,
		time.Since(start).Round(time.Second), len(b.passed), asItIs.Round(time.Second))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if survived > 0 || killed == 0 {
		return fmt.Errorf("%d mutants were not killed", survived)
	}
	return nil
}

func moduleRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOWORK").Output()
	if err != nil {
		return "", err
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}
