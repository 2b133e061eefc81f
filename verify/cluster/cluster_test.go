//go:build linux

package cluster

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"
)

var (
	length    = flag.Duration("cluster.for", 10*time.Second, "inflict faults for so `long`")
	every     = flag.Duration("cluster.every", 20*time.Second, "the `time` between two faults of masters")
	which     = flag.String("cluster.system", "redsync", "the `lock` that takes part")
	processes = flag.Int("cluster.processes", 16, "how `many` processes")
	kinds     = flag.String("cluster.faults", "", "only these `faults`, separated by commas")
	seed      = flag.Uint64("cluster.seed", 0, "choose faults by this `seed`; 0: another each time")
	file      = flag.String("cluster.report", "", "append the report to this `file`")
)

func TestMain(m *testing.M) {
	beWorker()
	flag.Parse()
	os.Exit(m.Run())
}

// planned returns the plan of the flags.
func planned() (plan, error) {
	p := plan{system: *which, length: *length, every: *every, processes: *processes, seed: *seed}
	if p.length <= 0 || p.every <= 0 || p.processes < 2 {
		return p, fmt.Errorf("-cluster.for %s, -cluster.every %s, -cluster.processes %d: they must be above 0, and 2 processes at least", p.length, p.every, p.processes)
	}
	if p.seed == 0 {
		p.seed = rand.Uint64()
	}
	if testing.Short() {
		p.processes = min(p.processes, 6)
	}
	var err error
	p.faults, err = parseFaults(*kinds)
	return p, err
}

// A lock on a Redis Cluster, while slots move and masters come and go. Without flags it is a short run, with one fault.
func TestALockOnAClusterUnderFaults(t *testing.T) {
	p, err := planned()
	if err != nil {
		t.Fatal(err)
	}
	r := run(t, p)
	r.publish(t, *file)
	r.demand(t)
}

// The harness finds the overlaps of a lock that is none, and its lost increments.
func TestALockThatIsNoneOverlaps(t *testing.T) {
	r := run(t, plan{system: "none", length: time.Second, every: time.Minute, processes: 8, faults: []string{moving}, seed: 1})
	if s := r.sum(); s.overlaps == 0 || s.lostWrites == 0 {
		t.Errorf("%d overlaps, %d increments lost", s.overlaps, s.lostWrites)
	}
	for _, o := range r.overlaps {
		if o.first.Name != o.second.Name || o.lasted() <= 0 {
			t.Fatalf("this is no overlap: %+v", o)
		}
	}
}
