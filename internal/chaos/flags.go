//go:build linux

package chaos

import (
	"flag"
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
}

// DeclareFlags declares -chaos.for and so on.
func DeclareFlags() Flags {
	return Flags{
		For:     flag.Duration("chaos.for", 0, "inflict faults for so `long`; 0: a short run of each kind of test"),
		Outside: flag.Duration("chaos.outside", 0, "inflict faults outside of the assumptions for so `long`; 0: a quarter of -chaos.for"),
		Seed:    flag.Uint64("chaos.seed", 0, "choose faults by this `seed`; 0: another each time"),
		Clients: flag.Int("chaos.clients", 0, "how `many` client processes; 0: 20, or 8 in a short run"),
		Nodes:   flag.Int("chaos.nodes", 0, "how `many` nodes; 0: what the lock is for"),
		Every:   flag.Duration("chaos.every", 0, "mean `time` between two faults; 0: 5s, or less in a short run"),
		Kinds:   flag.String("chaos.kinds", "", "only these `kinds` of faults, separated by semicolons"),
		Report:  flag.String("chaos.report", "", "append the report to this `file`"),
		Keep:    flag.String("chaos.keep", "", "keep histories of failed runs in this `folder`; \"\": a temporary one"),
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
