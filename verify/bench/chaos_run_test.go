//go:build linux

package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/verify/chaos"
)

// This file has the run that puts all locks under the same faults.

// chaosSystem is a lock and its number of nodes.
type chaosSystem struct {
	locker string
	nodes  int
}

func (s chaosSystem) String() string { return fmt.Sprintf("%s-%d", s.locker, s.nodes) }

// chaosSystems lists the locks in the order of the runs. Neighbours run at the same time, so a lock that polls its
// servers all the time is beside one that polls less.
var chaosSystems = []chaosSystem{{"redsync", 5}, {"rueidislock", 1}, {"holdfast", 5}, {"redislock", 1}, {"holdfast", 1}, {"plain", 1}}

var chaosAbreast = flag.Int("chaos.abreast", 0, "put so `many` locks under faults at the same time; 0: one for each CPU")

// TestRivalsUnderFaults puts each lock under faults for -chaos.for. The faults are of the kinds that Holdfast promises
// to survive on the same number of nodes, without the kinds that concern only clients of Holdfast. All locks with the
// same number of nodes get the same faults, because these come from one seed. Two holders of a rival do not fail the
// test. A harness that finds none fails it.
//
// Locks run side by side and share only the machine. Each has its own servers, ports, clocks, files and clients.
//
// A busy machine does not cause overlaps. Each process records when it believes to have the lock. The recorded time
// begins after it got the lock and ends before it gives the lock back. All processes use CLOCK_MONOTONIC. A belief ends
// with the deadline that the lock states, or with its TTL, even if the process notices the end later. So a delay makes
// a belief shorter, and never longer than the lock allows.
//
// rueidislock states no deadline. Its belief ends with its context, and on a busy machine that end is as late as a
// timer. So no more locks run at once than the machine has CPUs. A run needs 0.4 to 1 CPU. A row of the table says how
// busy the CPUs were.
func TestRivalsUnderFaults(t *testing.T) {
	if *chaosFlags.For == 0 {
		t.Skip("takes minutes and judges others; run: make chaos-rivals")
	}
	abreast := *chaosAbreast
	switch {
	case abreast < 0:
		t.Fatalf("-chaos.abreast %d: it must be 1 at least, or 0 for one for each CPU", abreast)
	case abreast == 0:
		abreast = runtime.NumCPU()
	}
	seed := *chaosFlags.Seed
	if seed == 0 {
		seed = rand.Uint64()
	}
	columns := make([]column, len(chaosSystems))
	var publish sync.Mutex // orders the reports
	var runs sync.WaitGroup
	next := make(chan int)
	for range min(abreast, len(chaosSystems)) {
		runs.Go(func() {
			for i := range next {
				s := chaosSystems[i]
				t.Run(s.String(), func(t *testing.T) {
					p := chaosFlags.Apply(chaos.Plan{Locker: s.locker})
					p.Nodes, p.Seed = s.nodes, seed
					if p.Kinds == nil {
						p.Kinds = commonFaults(s.nodes)
					}
					if p.Keep == "" && s.locker != "holdfast" { // overlaps are expected: do not keep their histories
						p.Keep = t.TempDir()
					}
					began, used := time.Now(), machineCPU()
					r := chaos.Run(named{t, s.String()}, p)
					c := column{r, float64(machineCPU()-used) / float64(time.Since(began)) / float64(runtime.NumCPU())}
					publish.Lock()
					defer publish.Unlock()
					columns[i] = c
					r.Publish(t, *chaosFlags.Report)
					s.demand(t, r)
				})
			}
		})
	}
	for i := range chaosSystems {
		next <- i
	}
	close(next)
	runs.Wait()
	columns = slices.DeleteFunc(columns, func(c column) bool { return c.report == nil }) // excluded by -run, or failed
	slices.SortStableFunc(columns, func(x, y column) int { return y.report.Plan.Nodes - x.report.Plan.Nodes })
	if err := appendTo(*chaosFlags.Report, chaosTable(columns)); err != nil {
		t.Error(err)
	}
}

// commonFaults returns the kinds of faults for every lock on this number of nodes.
func commonFaults(nodes int) []string {
	return chaos.Plan{Locker: "plain", Nodes: nodes}.Faults()
}

// foundIn is the number of rounds, with all kinds of faults in each, after which two holders of each rival must have
// been found. So far every run with one complete round has found some. The fewest were 123 in eleven rounds, of
// rueidislock. The usual run has four rounds.
const foundIn = 3

// demand fails the test if Holdfast broke a promise, or if the harness found no two holders of a rival in enough
// rounds.
func (s chaosSystem) demand(t testing.TB, r *chaos.Report) {
	t.Helper()
	if s.locker == "holdfast" {
		r.Demand(t)
		return
	}
	// The protocol of each rival allows two holders. The plain one loses its lock to the first FLUSHALL.
	switch enough := r.Rounds >= foundIn || s.locker == "plain" && r.Faults["FLUSHALL"] > 0; {
	case !enough:
		t.Logf("%d rounds of all kinds of faults in %s: too few to judge the harness; %d are enough", r.Rounds, r.Plan.For, foundIn)
	case r.Overlaps == 0:
		t.Errorf("no two holders of %s were found in %d rounds of all kinds of faults, but its protocol allows them: the harness may be broken", s.locker, r.Rounds)
	}
}

// named puts a name before each line of a test's log, because several runs log at the same time.
type named struct {
	testing.TB
	name string
}

func (n named) Log(args ...any) {
	n.Helper()
	n.TB.Log(append([]any{n.name + ":"}, args...)...)
}

func (n named) Logf(format string, args ...any) {
	n.Helper()
	n.TB.Logf("%s: "+format, append([]any{n.name}, args...)...)
}

func (n named) Errorf(format string, args ...any) {
	n.Helper()
	n.TB.Errorf("%s: "+format, append([]any{n.name}, args...)...)
}
