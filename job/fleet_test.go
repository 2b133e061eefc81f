package job_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/job"
)

// A fleet of twenty runs a short job at every second exactly once, although one clock of three is wrong.
func TestEveryTickRunsOnce(t *testing.T) {
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, l := newFleet(t, n), newLedger()
				if n > 1 {
					f.ahead[1].Store(int64(50 * time.Millisecond))
					f.ahead[2].Store(int64(2 * time.Hour))
				}
				var all []*process
				for range 20 {
					all = append(all, f.start(job.Spec{Name: "x", Schedule: "every 1s"}, func(_ *process, _ context.Context, tick job.Tick) error {
						if late := f.now().Sub(tick.Time); late < -2*window || late > time.Second {
							t.Errorf("the tick %s begins %s late", tick.Time, late)
						}
						l.begins(tick)
						time.Sleep(5 * time.Millisecond)
						return nil
					}))
				}
				time.Sleep(60*time.Second + 500*time.Millisecond)
				for _, p := range all {
					p.stop()
				}
				f.ends.Wait()
				if len(l.began) < 58 {
					t.Errorf("%d ticks ran in 60 s", len(l.began))
				}
				for i, tick := range l.order {
					if i > 0 && tick.Sub(l.order[i-1]) != time.Second {
						t.Errorf("the tick %s follows %s", tick, l.order[i-1])
					}
				}
			})
		})
	}
}

// victim is a process that was killed.
type victim struct {
	at    time.Time
	inRun bool // it had taken a tick, and its run had not ended
}

// Runners are killed at random: in the middle of a run, and between the lock and the run. With skip no tick begins
// twice. With retry every tick is done, and the oldest first. A tick without a run was taken by a process that died,
// or came while a dead process had the lock; then it was not the tick of that process.
func TestKilledRunners(t *testing.T) {
	for _, crash := range []job.OnCrash{job.CrashSkip, job.CrashRetry} {
		for _, missed := range []job.Missed{job.MissedAll, job.MissedOnce, job.MissedSkip} {
			t.Run(fmt.Sprint(crash, " ", missed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { testKilledRunners(t, crash, missed) })
			})
		}
	}
}

func testKilledRunners(t *testing.T, crash job.OnCrash, missed job.Missed) {
	const every = 2 * time.Second
	f, l, rng := newFleet(t, 3), newLedger(), rand.New(rand.NewPCG(7, 7))
	spec := job.Spec{Name: "x", Schedule: "every 2s", OnCrash: crash, Missed: missed}
	var mu sync.Mutex
	var running *process
	work := func(p *process, ctx context.Context, tick job.Tick) error {
		if p.dead.Load() {
			return ctx.Err()
		}
		l.begins(tick)
		mu.Lock()
		running = p
		mu.Unlock()
		for range 10 {
			time.Sleep(40 * time.Millisecond)
			if p.dead.Load() || ctx.Err() != nil {
				return errDead
			}
		}
		mu.Lock()
		running = nil
		mu.Unlock()
		l.ends(tick)
		return nil
	}
	var all []*process
	for range 4 {
		all = append(all, f.start(spec, work))
	}
	var victims []victim
	for len(victims) < 20 {
		time.Sleep(time.Duration(rng.Int64N(int64(2 * every))))
		if points := []string{"load", "claim", "claimed"}; rng.IntN(3) == 0 {
			d := f.dies(points[rng.IntN(len(points))])
			select {
			case <-d.done:
			case <-time.After(time.Minute):
				t.Errorf("no process came to the point %q", d.point)
				f.death.Store(nil)
				continue
			}
			victims = append(victims, victim{d.at, d.point == "claimed"})
			all = append(all, f.start(spec, work))
			continue
		}
		mu.Lock()
		p := running
		mu.Unlock()
		if p != nil && !p.dead.Load() {
			p.kill()
			victims = append(victims, victim{f.now(), true})
			all = append(all, f.start(spec, work))
		}
	}
	time.Sleep(20 * time.Second)
	for _, p := range all {
		p.stop()
	}
	f.ends.Wait()
	// missedBy reports whether a tick came while a dead process had the lock, and that process did not die instead of
	// running this tick.
	missedBy := func(tick time.Time) bool {
		return missed != job.MissedAll && slices.ContainsFunc(victims, func(v victim) bool {
			its := v.at.Truncate(every)
			if !v.inRun && f.takenBy(its, v.at) {
				its = its.Add(every)
			}
			return !tick.Add(every).Before(v.at) && !tick.After(v.at.Add(ttl+2*window)) && (v.inRun || !tick.Equal(its))
		})
	}
	unbegun := 0
	first, last := l.order[0], l.order[len(l.order)-1]
	for tick := first; tick.Before(last); tick = tick.Add(every) {
		switch taken := f.takenBy(tick, f.now()); {
		case l.began[tick] == 0 && !taken:
			if unbegun++; !missedBy(tick) {
				t.Errorf("nobody took the tick %s; killed: %v", tick, victims)
			}
		case l.began[tick] == 0 && crash == job.CrashSkip: // killed when the tick was taken, before its run
			unbegun++
		case crash == job.CrashSkip && l.began[tick] > 1:
			t.Errorf("the tick %s began %d times", tick, l.began[tick])
		case crash == job.CrashRetry && l.done[tick] == 0:
			t.Errorf("the tick %s was never done", tick)
		case l.done[tick] > 1:
			t.Errorf("the tick %s was done %d times", tick, l.done[tick])
		}
	}
	if missed == job.MissedAll && unbegun > len(victims) {
		t.Errorf("%d ticks did not begin, and %d runners were killed", unbegun, len(victims))
	}
	if len(victims) < 10 || crash == job.CrashRetry && l.retries == 0 {
		t.Errorf("%d runners were killed, %d runs were repeated", len(victims), l.retries)
	}
	t.Logf("%d ticks, %d runs, %d ticks without a run, %d runners killed, %d runs repeated", len(l.began), l.runs, unbegun, len(victims), l.retries)
}

