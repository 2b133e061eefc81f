package job_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/job/jobmetrics"
)

var errFull = errors.New("disk full")

// attempts keeps the attempts of a job, with the times at which they began.
type attempts struct {
	f     *fleet
	first time.Time // the tick from which the times count
	all   []string
	by    map[*process]int
}

func (a *attempts) begins(p *process, tick job.Tick) {
	a.all = append(a.all, fmt.Sprintf("%s/%d at %s", tick.Time.Sub(a.first), tick.Attempt, a.f.now().Sub(a.first).Round(time.Second)))
	a.by[p]++
}

func newAttempts(f *fleet, every time.Duration) *attempts {
	return &attempts{f: f, first: f.now().Truncate(every).Add(every), by: map[*process]int{}}
}

func (a *attempts) are(want string) {
	a.f.t.Helper()
	if got := strings.Join(a.all, ", "); got != want {
		a.f.t.Errorf("the attempts are %s; want %s", got, want)
	}
}

// A run that failed is repeated after Backoff, as often as Retries says, and only the last attempt counts.
func TestAFailedRunIsRepeated(t *testing.T) {
	for _, c := range []struct {
		fails                        int
		attempts                     string
		done, failed, retried, after int
	}{
		{0, "0s/1 at 0s", 1, 0, 0, 0},
		{1, "0s/1 at 0s, 0s/2 at 1m1s", 1, 0, 1, 1},
		{2, "0s/1 at 0s, 0s/2 at 1m1s, 0s/3 at 2m2s", 1, 0, 2, 2},
		{9, "0s/1 at 0s, 0s/2 at 1m1s, 0s/3 at 2m2s", 0, 1, 2, 3},
	} {
		t.Run(fmt.Sprint(c.fails, " failures"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, 3)
				a := newAttempts(f, time.Hour)
				var all []*process
				for range 4 {
					all = append(all, f.start(job.Spec{Name: "x", Schedule: "every 1h", Retries: 2}, func(p *process, _ context.Context, tick job.Tick) error {
						a.begins(p, tick)
						if time.Sleep(time.Second); tick.Attempt <= c.fails {
							return errFull
						}
						return nil
					}))
				}
				o, last := f.operator()
				defer o.Close()
				f.until(a.first.Add(30 * time.Second))
				if l := last(); c.fails > 0 && (l.State != job.Failed || l.Retry.Sub(a.first).Round(time.Second) != 61*time.Second || l.Book.Runs[job.Failed] != 0 || !strings.Contains(l.String(), "retry at")) {
					t.Errorf("after the first attempt: %s, retry %s, runs %v", l, l.Retry, l.Book.Runs)
				}
				f.until(a.first.Add(50 * time.Minute))
				for _, p := range all {
					p.stop()
				}
				f.ends.Wait()
				a.are(c.attempts)
				l := last()
				if l.Book.Runs[job.Done] != c.done || l.Book.Runs[job.Failed] != c.failed || l.Book.Retried != c.retried || l.Failures != c.after || !l.Retry.IsZero() {
					t.Errorf("%s: runs %v, retried %d, failures %d, retry %s", l, l.Book.Runs, l.Book.Retried, l.Failures, l.Retry)
				}
				if h := l.History(); len(h) != c.retried+1 || h[0].Attempt != c.retried+1 || c.retried > 0 && (h[1].State != job.Failed || h[1].Error != "disk full") {
					t.Errorf("the history is %+v", h)
				}
			})
		})
	}
}

// A retry runs on any machine: on one that waited for the lock, and on one that starts later. Until then the machine
// that failed may be gone.
func TestAnotherMachineRunsTheRetry(t *testing.T) {
	for _, starts := range []string{"before", "later", "after the time of the retry"} {
		t.Run(starts, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, 3)
				a := newAttempts(f, time.Hour)
				spec := job.Spec{Name: "x", Schedule: "every 1h", Retries: 1, Backoff: 5 * time.Minute}
				work := func(p *process, _ context.Context, tick job.Tick) error {
					a.begins(p, tick)
					if tick.Attempt == 1 {
						p.stop()
						time.Sleep(time.Second)
						return nil
					}
					return nil
				}
				fails := func(p *process, _ context.Context, tick job.Tick) error {
					a.begins(p, tick)
					return errFull
				}
				one := f.start(spec, fails)
				f.until(a.first.Add(-time.Minute))
				var two *process
				want := "0s/1 at 0s, 0s/2 at 5m0s"
				if starts == "before" {
					f.until(a.first.Add(time.Second)) // the other one has its first look after the run
					two = f.start(spec, work)
					f.until(a.first.Add(2 * time.Second))
					one.stop()
				} else {
					f.until(a.first.Add(time.Second))
					one.stop()
					if starts == "later" {
						f.until(a.first.Add(time.Minute))
					} else {
						f.until(a.first.Add(7 * time.Minute))
						want = "0s/1 at 0s, 0s/2 at 7m0s"
					}
					two = f.start(spec, work)
				}
				f.until(a.first.Add(20 * time.Minute))
				two.stop()
				f.ends.Wait()
				a.are(want)
				if a.by[two] != 1 {
					t.Errorf("the other machine ran %d attempts", a.by[two])
				}
			})
		})
	}
}

