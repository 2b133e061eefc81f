package job_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/job"
)

// untakenSpecs are jobs whose Grace is shorter than the time for which a dead process keeps the lock.
var untakenSpecs = []job.Spec{
	{Name: "x", Schedule: "every 1s"},
	{Name: "x", Schedule: "every 1m", Grace: 500 * time.Millisecond},
}

// docs/guide/jobs.md: if the process dies before the tick is stored as taken, another process runs the tick once. No
// tick runs twice, and the fleet does not catch up in a burst.
func TestATickWhoseProcessDiesBeforeItIsTakenRuns(t *testing.T) {
	for _, spec := range untakenSpecs {
		for _, missed := range []job.Missed{job.MissedSkip, job.MissedOnce, job.MissedAll} {
			for _, crash := range []job.OnCrash{job.CrashSkip, job.CrashRetry} {
				for _, point := range []string{"load", "claim"} {
					if testing.Short() && spec.Grace > 0 && (missed == job.MissedAll || crash == job.CrashRetry) {
						continue
					}
					spec.Missed, spec.OnCrash = missed, crash
					t.Run(fmt.Sprint(spec.Schedule, " ", missed, " ", crash, " ", point), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) { testUntaken(t, spec, point) })
					})
				}
			}
		}
	}
}

func testUntaken(t *testing.T, spec job.Spec, point string) {
	schedule, err := job.ParseSchedule(spec.Schedule)
	if err != nil {
		t.Fatal(err)
	}
	f, l := newFleet(t, 3), newLedger()
	begins := map[time.Time]time.Time{} // when the run of a tick began
	work := func(p *process, _ context.Context, tick job.Tick) error {
		if p.dead.Load() {
			return errDead
		}
		l.begins(tick)
		l.mu.Lock()
		begins[tick.Time] = f.now()
		l.mu.Unlock()
		time.Sleep(20 * time.Millisecond)
		l.ends(tick)
		return nil
	}
	var all []*process
	for range 4 {
		all = append(all, f.start(spec, work))
	}
	var untaken []time.Time
	for range 2 {
		time.Sleep(schedule.Next(f.now()).Add(700 * time.Millisecond).Sub(f.now())) // after the run of a tick
		d := f.dies(point)
		<-d.done
		untaken = append(untaken, schedule.Last(d.at))
		all = append(all, f.start(spec, work))
		time.Sleep(5 * time.Second)
	}
	time.Sleep(schedule.Next(f.now()).Sub(f.now()))
	for _, p := range all {
		p.stop()
	}
	f.ends.Wait()
	for i, tick := range untaken {
		if n := l.began[tick]; n != 1 {
			t.Errorf("the process of the tick %s died before it was taken, and the tick began %d times", tick, n)
		}
		burst := 0
		for _, at := range begins {
			if late := at.Sub(tick); late > ttl && late < ttl+2*window+500*time.Millisecond {
				burst++
			}
		}
		if most := 2; spec.Missed != job.MissedAll && burst > most {
			t.Errorf("after death %d, %d runs came in a burst", i, burst)
		}
	}
	for tick, n := range l.began {
		if n > 1 {
			t.Errorf("the tick %s began %d times", tick, n)
		}
	}
	if l.retries > 0 {
		t.Errorf("%d runs were repeated", l.retries)
	}
}

// A lone process dies before it takes the tick, and starts again while the lock is still held.
func TestARestartedProcessRunsTheTickThatItDidNotTake(t *testing.T) {
	for _, spec := range untakenSpecs {
		t.Run(spec.Schedule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				schedule, err := job.ParseSchedule(spec.Schedule)
				if err != nil {
					t.Fatal(err)
				}
				f, l := newFleet(t, 3), newLedger()
				work := func(_ *process, _ context.Context, tick job.Tick) error { l.begins(tick); return nil }
				p := f.start(spec, work)
				time.Sleep(schedule.Next(f.now()).Add(700 * time.Millisecond).Sub(f.now()))
				d := f.dies("load")
				<-d.done
				p.stop()
				time.Sleep(ttl * 3 / 4)
				p = f.start(spec, work)
				time.Sleep(3 * time.Second)
				p.stop()
				f.ends.Wait()
				if n := l.began[schedule.Last(d.at)]; n != 1 {
					t.Errorf("the tick %s began %d times", schedule.Last(d.at), n)
				}
			})
		})
	}
}

// Grace counts where no dead process had the lock: behind a run, behind a run that crashed, behind a lock without a
// run, during an outage, and for a process that was stopped while it waited.
func TestGraceCountsUnlessADeadProcessHadTheLock(t *testing.T) {
	const grace = 500 * time.Millisecond
	spec := job.Spec{Name: "x", Schedule: "every 1s", Grace: grace}
	for _, why := range []string{"run", "crash", "lock", "killed lock", "outage"} {
		t.Run(why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, l := newFleet(t, 3), newLedger()
				events := 0
				late := func(tick job.Tick) { // a run that comes later than it may
					if d := f.now().Sub(tick.Time); d > grace+window {
						t.Errorf("the tick %s begins %s late", tick.Time, d)
					}
				}
				var killed *process
				work := func(p *process, ctx context.Context, tick job.Tick) error {
					if p.dead.Load() {
						return errDead
					}
					l.begins(tick)
					l.mu.Lock()
					judge := late
					l.mu.Unlock()
					judge(tick)
					if l.runs%5 == 0 {
						switch events++; why {
						case "run":
							time.Sleep(5300 * time.Millisecond)
						case "crash":
							if killed = p; events == 1 {
								p.kill()
								return errDead
							}
						}
					}
					return nil
				}
				var all []*process
				for range 3 {
					all = append(all, f.start(spec, work))
				}
				time.Sleep(10 * time.Second)
				switch why {
				case "lock", "killed lock":
					p := &process{stop: func() {}}
					c := f.client(&p.dead)
					lease, err := c.Mutex("x").Lock(context.Background())
					if err != nil {
						t.Fatal(err)
					}
					time.Sleep(20 * time.Second)
					if why == "lock" {
						_ = lease.Unlock(context.Background())
					} else {
						// The ticks of this lock are missed, except the first one that came after its death.
						p.dead.Store(true)
						l.mu.Lock()
						death := f.now()
						late = func(tick job.Tick) {
							if d := f.now().Sub(tick.Time); d > grace+window && death.Sub(tick.Time) > ttl {
								t.Errorf("the tick %s begins %s late", tick.Time, d)
							}
						}
						l.mu.Unlock()
					}
					defer c.Close()
				case "outage":
					f.outage.Store(true)
					time.Sleep(5300 * time.Millisecond)
					f.outage.Store(false)
				}
				time.Sleep(20 * time.Second)
				for _, p := range all {
					p.stop()
				}
				f.ends.Wait()
				if l.runs < 10 || (why == "run" || why == "crash") && events == 0 || why == "crash" && killed == nil {
					t.Errorf("%d runs, %d events", l.runs, events)
				}
			})
		})
	}
}