// Nodes lose their memory one after the other, and come back after their quarantine. No tick runs twice, and few are
// missed.
func TestNodesThatForgetRepeatNoTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, l := newFleet(t, 3), newLedger()
		var all []*process
		for range 6 {
			all = append(all, f.start(job.Spec{Name: "x", Schedule: "every 1s"}, func(_ *process, ctx context.Context, tick job.Tick) error {
				l.begins(tick)
				time.Sleep(20 * time.Millisecond)
				return ctx.Err()
			}))
		}
		for i := range 30 {
			time.Sleep(20 * time.Second) // longer than a quarantine, and the time in which a server gets its place back
			f.models[i%3].Restart(fmt.Sprintf("run%d.%d", i%3, i), "", false)
		}
		time.Sleep(10 * time.Second)
		for _, p := range all {
			p.stop()
		}
		f.ends.Wait()
		for tick, n := range l.began {
			if n != 1 {
				t.Errorf("the tick %s began %d times", tick, n)
			}
		}
		if len(l.began) < 500 {
			t.Errorf("%d ticks of 610 ran", len(l.began))
		}
		t.Logf("%d ticks of 610 ran", len(l.began))
	})
}

// After an outage, the policy decides which missed ticks run.
func TestMissedTicks(t *testing.T) {
	for missed, want := range map[job.Missed]func(runs int) bool{
		job.MissedSkip: func(runs int) bool { return runs == 1 },
		job.MissedOnce: func(runs int) bool { return runs == 2 },
		job.MissedAll:  func(runs int) bool { return runs == 7 },
	} {
		t.Run(string(missed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, l := newFleet(t, 3), newLedger()
				spec := job.Spec{Name: "x", Schedule: "every 10m", Missed: missed}
				p := f.start(spec, func(_ *process, _ context.Context, tick job.Tick) error { l.begins(tick); return nil })
				time.Sleep(15 * time.Minute)
				p.stop()
				f.ends.Wait()
				before := l.runs
				time.Sleep(60 * time.Minute) // nobody runs the job
				p = f.start(spec, func(_ *process, _ context.Context, tick job.Tick) error { l.begins(tick); return nil })
				time.Sleep(9 * time.Minute)
				p.stop()
				f.ends.Wait()
				if runs := l.runs - before; before < 1 || !want(runs) {
					t.Errorf("%d runs before the outage, %d after it: %v", before, runs, l.order)
				}
			})
		})
	}
}

// A run whose context ends because the fleet is shut down is run again with retry, and an overlong run ends.
func TestTimeoutsAndShutdowns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 1)
		outcomes := make(chan job.Outcome, 10)
		spec := job.Spec{Name: "x", Schedule: "every 1m", Timeout: 5 * time.Second, OnOutcome: func(o job.Outcome) { outcomes <- o }}
		p := f.start(spec, func(_ *process, ctx context.Context, _ job.Tick) error {
			<-ctx.Done()
			return context.Cause(ctx)
		})
		if o := <-outcomes; o.State != job.Failed || !strings.Contains(o.Error, "longer than its timeout") || o.Took != 5*time.Second {
			t.Errorf("an overlong run: %+v", o)
		}
		time.Sleep(57 * time.Second) // in the middle of the next run
		p.stop()
		if o := <-outcomes; o.State != job.Interrupted {
			t.Errorf("a run that was shut down: %+v", o)
		}
		spec.OnCrash = job.CrashRetry
		attempts := make(chan int, 1)
		p = f.start(spec, func(_ *process, _ context.Context, tick job.Tick) error { attempts <- tick.Attempt; return nil })
		if n := <-attempts; n != 2 {
			t.Errorf("attempt %d", n)
		}
		p.stop()
		f.ends.Wait()
	})
}
