//go:build linux

package chaos

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"
)

// Flags of a test binary that runs this package.
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

	wrong *error // the first value that was no good
}

// DeclareFlags declares -chaos.for and so on.
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

// length declares a flag for a length of time. A zero must not pass for a flag that was left away: whoever asks for
// no time at all would get a short run and take it for what he asked for.
func length(wrong *error, name, usage string) *time.Duration {
	d := new(time.Duration)
	flag.Func(name, usage, func(text string) (err error) {
		if *d, err = time.ParseDuration(text); (err != nil || *d <= 0) && *wrong == nil {
			*wrong = fmt.Errorf("-%s %q: it must be a length of time above 0, such as 90s, 10m or 1h30m (make chaos and make chaos-rivals: T=10m)", name, text)
		}
		return nil // flag would print the usage of every flag that a test binary has, and bury the word in it
	})
	return d
}

// Parse parses the command line, and ends the process with a line on what is wrong with it.
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

// Apply sets what the flags say, over what p has.
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