// A tick that comes due before the retry replaces it. Then the failed run counts.
func TestATickReplacesTheRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		a := newAttempts(f, time.Minute)
		p := f.start(job.Spec{Name: "x", Schedule: "every 1m", Retries: 3, Backoff: 90 * time.Second}, func(p *process, _ context.Context, tick job.Tick) error {
			a.begins(p, tick)
			if len(a.all) == 1 {
				return errFull
			}
			return nil
		})
		o, last := f.operator()
		defer o.Close()
		f.until(a.first.Add(150 * time.Second))
		p.stop()
		f.ends.Wait()
		a.are("0s/1 at 0s, 1m0s/1 at 1m0s, 2m0s/1 at 2m0s")
		if l := last(); l.Book.Runs[job.Failed] != 1 || l.Book.Runs[job.Done] != 2 || l.Book.Retried != 0 || l.Book.Failed.Sub(a.first).Abs() > time.Second {
			t.Errorf("%s: runs %v, retried %d, failed %s", l, l.Book.Runs, l.Book.Retried, l.Book.Failed)
		}
	})
}

// A pause drops the retry, and the failed run counts.
func TestAPauseDropsTheRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		a := newAttempts(f, time.Hour)
		p := f.start(job.Spec{Name: "x", Schedule: "every 1h", Retries: 3, Backoff: 5 * time.Minute}, func(p *process, _ context.Context, tick job.Tick) error {
			a.begins(p, tick)
			return errFull
		})
		c, last := f.operator()
		defer c.Close()
		f.until(a.first.Add(time.Minute))
		f.must(job.Pause(t.Context(), c, "x", ""))
		f.must(job.Resume(t.Context(), c, "x", ""))
		f.until(a.first.Add(30 * time.Minute))
		p.stop()
		f.ends.Wait()
		a.are("0s/1 at 0s")
		if l := last(); l.Book.Runs[job.Failed] != 1 || l.Book.Retried != 0 || !l.Retry.IsZero() {
			t.Errorf("%s: runs %v, retried %d, retry %s", l, l.Book.Runs, l.Book.Retried, l.Retry)
		}
	})
}

// A panic is not repeated. Once and Begin repeat no error, whatever Retries says.
func TestWhatIsNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 1)
		spec := job.Spec{Name: "x", Schedule: "every 1h", Retries: 3, Backoff: time.Second, Logger: quiet}
		c, last := f.operator()
		defer c.Close()
		tick := f.now().Truncate(time.Hour)
		if ran, err := spec.Once(t.Context(), c, tick, func(context.Context, job.Tick) error { return errFull }); !ran || !errors.Is(err, errFull) {
			t.Fatal(ran, err)
		}
		if l := last(); !l.Retry.IsZero() || l.Book.Runs[job.Failed] != 1 {
			t.Errorf("after Once: retry %s, runs %v", l.Retry, l.Book.Runs)
		}
		if ran, err := spec.Once(t.Context(), c, tick, nothing); ran || err != nil {
			t.Errorf("a second Once: %t, %v", ran, err)
		}
		done := make(chan any)
		go func() {
			defer func() { done <- recover() }()
			d := f.client(&atomic.Bool{})
			defer d.Close()
			_ = job.Run(t.Context(), d, spec, func(context.Context, job.Tick) error { panic("oh") })
		}()
		if p := <-done; p != "oh" {
			t.Errorf("recovered %v", p)
		}
		if l := last(); l.Error != "panic: oh" || !l.Retry.IsZero() || l.Book.Runs[job.Failed] != 2 || len(l.History()) != 2 {
			t.Errorf("after a panic: %s, retry %s, runs %v", l, l.Retry, l.Book.Runs)
		}
	})
}

