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

	"github.com/holdfast-go/holdfast/internal/check/chaos"
)

// The run that puts all locks under the same faults.

// chaosSystem is a lock and how many nodes it gets.
type chaosSystem struct {
	locker string
	nodes  int
}

func (s chaosSystem) String() string { return fmt.Sprintf("%s-%d", s.locker, s.nodes) }

// Neighbours run at the same time, so each that asks its servers all the time stands beside one that does so less.
var chaosSystems = []chaosSystem{{"redsync", 5}, {"rueidislock", 1}, {"holdfast", 5}, {"redislock", 1}, {"holdfast", 1}, {"plain", 1}}

var chaosAbreast = flag.Int("chaos.abreast", 0, "put so `many` locks under faults at the same time; 0: one for each CPU")

// TestRivalsUnderFaults puts each lock under faults for -chaos.for: the kinds that Holdfast promises to survive on as
// many nodes, without those that are about Holdfast's own clients. They come by one seed, so that locks on as many
// nodes are dealt the same faults. A rival that lets two in is what it is; a harness that finds none is broken.
//
// Locks run side by side, and share nothing but the machine: servers, ports, clocks, files and clients are each
// one's own. That the machine is busy does not make overlaps. Each process stamps its beliefs by the one
// CLOCK_MONOTONIC after it was given the lock and before it gives it back, and a belief ends with the deadline that
// the lock stated or its TTL gives, whenever the process noticed: delay shortens a belief, never stretches it beyond what
// the lock allowed. One lock states no deadline, rueidislock: it is believed in until its context ends, which a busy
// machine may let happen late, by as much as it lets timers be late. Hence no more at once than there are CPUs: a
// run needs 0.4 to 1 of one. A row of the table says how busy they were.
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
	var publish sync.Mutex // one report after the other
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
					if p.Keep == "" && s.locker != "holdfast" { // overlaps are expected: not every history of them is worth keeping
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
	columns = slices.DeleteFunc(columns, func(c column) bool { return c.report == nil }) // not asked for by -run, or failed
	slices.SortStableFunc(columns, func(x, y column) int { return y.report.Plan.Nodes - x.report.Plan.Nodes })
	if err := appendTo(*chaosFlags.Report, chaosTable(columns)); err != nil {
		t.Error(err)
	}
}

// commonFaults are the kinds of faults that every lock on so many nodes is put under.
func commonFaults(nodes int) []string {
	return chaos.Plan{Locker: "plain", Nodes: nodes}.Faults()
}

// foundIn is after how many rounds of all kinds of faults two holders of each rival must have been found. In every run
// so far in which each kind came once, it found some; the fewest, of rueidislock, were 123 in eleven rounds.
// The usual run has time for four.
const foundIn = 3

// demand is that Holdfast keeps its promises, and that the harness is awake: what is unsafe must be found out.
func (s chaosSystem) demand(t testing.TB, r *chaos.Report) {
	t.Helper()
	if s.locker == "holdfast" {
		r.Demand(t)
		return
	}
	// The protocol of each rival allows two holders. The plain one loses its lock to the first FLUSHALL.
	switch enough := r.Rounds >= foundIn || s.locker == "plain" && r.Faults["FLUSHALL"] > 0; {
	case !enough:
		t.Logf("%d rounds of all kinds of faults in %s: too short a run to tell if the harness is awake; %d would do", r.Rounds, r.Plan.For, foundIn)
	case r.Overlaps == 0:
		t.Errorf("no two holders of %s were found in %d rounds of all kinds of faults, and its protocol allows them: is the harness asleep?", s.locker, r.Rounds)
	}
}

// named puts a name before what is logged: lines of runs side by side are told apart by it.
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
