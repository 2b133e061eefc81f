package fleet

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/job"
)

var (
	ticksFlag = flag.Int("fleet.ticks", 12, "ticks that a fleet runs without a fault of a process")
	forFlag   = flag.Duration("fleet.for", 10*time.Second, "how long the fleets run under faults")
	cronFlag  = flag.Duration("fleet.cron", 5*time.Second, "how long the machines of holdfast cron are killed and restarted")
	hourFlag  = flag.Duration("fleet.hour", time.Minute, "how long a fleet of holdfast cron runs beside the test's own book; from 30m on with the alert rules as they are")
)

// Twenty processes, or eight with -short, run a job of 5 ms at every second. The clocks of the servers are hours behind
// the present. The clocks of the processes are up to 30 s off. One server leaps two hours ahead. Each tick runs once,
// and by the servers' time.
func TestManyProcessesRunEachTickOnce(t *testing.T) {
	t.Parallel()
	const behind = -5 * time.Hour
	a := newArena(t, job.CrashSkip, 5*time.Millisecond, behind, behind, behind+50*time.Millisecond)
	processes := 20
	if testing.Short() {
		processes = 8
	}
	for range processes {
		a.start()
	}
	a.awaits(1) // the first load of a new node set needs all nodes
	a.servers[1].Step(2 * time.Hour)
	within := time.Duration(*ticksFlag)*2*time.Second + 90*time.Second
	redistest.Eventually(t, within, fmt.Sprint(*ticksFlag, " ticks"), func() bool { return len(a.lines()) >= 2**ticksFlag })
	began := map[int64]int{}
	var ticks []int64
	for _, l := range a.finish() {
		if l.what == "begin" {
			began[l.tick]++
			ticks = append(ticks, l.tick)
		}
	}
	for i, tick := range ticks {
		if began[tick] != 1 || i > 0 && tick != ticks[i-1]+1 {
			t.Errorf("the tick %d ran %d times, after %v", tick, began[tick], ticks[:i])
		}
	}
	t.Logf("%d processes, %d ticks, %d runs", processes, ticks[len(ticks)-1]-ticks[0]+1, len(ticks))
	if off := time.Since(time.Unix(ticks[len(ticks)-1], 0)) + behind; off.Abs() > time.Minute {
		t.Errorf("the last tick is %s off the servers' time", off)
	}
}

// The process that runs the job is killed in the middle of the run, again and again. With skip no tick begins twice;
// with retry each tick is done.
func TestKilledProcesses(t *testing.T) {
	t.Parallel()
	for _, crash := range []job.OnCrash{job.CrashSkip, job.CrashRetry} {
		t.Run(string(crash), func(t *testing.T) {
			t.Parallel()
			a := newArena(t, crash, 100*time.Millisecond, 0, 100*time.Millisecond, -100*time.Millisecond)
			for range 4 {
				a.start()
			}
			killed := 0
			for killed < 6 {
				seen := len(a.lines())
				a.awaits(seen + 1 + rand.IntN(3))
				all := a.lines()
				if last := all[len(all)-1]; last.what == "begin" && a.kill(last.pid) {
					killed++
					a.start()
				}
			}
			a.awaits(len(a.lines()) + 4)
			began, done := map[int64]int{}, map[int64]int{}
			all := a.finish()
			for _, l := range all {
				if l.what == "begin" {
					began[l.tick]++
				} else {
					done[l.tick]++
				}
			}
			repeated, unwritten := 0, 0
			for tick := all[0].tick; tick < all[len(all)-1].tick; tick++ {
				switch {
				case crash == job.CrashSkip && began[tick] > 1:
					t.Errorf("the tick %d began %d times", tick, began[tick])
				case crash == job.CrashSkip && began[tick] == 0: // killed after the tick was taken and before the line
					unwritten++
					continue
				case crash == job.CrashRetry && done[tick] == 0:
					t.Errorf("the tick %d began %d times and was never done", tick, began[tick])
				}
				repeated += began[tick] - 1
			}
			if unwritten > killed {
				t.Errorf("%d ticks did not begin, and %d processes were killed", unwritten, killed)
			}
			if crash == job.CrashRetry && repeated == 0 {
				t.Error("no run was repeated")
			}
			t.Logf("%d ticks, %d processes killed, %d runs repeated", len(began), killed, repeated)
		})
	}
}

// A process gets the lock and is killed before it stores the tick as taken. The tick is then older than Grace when the
// lock is free. Another process runs it all the same, and no tick runs twice.
func TestATickWhoseProcessIsKilledBeforeItIsTakenRuns(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"load", "claim"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			a := newArenaFor(t, mortalTTL, job.CrashSkip, time.Millisecond, 0, 0, 0)
			a.dies = filepath.Join(t.TempDir(), point)
			for range 4 {
				a.start()
			}
			a.awaits(2)
			want := 2
			if testing.Short() {
				want = 1
			}
			for range want {
				if err := os.WriteFile(a.dies, nil, 0o600); err != nil {
					t.Fatal(err)
				}
				redistest.Eventually(t, 90*time.Second, "a death and the runs after it", func() bool {
					all := a.lines()
					i := slices.IndexFunc(all, func(l line) bool { return l.what == "dies" && a.procs[l.pid] != nil })
					if i < 0 || len(all) < i+4 {
						return false
					}
					return a.kill(all[i].pid)
				})
				a.start()
			}
			a.awaits(len(a.lines()) + 2)
			began, last := map[int64]int{}, int64(0)
			all := a.finish()
			for _, l := range all {
				if l.what == "begin" {
					began[l.tick]++
				}
			}
			deaths := 0
			for _, l := range all {
				switch l.what {
				case "begin":
					last = l.tick
				case "dies": // its tick was one of those that had come and nobody had taken, or else it is the next one
					deaths++
					ran := 0
					for tick := last + 1; tick <= max(l.tick, last+1); tick++ {
						ran += began[tick]
					}
					if ran == 0 {
						t.Errorf("a process died at %d, after the run of the tick %d, and no tick between them ran: %v", l.tick, last, all)
					}
				}
			}
			for tick, n := range began {
				if n > 1 {
					t.Errorf("the tick %d began %d times", tick, n)
				}
			}
			t.Logf("%d ticks, %d deaths", len(began), deaths)
			if deaths != want {
				t.Errorf("%d processes died", deaths)
			}
		})
	}
}
