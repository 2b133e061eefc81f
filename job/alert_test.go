package job_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/job"
)

// alerts keeps the alerts of a whole fleet.
type alerts struct {
	f     *fleet
	first time.Time // the tick from which the times count
	mu    sync.Mutex
	all   []string
}

func (a *alerts) add(alert job.Alert) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = append(a.all, fmt.Sprintf("%s %s", alert.Kind, alert.Tick.Sub(a.first)))
	if alert.Host == "" || alert.Last.Host == "" {
		a.f.t.Errorf("an alert without a host: %+v", alert)
	}
}

func (a *alerts) are(want ...string) {
	a.f.t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	if !slices.Equal(a.all, want) {
		a.f.t.Errorf("the alerts are %q; want %q", a.all, want)
	}
}

func newAlerts(f *fleet, every time.Duration) *alerts {
	return &alerts{f: f, first: f.now().Truncate(every).Add(every)}
}

// stopAll ends the processes.
func (f *fleet) stopAll(all []*process) {
	for _, p := range all {
		p.stop()
	}
	f.ends.Wait()
}

// The process that runs the job dies. One of the others finds it soon, and one alert says so. With retry the tick is
// repeated, too.
func TestADeadProcessIsAlertedOnce(t *testing.T) {
	for _, crash := range []job.OnCrash{job.CrashSkip, job.CrashRetry} {
		t.Run(string(crash), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, 3)
				a := newAlerts(f, 24*time.Hour)
				spec := job.Spec{Name: "x", Schedule: "every 24h", OnCrash: crash, OnAlert: a.add}
				var all []*process
				for range 4 {
					all = append(all, f.start(spec, func(p *process, ctx context.Context, tick job.Tick) error {
						if tick.Attempt == 1 {
							p.kill()
						}
						return ctx.Err()
					}))
				}
				f.until(a.first.Add(time.Minute))
				a.are("crashed 0s")
				f.until(a.first.Add(20 * time.Hour))
				f.stopAll(all)
				a.are("crashed 0s")
			})
		})
	}
}

// A manual run crashes while the other processes sleep until the next tick. One of them finds it soon.
func TestACrashOfAManualRunIsFoundSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		a := newAlerts(f, 24*time.Hour)
		spec := job.Spec{Name: "x", Schedule: "every 24h", OnAlert: a.add}
		var all []*process
		for range 3 {
			all = append(all, f.start(spec, func(p *process, _ context.Context, tick job.Tick) error {
				if tick.Manual {
					p.kill()
				}
				return nil
			}))
		}
		c, _ := f.operator()
		defer c.Close()
		f.until(a.first.Add(time.Minute))
		f.must(job.Trigger(t.Context(), c, "x", ""))
		f.until(a.first.Add(2 * time.Minute))
		f.stopAll(all)
		if len(a.all) != 1 {
			t.Errorf("the alerts are %q", a.all)
		}
	})
}

// A process that is alone loses its lock. It finds that itself at its next look, and stores the crash.
func TestALoneProcessAlertsALostRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		a := newAlerts(f, 24*time.Hour)
		c, last := f.operator()
		defer c.Close()
		p := f.start(job.Spec{Name: "x", Schedule: "every 24h", OnAlert: a.add}, func(_ *process, ctx context.Context, _ job.Tick) error {
			if _, err := admin.Unlock(context.Background(), c, "x", admin.UnlockOptions{}); err != nil {
				t.Error(err)
			}
			<-ctx.Done()
			return context.Cause(ctx)
		})
		f.until(a.first.Add(time.Minute))
		a.are("crashed 0s")
		if o := last(); o.State != job.Crashed || o.Book.Runs[job.Crashed] != 1 {
			t.Errorf("%s: runs %v", o, o.Book.Runs)
		}
		f.stopAll([]*process{p})
		a.are("crashed 0s")
	})
}

// A failure is alerted after the last retry, or when a later tick replaces the retry.
func TestAFailureIsAlertedOnceItIsFinal(t *testing.T) {
	for _, c := range []struct {
		retries int
		backoff time.Duration
		want    []string
	}{
		{0, 0, []string{"failed 0s", "failed 1m0s", "failed 2m0s"}},
		{2, 5 * time.Second, []string{"failed 0s", "failed 1m0s", "failed 2m0s"}},
		{2, 5 * time.Minute, []string{"failed 0s", "failed 1m0s", "failed 2m0s"}}, // the retry would come after the next tick
	} {
		t.Run(fmt.Sprint(c.retries, c.backoff), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, 3)
				a := newAlerts(f, time.Minute)
				var all []*process
				for range 3 {
					all = append(all, f.start(job.Spec{Name: "x", Schedule: "every 1m", Retries: c.retries, Backoff: c.backoff, OnAlert: a.add},
						func(*process, context.Context, job.Tick) error { return errFull }))
				}
				f.until(a.first.Add(2*time.Minute + 50*time.Second))
				f.stopAll(all)
				a.are(c.want...)
			})
		})
	}
}

