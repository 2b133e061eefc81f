package job_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/job"
)

// Each run is in the history, the counts and the times. It costs two stores, as without them.
func TestEachRunIsInTheHistory(t *testing.T) {
	for history, want := range map[int]int{0: 51, 3: 4, -1: 1} {
		t.Run(fmt.Sprint(history), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, runs := newFleet(t, 1), 0
				p := f.start(job.Spec{Name: "x", Schedule: "every 1m", History: history}, func(_ *process, ctx context.Context, tick job.Tick) error {
					runs++
					three := 3
					job.SetResult(ctx, job.Result{Exit: &three, Output: strings.Repeat("x", 3*job.MostOutput) + fmt.Sprintf("€\x1b run %d", runs)})
					if time.Sleep(2 * time.Second); runs%2 == 0 {
						return errFull
					}
					return nil
				})
				c, last := f.operator()
				defer c.Close()
				first := f.now().Truncate(time.Minute).Add(time.Minute)
				f.until(first.Add(59*time.Minute + 30*time.Second))
				p.stop()
				f.ends.Wait()
				o := last()
				if runs != 60 || o.Book.Runs[job.Done] != 30 || o.Book.Runs[job.Failed] != 30 || o.Book.Missed != 0 {
					t.Errorf("%d runs; the book has %+v", runs, o.Book.Runs)
				}
				if n := f.stores.Load(); n != 120 {
					t.Errorf("60 runs took %d stores", n)
				}
				if took := o.Book.Took.Round(time.Second); took != 2*time.Second || o.Book.Failed.Sub(o.Book.Done).Round(time.Second) != time.Minute || f.now().Sub(o.Book.Failed) > 29*time.Second {
					t.Errorf("took %s, done %s, failed %s", took, o.Book.Done, o.Book.Failed)
				}
				h := o.History()
				if len(h) != want {
					t.Fatalf("the history has %d runs; want %d", len(h), want)
				}
				for i, r := range h {
					state, failure := job.Done, ""
					if i%2 == 0 {
						state, failure = job.Failed, "disk full"
					}
					if !r.Tick.Equal(first.Add(time.Duration(59-i)*time.Minute)) || r.State != state || r.Error != failure || *r.Exit != 3 || r.Attempt != 1 || r.Took.Round(time.Second) != 2*time.Second {
						t.Errorf("run %d of the history is %+v", i, r)
					}
					if end := fmt.Sprintf("x€\x1b run %d", 60-i); i < 3 && !strings.HasSuffix(r.Output, end) || len(r.Output) > job.MostOutput || i > 10 && r.Output != "" {
						t.Errorf("run %d of the history has %d bytes of output: %q", i, len(r.Output), r.Output)
					}
				}
			})
		})
	}
}

// The ticks of an outage count as missed, once. A run that crashed counts as crashed.
func TestMissedTicksAndCrashesCount(t *testing.T) {
	for _, crash := range []job.OnCrash{job.CrashSkip, job.CrashRetry} {
		t.Run(string(crash), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, 3)
				spec := job.Spec{Name: "x", Schedule: "every 1h", OnCrash: crash}
				c, last := f.operator()
				defer c.Close()
				first := f.now().Truncate(time.Hour).Add(time.Hour)
				f.start(spec, func(p *process, ctx context.Context, tick job.Tick) error {
					if tick.Time.After(first) {
						p.kill()
						return errDead
					}
					return nil
				})
				f.until(first.Add(time.Hour + 10*time.Minute))
				if o := last(); o.State != job.Running || o.Book.Runs[job.Crashed] != 0 {
					t.Errorf("after the crash: %s, runs %v", o, o.Book.Runs)
				}
				if crash == job.CrashSkip {
					p := f.start(spec, func(*process, context.Context, job.Tick) error { return nil })
					time.Sleep(time.Minute)
					if o := last(); o.State != job.Crashed || o.Book.Runs[job.Crashed] != 1 || o.Book.Failed.IsZero() {
						t.Errorf("after a look: %s, runs %v", o, o.Book.Runs)
					}
					p.stop()
				}
				f.until(first.Add(4*time.Hour + 30*time.Minute))
				p := f.start(spec, func(*process, context.Context, job.Tick) error { return nil })
				f.until(first.Add(6*time.Hour + 30*time.Minute))
				p.stop()
				f.ends.Wait()
				o := last()
				got := fmt.Sprintf("%v retried %d missed %d history %d", o.Book.Runs, o.Book.Retried, o.Book.Missed, len(o.History()))
				want := "map[crashed:1 done:3] retried 0 missed 3 history 4"
				if crash == job.CrashRetry { // the tick of the crash is done at its second attempt
					want = "map[done:4] retried 1 missed 3 history 5"
				}
				if got != want {
					t.Errorf("%s; want %s", got, want)
				}
			})
		})
	}
}

