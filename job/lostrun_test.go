package job_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/job"
)

// docs/guide/jobs.md: if the lock is lost in the run, retry runs the tick again. A process that is alone does that
// soon, too.
func TestALoneProcessRetriesALostRunSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, l := newFleet(t, 3), newLedger()
		p := f.start(job.Spec{Name: "x", Schedule: "every 24h", OnCrash: job.CrashRetry}, func(p *process, ctx context.Context, tick job.Tick) error {
			l.begins(tick)
			if tick.Attempt > 1 {
				return nil
			}
			p.dead.Store(true) // the nodes are not reached for 10 s
			time.AfterFunc(10*time.Second, func() { p.dead.Store(false) })
			<-ctx.Done()
			return context.Cause(ctx)
		})
		next := f.now().Truncate(24 * time.Hour).Add(24 * time.Hour)
		time.Sleep(next.Sub(f.now()) + 5*time.Minute)
		p.stop()
		f.ends.Wait()
		if l.began[next] != 2 {
			t.Errorf("5 minutes after the lock was lost, the tick began %d times", l.began[next])
		}
	})
}

// The machine of a manual run dies, long before the next tick. With retry the other one repeats the run soon. With skip it
// serves the next request.
func TestARequestAfterALostRunIsServed(t *testing.T) {
	for crash, want := range map[job.OnCrash][]int{job.CrashSkip: {1, 1, 1}, job.CrashRetry: {1, 1, 2, 1}} {
		t.Run(string(crash), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, 3)
				first := f.now().Truncate(24 * time.Hour).Add(24 * time.Hour)
				var runs []job.Tick
				work := func(p *process, ctx context.Context, tick job.Tick) error {
					if runs = append(runs, tick); len(runs) == 2 {
						p.kill()
						<-ctx.Done()
					}
					return ctx.Err()
				}
				spec := job.Spec{Name: "x", Schedule: "every 24h", OnCrash: crash}
				all := []*process{f.start(spec, work)}
				f.until(first.Add(30*time.Minute + 4*time.Second)) // so that the two look at different times
				all = append(all, f.start(spec, work))
				c, last := f.operator()
				defer c.Close()
				for i := range 2 {
					f.until(first.Add(time.Duration(i+1) * time.Hour))
					f.must(job.Trigger(t.Context(), c, "x", ""))
					f.until(first.Add(time.Duration(i+1)*time.Hour + time.Minute))
					if o := last(); o.State != job.Crashed && i == 0 && crash == job.CrashSkip || o.State != job.Done && (i == 1 || crash == job.CrashRetry) {
						t.Errorf("a minute after request %d: %s", i, o)
					}
				}
				f.stopAll(all)
				var got []int
				for _, r := range runs {
					got = append(got, r.Attempt)
				}
				if !slices.Equal(got, want) {
					t.Errorf("the attempts are %v; want %v", got, want)
				}
			})
		})
	}
}

// The machine of a manual run dies, and an operator asks again before another machine repeats that run. Both requests
// cause a run.
func TestARepeatedManualRunKeepsTheNextRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		first := f.now().Truncate(24 * time.Hour).Add(24 * time.Hour)
		var runs []job.Tick
		work := func(p *process, ctx context.Context, tick job.Tick) error {
			if runs = append(runs, tick); len(runs) == 2 {
				p.kill()
			}
			return ctx.Err()
		}
		spec := job.Spec{Name: "x", Schedule: "every 24h", OnCrash: job.CrashRetry}
		p := f.start(spec, work)
		c, last := f.operator()
		defer c.Close()
		f.until(first.Add(time.Hour))
		f.must(job.Trigger(t.Context(), c, "x", "first"))
		f.until(first.Add(time.Hour + time.Minute))
		f.must(job.Trigger(t.Context(), c, "x", "second"))
		q := f.start(spec, work)
		f.until(first.Add(time.Hour + 2*time.Minute))
		f.stopAll([]*process{p, q})
		if o := last(); len(runs) != 4 || runs[2].Attempt != 2 || runs[3].Attempt != 1 || !runs[3].Manual || o.Book.Asked != nil {
			t.Errorf("the runs are %+v; %s, asked %v", runs, o, o.Book.Asked)
		}
	})
}

// A crash is dated to the time at which a process found it, and has a reason: the process of the run knows it, and others
// name the causes.
func TestACrashHasATimeAndAReason(t *testing.T) {
	const long = 5 * time.Minute
	for _, c := range []struct {
		what    string
		end     func(f *fleet, p *process, ctx context.Context) error
		says    string
		repeats bool
	}{
		{"killed", func(_ *fleet, p *process, ctx context.Context) error { p.kill(); return ctx.Err() }, "its process died or lost the lock, or the outcome was not stored", false},
		{"unlocked", func(f *fleet, _ *process, ctx context.Context) error {
			c, _ := f.operator()
			defer c.Close()
			if _, err := admin.Unlock(context.Background(), c, "x", admin.UnlockOptions{}); err != nil {
				f.t.Error(err)
			}
			<-ctx.Done()
			return nil
		}, "it lost its lock: ", false},
		{"not stored", func(f *fleet, _ *process, _ context.Context) error {
			f.storeless.Store(true)
			time.AfterFunc(2*time.Second, func() { f.storeless.Store(false) })
			return errFull
		}, "it was failed, but the outcome was not stored: ", false},
		{"repeated", func(f *fleet, _ *process, _ context.Context) error {
			f.storeless.Store(true)
			time.AfterFunc(2*time.Second, func() { f.storeless.Store(false) })
			return nil
		}, "it was done, but the outcome was not stored: ", true},
	} {
		t.Run(c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, 3)
				first := f.now().Truncate(24 * time.Hour).Add(24 * time.Hour)
				spec := job.Spec{Name: "x", Schedule: "every 24h"}
				if c.repeats {
					spec.OnCrash = job.CrashRetry
				}
				var alerts []job.Alert
				spec.OnAlert = func(a job.Alert) { alerts = append(alerts, a) }
				work := func(p *process, ctx context.Context, tick job.Tick) error {
					if tick.Attempt > 1 {
						return nil
					}
					time.Sleep(long)
					return c.end(f, p, ctx)
				}
				all := []*process{f.start(spec, work)}
				if c.what == "killed" {
					f.until(first.Add(time.Minute))
					all = append(all, f.start(spec, work))
				}
				f.until(first.Add(long + time.Minute))
				o, last := f.operator()
				defer o.Close()
				l := last()
				run := l.History()[0]
				if c.repeats {
					run = l.History()[1]
				}
				if run.State != job.Crashed || !strings.HasPrefix(run.Error, c.says) {
					t.Errorf("the run is %s: %s", run.State, run.Error)
				}
				if late := l.Book.Failed.Sub(first.Add(long)); !c.repeats && (late < 0 || late > 15*time.Second) {
					t.Errorf("it crashed at %s; the book has %s", first.Add(long), l.Book.Failed)
				}
				f.stopAll(all)
				if n := len(alerts); n == 0 || alerts[n-1].Last.Error != run.Error || alerts[n-1].Kind != job.AlertCrashed {
					t.Errorf("the alerts are %+v", alerts)
				}
			})
		})
	}
}
