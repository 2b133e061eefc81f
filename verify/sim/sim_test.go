package sim

import (
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"
)

var (
	flagN      = flag.Int("sim.n", 0, "simulate at least this many attempts; 0: 12,000, and 6,000 with the race detector")
	flagSeed   = flag.Uint64("sim.seed", 0, "replay the world of this seed, and nothing else")
	flagFor    = flag.Duration("sim.for", 0, "simulate for this long instead of -sim.n")
	flagFirst  = flag.Uint64("sim.first", 1, "the first seed")
	flagShard  = flag.Uint64("sim.shard", 0, "of several processes this one takes the seeds that leave this rest")
	flagOf     = flag.Uint64("sim.of", 1, "when divided by the number of processes")
	flagShrink = flag.Int("sim.shrink", 400, "try so many smaller worlds when one fails")
	flagTrace  = flag.Bool("sim.trace", false, "print every call to a node, of the smaller world if one fails, or with -sim.shrink 0 of that of -sim.seed")
)

// tellEvery is the time between two progress reports of a long run.
const tellEvery = time.Minute

// run runs a plan in its own bubble, on one processor and without garbage collection, so that one plan makes one
// history.
func run(t *testing.T, p *Plan, trace io.Writer) (r *Result) {
	t.Helper()
	defer func() {
		if r == nil {
			fmt.Printf("the world of seed %d did not end; repeat it with: make sim SEED=%d\n", p.Seed, p.Seed)
		}
	}()
	synctest.Test(t, func(*testing.T) { r = Run(p, trace) })
	return r
}

// alone prepares this process for simulations.
func alone(t *testing.T) {
	procs, percent := runtime.GOMAXPROCS(1), debug.SetGCPercent(-1)
	t.Cleanup(func() {
		runtime.GOMAXPROCS(procs)
		debug.SetGCPercent(percent)
	})
}

// collector collects garbage between worlds.
type collector struct{ messages int }

func (c *collector) after(r *Result) {
	if c.messages += r.Tally.Messages; c.messages > 20_000 {
		c.messages = 0
		runtime.GC()
	}
}

// The promises of docs/design/protocol.md hold in worlds with all allowed faults.
func TestPromisesHoldInSimulatedWorlds(t *testing.T) {
	alone(t)
	if *flagSeed != 0 {
		p := Draw(*flagSeed)
		var trace io.Writer
		if *flagTrace && *flagShrink == 0 {
			trace = os.Stdout
		}
		r := run(t, p, trace)
		t.Logf("%s\n%s\n%s", p, r.History(), &r.Tally)
		if len(r.Violations) > 0 {
			report(t, p, r)
		}
		return
	}
	if *flagN == 0 {
		*flagN = 12_000
		switch {
		case raced && testing.Short():
			*flagN = 2000
		case raced:
			*flagN = 6000
		}
	}
	var sum Tally
	var all uint64 // a digest of all histories
	var garbage collector
	start := time.Now()
	said := start
	enough := func() bool {
		if *flagFor > 0 {
			return time.Since(start) > *flagFor
		}
		// The run continues for a few more worlds if a kind of fault or outcome has not occurred yet.
		return sum.Attempts >= *flagN && (raced || *flagOf > 1 || sum.Missing() == nil || sum.Attempts >= 2**flagN+20_000)
	}
	for seed := *flagFirst; !enough(); seed++ {
		if seed%*flagOf != *flagShard {
			continue
		}
		p := Draw(seed)
		r := run(t, p, nil)
		sum.Add(&r.Tally)
		if time.Since(said) > tellEvery && len(r.Violations) == 0 {
			said = time.Now()
			fmt.Fprintf(os.Stderr, "part %d of %d: %d attempts in %s, up to seed %d; no promise was broken so far\n",
				*flagShard+1, *flagOf, sum.Attempts, said.Sub(start).Round(time.Second), seed)
		}
		all = mix(all ^ r.Digest)
		garbage.after(r)
		if len(r.Violations) > 0 {
			fmt.Fprintf(os.Stderr, "part %d of %d: seed %d breaks a promise: %s\n", *flagShard+1, *flagOf, seed, r.Violations[0])
			t.Logf("within %d attempts in %d worlds:", sum.Attempts, sum.Worlds)
			report(t, p, r)
			return
		}
	}
	if *flagTally != "" {
		if err := save(*flagTally, &sum); err != nil {
			t.Error(err)
		}
	}
	took := time.Since(start)
	t.Logf("%s\n%s of one processor: %s per attempt, %s per message; digest %016x\nno promise was broken",
		&sum, took.Round(time.Millisecond), took/time.Duration(sum.Attempts), took/time.Duration(sum.Messages), all)
	if missing := sum.Missing(); len(missing) > 0 && !raced && *flagOf == 1 { // else TestTalliesAreSummed looks at the sum
		t.Errorf("of some kinds there was none: %q", missing)
	}
}

// report prints a failing world, and a smaller world that also fails.
func report(t *testing.T, p *Plan, r *Result) {
	t.Errorf("seed %d breaks a promise; repeat it with: make sim SEED=%d", p.Seed, p.Seed)
	for _, v := range r.Violations {
		t.Log(v)
	}
	var garbage collector
	small := Shrink(p, *flagShrink, func(p *Plan) bool {
		tried := run(t, p, nil)
		garbage.after(tried)
		return tried.Breaks(r)
	})
	var trace io.Writer
	if *flagTrace {
		trace = os.Stdout // trace only the smaller world
	}
	r = run(t, small, trace)
	t.Logf("what is left of it when all is left out that does not matter:\n%s%s\n%q", small, r.History(), r.Violations)
}
