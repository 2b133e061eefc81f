package check

import (
	"flag"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

var fleetTicks = flag.Int("fleet.ticks", 15, "ticks of the fleet whose clocks are up to 30 s off")

// Twenty processes, whose clocks are up to 30 s off, run a job of 5 ms at every second. The adapter runs each tick
// once. The control is the same fleet of gocron with a lock and without ticks: most processes run each tick.
func TestAFleetWhoseClocksAreOff(t *testing.T) {
	const processes, off = 20, 30 * time.Second
	var clocks []time.Duration
	for i := range processes {
		clocks = append(clocks, 2*off*time.Duration(i)/(processes-1)-off)
	}
	for kind, nodes := range map[string]int{"locker": 3, "control": 1} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			a := newArena(t, kind, redistest.StartN(t, nodes))
			a.every = time.Second
			a.start(clocks, short, 1)
			a.awaitTicks(*fleetTicks)
			ran := countRuns(a.finish())
			doubles, missing := ran.judge(a.every)
			t.Logf("%d processes, %d ticks, %d runs, %d runs too many, %d ticks missing", processes, ran.ticks(), ran.runs, doubles, missing)
			switch {
			case kind == "locker" && (doubles > 0 || missing > 0):
				t.Errorf("%d runs too many, %d ticks missing", doubles, missing)
			case kind == "control" && *fleetTicks > 100 && doubles < ran.ticks():
				t.Errorf("%d runs too many of %d ticks; the control found less than one each", doubles, ran.ticks())
			}
		})
	}
}