// A retry that would not come before the next tick is none: the run has failed, and everything says so at once.
func TestARetryAfterTheNextTickIsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		a, told := newAttempts(f, time.Minute), newAlerts(f, time.Minute)
		p := f.start(job.Spec{Name: "x", Schedule: "every 1m", Retries: 3, OnAlert: told.add}, func(p *process, _ context.Context, tick job.Tick) error {
			a.begins(p, tick)
			return errFull
		})
		c, last := f.operator()
		defer c.Close()
		f.until(a.first.Add(30 * time.Second))
		told.are("failed 0s")
		if l := last(); !l.Retry.IsZero() || l.Book.Runs[job.Failed] != 1 {
			t.Errorf("%s: runs %v", l, l.Book.Runs)
		}
		f.until(a.first.Add(150 * time.Second))
		j, _ := jobmetrics.Of("c", "x", *last(), f.now())
		f.stopAll([]*process{p})
		a.are("0s/1 at 0s, 1m0s/1 at 1m0s, 2m0s/1 at 2m0s")
		told.are("failed 0s", "failed 1m0s", "failed 2m0s")
		if !j.Failed {
			t.Errorf("%+v", j)
		}
	})
}

// A request while a failed attempt waits for its retry causes a run of its own, also if the retry is due first.
func TestARequestBeforeARetryIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		first := f.now().Truncate(time.Hour).Add(time.Hour)
		var runs []job.Tick
		var begun atomic.Bool
		told := 0
		p := f.start(job.Spec{Name: "x", Schedule: "every 1h", Retries: 1, Backoff: 5 * time.Second, OnAlert: func(job.Alert) { told++ }}, func(_ *process, _ context.Context, tick job.Tick) error {
			if tick.Manual {
				runs = append(runs, tick)
				begun.Store(true)
				return errFull
			}
			return nil
		})
		c, last := f.operator()
		defer c.Close()
		f.until(first.Add(time.Minute))
		f.must(job.Trigger(t.Context(), c, "x", "first"))
		for !begun.Load() {
			f.until(f.now().Add(100 * time.Millisecond))
		}
		f.until(f.now().Add(time.Second)) // the retry comes before the next look
		f.must(job.Trigger(t.Context(), c, "x", "second"))
		f.until(first.Add(30 * time.Minute))
		f.stopAll([]*process{p})
		if len(runs) != 3 || runs[0].Attempt != 1 || runs[1].Attempt != 1 || runs[2].Attempt != 2 || !runs[1].Time.After(runs[0].Time) || !runs[2].Time.Equal(runs[1].Time) {
			t.Errorf("the manual runs are %+v", runs)
		}
		if o := last(); o.Book.Asked != nil || o.Book.Runs[job.Failed] != 2 || o.Book.Retried != 1 || told != 2 {
			t.Errorf("%s: asked %v, runs %v, retried %d, %d alerts", o, o.Book.Asked, o.Book.Runs, o.Book.Retried, told)
		}
	})
}

// All machines die before a retry. A minute after its time the run counts as failed, and the job as overdue.
func TestARetryThatNobodyRunsIsAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		first := f.now().Truncate(24 * time.Hour).Add(24 * time.Hour)
		p := f.start(job.Spec{Name: "x", Schedule: "every 24h", Retries: 1}, func(*process, context.Context, job.Tick) error { return errFull })
		c, last := f.operator()
		defer c.Close()
		f.until(first.Add(10 * time.Second))
		f.stopAll([]*process{p})
		for _, c := range []struct {
			after   time.Duration
			failed  bool
			overdue time.Duration
		}{{50 * time.Second, false, 0}, {110 * time.Second, false, 50 * time.Second}, {125 * time.Second, true, 65 * time.Second}} {
			f.until(first.Add(c.after))
			o := last()
			if j, _ := jobmetrics.Of("c", "x", *o, f.now()); j.Failed != c.failed || (o.Overdue(f.now())-c.overdue).Abs() > time.Second || j.Overdue != o.Overdue(f.now()) {
				t.Errorf("%s after the tick: failed %t, overdue %s", c.after, j.Failed, o.Overdue(f.now()))
			}
		}
	})
}