// All machines are down at a tick. When they are up again, one of them reports the tick, once. The next gap is reported
// again.
func TestAnOverdueJobIsAlertedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		a := newAlerts(f, time.Hour)
		spec := job.Spec{Name: "x", Schedule: "every 1h", OnAlert: a.add}
		var all []*process
		up := func() {
			for range 3 {
				all = append(all, f.start(spec, func(*process, context.Context, job.Tick) error { return nil }))
			}
		}
		down := func() { f.stopAll(all); all = nil }
		up()
		f.until(a.first.Add(time.Minute))
		down()
		f.until(a.first.Add(2*time.Hour + 10*time.Minute))
		up()
		f.until(a.first.Add(2*time.Hour + 20*time.Minute))
		a.are("overdue 1h0m0s")
		f.until(a.first.Add(3*time.Hour + time.Minute))
		down()
		up() // a restart between two ticks
		f.until(a.first.Add(3*time.Hour + 10*time.Minute))
		down()
		a.are("overdue 1h0m0s")
		f.until(a.first.Add(4*time.Hour + 10*time.Minute))
		up()
		f.until(a.first.Add(4*time.Hour + 20*time.Minute))
		down()
		a.are("overdue 1h0m0s", "overdue 4h0m0s")
	})
}

// A tick is missed because another program had the lock for a short time. The machines find a minute later that it is
// overdue.
func TestAMissedTickIsAlertedAMinuteLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		a := newAlerts(f, 24*time.Hour)
		c, _ := f.operator()
		defer c.Close()
		var all []*process
		for range 3 {
			all = append(all, f.start(job.Spec{Name: "x", Schedule: "every 24h", Grace: 5 * time.Second, OnAlert: a.add},
				func(*process, context.Context, job.Tick) error { return nil }))
		}
		f.until(a.first.Add(24*time.Hour - time.Second))
		l, err := c.Mutex("x").Lock(t.Context())
		f.must(err)
		f.until(a.first.Add(24*time.Hour + 20*time.Second))
		f.must(l.Unlock(t.Context()))
		f.until(a.first.Add(24*time.Hour + 50*time.Second))
		a.are()
		f.until(a.first.Add(24*time.Hour + 2*time.Minute))
		f.stopAll(all)
		a.are("overdue 24h0m0s")
	})
}

// No machine is ready at a tick. One of them reports that, and a crash of the last machine that was ready.
func TestMachinesThatAreNotReadyAlert(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		a := newAlerts(f, time.Hour)
		unfit := errors.New("no disk")
		ready := f.start(job.Spec{Name: "x", Schedule: "every 1h", OnAlert: a.add}, func(p *process, _ context.Context, tick job.Tick) error {
			if tick.Time.After(a.first) {
				p.kill()
			}
			return nil
		})
		var all []*process
		for range 3 {
			all = append(all, f.start(job.Spec{Name: "x", Schedule: "every 1h", OnAlert: a.add, Ready: func() error { return unfit }},
				func(*process, context.Context, job.Tick) error { return nil }))
		}
		f.until(a.first.Add(time.Hour + 30*time.Second))
		a.are("crashed 1h0m0s")
		f.until(a.first.Add(5 * time.Hour))
		f.stopAll(append(all, ready))
		a.are("crashed 1h0m0s", "overdue 2h0m0s")
	})
}

// A tick is not overdue if the job is paused or runs, if another version of the job lacks the tick, or if it runs late.
func TestTicksThatAreNotOverdue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		a := newAlerts(f, time.Hour)
		c, _ := f.operator()
		defer c.Close()
		spec := job.Spec{Name: "x", Schedule: "every 1h", OnAlert: a.add}
		long := func(*process, context.Context, job.Tick) error { time.Sleep(70 * time.Minute); return nil }
		short := func(*process, context.Context, job.Tick) error { return nil }
		p := f.start(spec, long)
		f.until(a.first.Add(119 * time.Minute)) // the tick after an hour came during the run
		f.stopAll([]*process{p})
		p = f.start(spec, short)
		f.until(a.first.Add(121 * time.Minute))
		f.must(job.Pause(t.Context(), c, "x", ""))
		f.until(a.first.Add(5 * time.Hour).Add(2 * time.Minute))
		f.must(job.Resume(t.Context(), c, "x", ""))
		f.until(a.first.Add(6 * time.Hour).Add(2 * time.Minute))
		f.stopAll([]*process{p})
		faster, slower, late := spec, spec, spec
		faster.Schedule, slower.Schedule, late.Missed = "every 10m", "every 24h", job.MissedOnce
		f.until(a.first.Add(6 * time.Hour).Add(55 * time.Minute))
		p = f.start(faster, short)
		f.until(a.first.Add(7 * time.Hour).Add(2 * time.Minute))
		f.stopAll([]*process{p})
		f.until(a.first.Add(7 * time.Hour).Add(5 * time.Minute))
		p = f.start(slower, short)
		f.until(a.first.Add(7 * time.Hour).Add(30 * time.Minute))
		f.stopAll([]*process{p})
		f.until(a.first.Add(9 * time.Hour).Add(5 * time.Minute))
		p = f.start(late, short)
		f.until(a.first.Add(9 * time.Hour).Add(10 * time.Minute))
		f.stopAll([]*process{p})
		p = f.start(slower, short)
		f.must(job.Trigger(t.Context(), c, "x", ""))
		f.until(a.first.Add(9 * time.Hour).Add(15 * time.Minute))
		f.stopAll([]*process{p})
		f.until(a.first.Add(9 * time.Hour).Add(35 * time.Minute))
		p = f.start(faster, short) // its tick at 9:30 was not one of the slower version
		f.until(a.first.Add(9 * time.Hour).Add(39 * time.Minute))
		f.stopAll([]*process{p})
		a.are()
	})
}