// A value of a version without a book is the outcome of a job. Its run moves to the history.
func TestAValueWithoutABookIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 1)
		c, last := f.operator()
		defer c.Close()
		l, err := c.Mutex("x").Lock(t.Context())
		f.must(err)
		f.must(l.Store(t.Context(), []byte(`{"holdfast_job":1,"tick":"1999-12-31T23:00:00Z","state":"done","host":"web-1/7","fence":7,`+
			`"attempt":1,"started":"1999-12-31T23:00:00Z","took":1000000,"error":"","missed":0,"spec":"","schedule":"every 1h"}`)))
		f.must(l.Unlock(t.Context()))
		ran, err := job.Once(t.Context(), c, "x", f.now(), func(context.Context, job.Tick) error { return nil })
		if !ran || err != nil {
			t.Fatal(ran, err)
		}
		if h := last().History(); len(h) != 2 || h[1].Host != "web-1/7" || h[1].Took != time.Millisecond || h[1].State != job.Done {
			t.Errorf("the history is %+v", h)
		}
	})
}

// SetResult works in the context of a Turn, and does nothing outside a run.
func TestATurnHasAResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 1)
		c, last := f.operator()
		defer c.Close()
		turn, err := job.Spec{Name: "x"}.Begin(t.Context(), c, f.now())
		f.must(err)
		job.SetResult(t.Context(), job.Result{Output: "of no run"})
		job.SetResult(turn.Context(), job.Result{Output: "first"})
		job.SetResult(turn.Context(), job.Result{Output: "last"})
		f.must(turn.End(nil))
		if o := last(); o.Output != "last" || o.Exit != nil {
			t.Errorf("the output is %q, the exit code %v", o.Output, o.Exit)
		}
	})
}

// A machine that is not ready leaves its ticks to the others. It takes a tick that nobody took when it becomes ready.
func TestAMachineThatIsNotReadyLeavesTheTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, log, asked := newFleet(t, 3), &records{}, atomic.Int64{}
		a := newAttempts(f, time.Minute)
		var unfit [2]atomic.Pointer[error]
		spec := func(i int) job.Spec {
			return job.Spec{Name: "x", Schedule: "every 1m", Logger: log.logger(), Ready: func() error {
				if err := unfit[i].Load(); err != nil {
					asked.Add(1)
					return *err
				}
				return nil
			}}
		}
		work := func(p *process, _ context.Context, tick job.Tick) error { a.begins(p, tick); return nil }
		unfit[0].Store(&errFull)
		one, two := f.start(spec(0), work), f.start(spec(1), work)
		f.until(a.first.Add(90 * time.Second))
		if a.by[one] != 0 || a.by[two] != 2 || log.count("not ready") != 1 || !strings.Contains(strings.Join(log.all, ""), "disk full") {
			t.Errorf("one machine is not ready: it ran %d times, the other one %d times; the log: %s", a.by[one], a.by[two], log.all)
		}
		unfit[1].Store(&errFull)
		f.until(a.first.Add(2*time.Minute + 15*time.Second))
		if len(a.all) != 2 || asked.Load() < 10 {
			t.Errorf("no machine is ready: %v; Ready was called %d times", a.all, asked.Load())
		}
		unfit[0].Store(nil)
		f.until(a.first.Add(2*time.Minute + 30*time.Second))
		if a.by[one] != 1 || len(a.all) != 3 || !strings.HasPrefix(a.all[2], "2m0s/1") || log.count("can run on this machine again") != 1 {
			t.Errorf("one machine is ready again: %v; the log: %s", a.all, log.all)
		}
		one.stop()
		two.stop()
		f.ends.Wait()
	})
}
