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
	For                 *time.Duration
	Outside             *time.Duration
	Seed                *uint64
	Clients             *int
	Readers             *int // how many of a hundred locks are shared; negative: the default, 40
	OnlyRead, OnlyWrite *int
	Nodes               *int
	Every               *time.Duration
	Kinds               *string
	Report              *string
	Keep                *string

	wrong *error // the first bad value
}

// DeclareFlags declares the flags -chaos.for, -chaos.outside and so on.
func DeclareFlags() Flags {
	wrong := new(error)
	return Flags{
		For:       length(wrong, "chaos.for", "inflict faults for so `long`; without: a short run of each kind of test"),
		Outside:   length(wrong, "chaos.outside", "inflict faults outside of the assumptions for so `long`; without: a quarter of -chaos.for"),
		Seed:      flag.Uint64("chaos.seed", 0, "choose faults by this `seed`; 0: another each time"),
		Clients:   flag.Int("chaos.clients", 0, "how `many` client processes; 0: 20, or 8 in a short run"),
		Readers:   flag.Int("chaos.readers", -1, "of a hundred locks of Holdfast, so `many` are shared; without: 40"),
		OnlyRead:  flag.Int("chaos.onlyread", 0, "how `many` client processes only read; they replace -chaos.clients"),
		OnlyWrite: flag.Int("chaos.onlywrite", 0, "how `many` client processes only write, beside -chaos.onlyread"),
		Nodes:     flag.Int("chaos.nodes", 0, "how `many` nodes; 0: what the lock is for"),
		Every:     length(wrong, "chaos.every", "mean `time` between two faults; without: 5s, or less in a short run"),
		Kinds:     flag.String("chaos.kinds", "", "only these `kinds` of faults, separated by semicolons"),
		Report:    flag.String("chaos.report", "", "append the report to this `file`"),
		Keep:      flag.String("chaos.keep", "", "keep histories of failed runs in this `folder`; \"\": a temporary one"),
		wrong:     wrong,
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
	for name, n := range map[string]int{"clients": *f.Clients, "nodes": *f.Nodes, "onlyread": *f.OnlyRead, "onlywrite": *f.OnlyWrite} {
		if n < 0 && *f.wrong == nil {
			*f.wrong = fmt.Errorf("-chaos.%s %d: it must be 1 at least, or 0 for the usual number", name, n)
		}
	}
	if *f.wrong == nil {
		*f.wrong = f.modes()
	}
	if *f.wrong != nil {
		fmt.Fprintln(os.Stderr, "chaos:", *f.wrong)
		os.Exit(2)
	}
}

// modes returns an error if the flags for readers and writers are out of range or do not fit together.
func (f Flags) modes() error {
	switch {
	case *f.Readers < -1 || *f.Readers > 100:
		return fmt.Errorf("-chaos.readers %d: it must be a percentage from 0 to 100", *f.Readers)
	case (*f.OnlyRead > 0) != (*f.OnlyWrite > 0):
		return fmt.Errorf("-chaos.onlyread %d and -chaos.onlywrite %d: set both or neither", *f.OnlyRead, *f.OnlyWrite)
	case *f.OnlyRead > 0 && *f.Readers >= 0:
		return fmt.Errorf("-chaos.readers %d: it has no effect with -chaos.onlyread; leave one of them out", *f.Readers)
	case *f.OnlyRead > 0 && *f.Clients > 0:
		return fmt.Errorf("-chaos.clients %d: it has no effect with -chaos.onlyread; leave one of them out", *f.Clients)
	}
	return nil
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
	if n := *f.Readers; n >= 0 {
		if p.Readers = n; n == 0 {
			p.Readers = -1
		}
	}
	if *f.OnlyRead > 0 {
		p.OnlyRead, p.OnlyWrite = *f.OnlyRead, *f.OnlyWrite
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
