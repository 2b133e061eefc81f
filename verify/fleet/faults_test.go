package fleet

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/leasetest"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/job"
)

// valueKey is the key that has the last outcome of the job on each node.
const valueKey = "{x}:holdfast:value"

// A fleet runs a job at every second. Runners are killed in the middle of their runs, and nodes restart without their
// data, one at a time. An operator vouches for every second of these nodes. With skip no tick begins twice. With retry
// each tick is done.
func TestAFleetUnderFaults(t *testing.T) {
	for _, crash := range []job.OnCrash{job.CrashSkip, job.CrashRetry} {
		t.Run(string(crash), func(t *testing.T) {
			t.Parallel()
			a := newArena(t, crash, 100*time.Millisecond, 0, 100*time.Millisecond, -100*time.Millisecond)
			processes := 20
			if testing.Short() {
				processes = 6
			}
			for range processes {
				a.start()
			}
			operator, err := open(a.urls, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer operator.Close()
			a.awaits(1) // the first load of a new node set needs all nodes
			killed, restarts, vouchers := 0, 0, 0
			for end := time.Now().Add(*forFlag); time.Now().Before(end) || restarts == 0; {
				for range 2 {
					a.killARunner()
					killed++
				}
				s := a.servers[restarts%len(a.servers)]
				s.Restart()
				if restarts++; restarts%2 == 0 {
					admin.Trust(t.Context(), operator)
					vouchers++
				}
				a.killARunner() // while one node of three does not vote
				killed++
				// No second node may lose its memory before this one votes and knows the last tick.
				redistest.Eventually(t, 90*time.Second, "a restarted node to vote and to know the last tick", func() bool {
					return leasetest.Vote(t.Context(), operator) && s.MustDo(t, "EXISTS", valueKey) == int64(1)
				})
			}
			a.awaits(len(a.lines()) + 4)
			all := a.finish()
			r := count(all)
			t.Logf("%d processes, %d ticks, %d runs, %d runs repeated, %d ticks without a run, %d not done; %d runners killed, %d nodes restarted empty, %d vouchers",
				processes, r.ticks, r.runs, r.repeated, r.unbegun, r.undone, killed, restarts, vouchers)
			switch {
			case crash == job.CrashSkip && r.repeated > 0:
				t.Errorf("%d runs of a tick that began before", r.repeated)
			case crash == job.CrashSkip && r.unbegun > killed+restarts:
				t.Errorf("%d ticks did not begin", r.unbegun)
			case crash == job.CrashRetry && r.undone > 0:
				t.Errorf("%d ticks were never done", r.undone)
			case crash == job.CrashRetry && r.repeated == 0:
				t.Error("no run was repeated")
			}
		})
	}
}

// killARunner kills a process in the middle of its run, and starts another one.
func (a *arena) killARunner() {
	a.t.Helper()
	for seen := len(a.lines()); ; {
		a.awaits(seen + 1)
		all := a.lines()
		if last := all[len(all)-1]; last.what == "begin" && a.kill(last.pid) {
			a.start()
			return
		}
		seen = len(all)
	}
}

// counts says how often the ticks of a job ran, from the first one that began to the one before the last.
type counts struct {
	ticks, runs, repeated, unbegun, undone int
}

func count(all []line) (r counts) {
	began, done := map[int64]int{}, map[int64]int{}
	first, last := all[0].tick, all[0].tick
	for _, l := range all {
		last = max(last, l.tick)
		if l.what == "begin" {
			began[l.tick]++
		} else {
			done[l.tick]++
		}
	}
	for tick := first; tick < last; tick++ {
		r.ticks++
		r.runs += began[tick]
		r.repeated += max(0, began[tick]-1)
		if began[tick] == 0 {
			r.unbegun++
		}
		if done[tick] == 0 {
			r.undone++
		}
	}
	return r
}
