//go:build linux

package chaos

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"
)

// Flags are the flags of a test binary that runs this package.
type Flags struct {
	For     *time.Duration
	Outside *time.Duration
	Seed    *uint64
	Clients *int
	Nodes   *int
	Every   *time.Duration
	Kinds   *string
	Report  *string
	Keep    *string

	wrong *error // the first bad value
}

// DeclareFlags declares the flags -chaos.for, -chaos.outside and so on.
func DeclareFlags() Flags {
	wrong := new(error)
	return Flags{
		For:     length(wrong, "chaos.for", "inflict faults for so `long`; without: a short run of each kind of test"),
		Outside: length(wrong, "chaos.outside", "inflict faults outside of the assumptions for so `long`; without: a quarter of -chaos.for"),
		Seed:    flag.Uint64("chaos.seed", 0, "choose faults by this `seed`; 0: another each time"),
		Clients: flag.Int("chaos.clients", 0, "how `many` client processes; 0: 20, or 8 in a short run"),
		Nodes:   flag.Int("chaos.nodes", 0, "how `many` nodes; 0: what the lock is for"),
		Every:   length(wrong, "chaos.every", "mean `time` between two faults; without: 5s, or less in a short run"),
		Kinds:   flag.String("chaos.kinds", "", "only these `kinds` of faults, separated by semicolons"),
		Report:  flag.String("chaos.report", "", "append the report to this `file`"),
		Keep:    flag.String("chaos.keep", "", "keep histories of failed runs in this `folder`; \"\": a temporary one"),
		wrong:   wrong,
	}
}

// length declares a flag for a duration. The value 0 is an error and does not count as a missing flag. Otherwise a
// caller that asks for a run of no length would get a short run.
func length(wrong *error, name, usage string) *time.Duration {
	d := new(time.Duration)
	flag.Func(name, usage, func(text string) (err error) {
		if *d, err = time.ParseDuration(text); (err != nil || *d <= 0) && *wrong == nil {
			*wrong = fmt.Errorf("-%s %q: it must be a length of time above 0, such as 90s, 10m or 1h30m (make chaos and make chaos-rivals: T=10m)", name, text)
		}
		return nil // an error here would print the usage of every flag of the test binary, and hide the message
	})
	return d
}

// Parse parses the command line. After a bad value it prints one line about it and ends the process.
func (f Flags) Parse() {
	flag.Parse()
	for name, n := range map[string]int{"clients": *f.Clients, "nodes": *f.Nodes} {
		if n < 0 && *f.wrong == nil {
			*f.wrong = fmt.Errorf("-chaos.%s %d: it must be 1 at least, or 0 for the usual number", name, n)
		}
	}
	if *f.wrong != nil {
		fmt.Fprintln(os.Stderr, "chaos:", *f.wrong)
		os.Exit(2)
	}
}

// Apply returns p with the values of the flags.
func (f Flags) Apply(p Plan) Plan {
	p.Seed, p.Keep = *f.Seed, *f.Keep
	if *f.Kinds != "" {
		p.Kinds = strings.Split(*f.Kinds, ";")
		for i := range p.Kinds {
			p.Kinds[i] = strings.TrimSpace(p.Kinds[i])
		}
	}
	if *f.Clients > 0 {
		p.Clients = *f.Clients
	}
	if *f.Nodes > 0 {
		p.Nodes = *f.Nodes
	}
	if *f.Every > 0 {
		p.Every = *f.Every
	}
	if *f.For > 0 {
		p.For, p.Verbose = *f.For, true
	}
	return p
}