// A run of Once whose process died is reported by the next call that runs.
func TestOnceAlerts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		a := newAlerts(f, time.Hour)
		a.first = a.first.Add(-time.Hour)
		spec := job.Spec{Name: "x", Schedule: "every 1h", OnAlert: a.add, Logger: quiet}
		ctx, end := context.WithCancel(context.Background())
		p := &process{stop: end}
		first := f.client(&p.dead)
		_, _ = spec.Once(ctx, first, a.first, func(ctx context.Context, _ job.Tick) error { p.kill(); return ctx.Err() })
		first.Close()
		c, _ := f.operator()
		defer c.Close()
		if ran, err := spec.Once(t.Context(), c, a.first.Add(time.Second), func(context.Context, job.Tick) error { return errFull }); !ran || !errors.Is(err, errFull) {
			t.Errorf("the next call: %t, %v", ran, err)
		}
		a.are("crashed 0s", "failed 1s")
	})
}

// A pause that drops a retry ends the hope for that run: one process alerts the failure, in the pause or after it.
func TestAPauseThatDropsARetryIsAlerted(t *testing.T) {
	for _, ready := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(t, 3)
			a := newAlerts(f, time.Hour)
			unfit := error(nil)
			spec := job.Spec{Name: "x", Schedule: "every 1h", Retries: 3, Backoff: 5 * time.Minute, OnAlert: a.add, Ready: func() error { return unfit }}
			var all []*process
			for range 3 {
				all = append(all, f.start(spec, func(*process, context.Context, job.Tick) error { return errFull }))
			}
			c, last := f.operator()
			defer c.Close()
			f.until(a.first.Add(time.Minute))
			a.are()
			if !ready {
				unfit = errFull
			}
			f.must(job.Pause(t.Context(), c, "x", ""))
			f.until(a.first.Add(time.Minute + 15*time.Second))
			a.are("failed 0s")
			f.must(job.Resume(t.Context(), c, "x", ""))
			f.until(a.first.Add(30 * time.Minute))
			f.stopAll(all)
			a.are("failed 0s")
			if o := last(); o.Book.Untold || o.Book.Runs[job.Failed] != 1 {
				t.Errorf("%s: %+v", o, o.Book)
			}
		})
	}
}

// The clocks of a majority were ahead and came back. The job is overdue since a process found that, and one alert says so.
func TestATickInTheFutureIsAlertedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		a := newAlerts(f, time.Minute)
		c, last := f.operator()
		defer c.Close()
		var all []*process
		for range 3 {
			all = append(all, f.start(job.Spec{Name: "x", Schedule: "every 1m", OnAlert: a.add}, func(*process, context.Context, job.Tick) error { return nil }))
		}
		f.until(a.first.Add(30 * time.Second))
		f.must(job.SetTick(t.Context(), c, "x", a.first.Add(48*time.Hour)))
		if o := last(); o.Overdue(f.now()) != 0 || o.Ahead(f.now()) < 47*time.Hour {
			t.Errorf("before a process looks: overdue %s, ahead %s", o.Overdue(f.now()), o.Ahead(f.now()))
		}
		f.must(job.Pause(t.Context(), c, "x", ""))
		f.until(a.first.Add(70 * time.Second))
		a.are()
		f.must(job.Resume(t.Context(), c, "x", ""))
		f.until(a.first.Add(5 * time.Minute))
		a.are("overdue 2m0s")
		if o := last(); o.Overdue(f.now()).Round(time.Minute) != 3*time.Minute {
			t.Errorf("overdue by %s", o.Overdue(f.now()))
		}
		f.must(job.SetTick(t.Context(), c, "x", f.now()))
		if o := last(); o.Ahead(f.now()) != 0 || !o.Book.Stuck.IsZero() || !o.Next.Equal(a.first.Add(6*time.Minute)) {
			t.Errorf("after the reset: %s, %+v", o, o.Book)
		}
		f.stopAll(all)
		a.are("overdue 2m0s")
		if o := last(); o.Overdue(a.first.Add(8*time.Minute)) != 2*time.Minute || o.Schedule != "every 1m" {
			t.Errorf("a job that was reset and then left alone is overdue by %s", o.Overdue(a.first.Add(8*time.Minute)))
		}
	})
}
