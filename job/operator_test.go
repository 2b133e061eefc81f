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

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/job"
)

// operator is a client that runs no job.
func (f *fleet) operator() (client *holdfast.Client, last func() *job.Outcome) {
	c := f.client(&atomic.Bool{})
	return c, func() *job.Outcome {
		f.t.Helper()
		o, err := job.Last(context.Background(), c, "x")
		if err != nil || o == nil {
			f.t.Fatalf("the last outcome is %v, %v", o, err)
		}
		return o
	}
}

// until sleeps until an instant of the nodes, and until all other goroutines wait.
func (f *fleet) until(at time.Time) {
	time.Sleep(at.Sub(f.now()))
	synctest.Wait()
}

// must fails the test at an error.
func (f *fleet) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// audit returns the actions of a job, oldest first.
func audit(o *job.Outcome) (s string) {
	for _, a := range o.Book.Audit {
		s = strings.TrimSpace(fmt.Sprint(a.What, ":", a.Note, " ", s))
	}
	return s
}

// A paused job takes no tick, in no way to run it. After the pause, its ticks are not run, and do not count as missed.
func TestAPausedJobTakesNoTick(t *testing.T) {
	for _, missed := range []job.Missed{job.MissedSkip, job.MissedOnce, job.MissedAll} {
		t.Run(string(missed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, l, log := newFleet(t, 3), newLedger(), &records{}
				spec := job.Spec{Name: "x", Schedule: "every 1m", Missed: missed, Logger: log.logger()}
				work := func(_ *process, _ context.Context, tick job.Tick) error { l.begins(tick); return nil }
				var all []*process
				for range 3 {
					all = append(all, f.start(spec, work))
				}
				c, last := f.operator()
				defer c.Close()
				first := f.now().Truncate(time.Minute).Add(time.Minute)
				f.until(first.Add(10 * time.Second))
				f.must(job.Pause(t.Context(), c, "x", "the disk is full"))
				f.until(first.Add(4*time.Minute + 30*time.Second))
				if l.runs != 1 {
					t.Errorf("a paused job ran: %v", l.order)
				}
				if n := log.count("job is paused"); n != 3 {
					t.Errorf("three processes report the pause %d times", n)
				}
				ran, err := spec.Once(t.Context(), c, f.now(), nothing)
				if ran || err != nil {
					t.Errorf("Once in a pause: %t, %v", ran, err)
				}
				_, err = spec.Begin(t.Context(), c, f.now())
				var taken *job.TakenError
				if !errors.As(err, &taken) || !strings.Contains(err.Error(), `the job is paused: pause by `) || !strings.Contains(err.Error(), `("the disk is full")`) {
					t.Errorf("Begin in a pause: %v", err)
				}
				if p := last().Book.Paused; p == nil || p.Note != "the disk is full" || !strings.Contains(p.By, "/") || f.now().Sub(p.At) > 5*time.Minute {
					t.Errorf("the pause is %+v", p)
				}
				if late := last().Overdue(f.now()); late != 0 {
					t.Errorf("a paused job is overdue by %s", late)
				}
				f.must(job.Resume(t.Context(), c, "x", ""))
				f.must(job.Resume(t.Context(), c, "x", "again"))
				if next := first.Add(5 * time.Minute); !last().Next.Equal(next) {
					t.Errorf("the next tick is %s; want %s", last().Next, next)
				}
				f.until(first.Add(5*time.Minute + 30*time.Second))
				for _, p := range all {
					p.stop()
				}
				f.ends.Wait()
				if len(l.order) != 2 || !l.order[1].Equal(first.Add(5*time.Minute)) {
					t.Errorf("the runs are %v", l.order)
				}
				if o := last(); o.Book.Missed != 0 || o.Missed != 0 || o.Book.Runs[job.Done] != 2 || audit(o) != "pause:the disk is full resume:" {
					t.Errorf("missed %d and %d, runs %v, audit %s", o.Book.Missed, o.Missed, o.Book.Runs, audit(o))
				}
			})
		})
	}
}

// A pause that comes while a process waits for the lock of its tick prevents the run, too.
func TestAPauseBeforeTheLockPreventsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		a, last := f.operator()
		b, _ := f.operator()
		c, _ := f.operator()
		defer a.Close()
		defer b.Close()
		defer c.Close()
		f.must(job.SetTick(t.Context(), a, "x", f.now().Add(-time.Hour)))
		lease, err := a.Mutex("x").Lock(t.Context())
		f.must(err)
		f.ends.Go(func() { f.must(job.Pause(t.Context(), b, "x", "")) })
		time.Sleep(time.Second)
		f.ends.Go(func() {
			if ran, err := job.Once(t.Context(), c, "x", f.now(), func(context.Context, job.Tick) error { return nil }); ran || err != nil {
				t.Errorf("a paused job ran: %t, %v", ran, err)
			}
		})
		time.Sleep(time.Second)
		f.must(lease.Unlock(t.Context()))
		f.ends.Wait()
		if last().Book.Paused == nil {
			t.Error("the job is not paused")
		}
	})
}

// The runs of a job take longer than the time between its ticks, so a tick is always due. A pause comes between two runs
// nevertheless.
func TestAPauseComesBetweenTicksThatAreDue(t *testing.T) {
	for _, n := range []int{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			f, l := newFleet(t, 3), newLedger()
			var all []*process
			for range n {
				all = append(all, f.start(job.Spec{Name: "x", Schedule: "every 1s", Missed: job.MissedAll}, func(_ *process, _ context.Context, tick job.Tick) error {
					l.begins(tick)
					time.Sleep(2 * time.Second)
					return nil
				}))
			}
			c, _ := f.operator()
			defer c.Close()
			f.until(f.now().Add(2 * time.Minute))
			ctx, cancel := context.WithTimeout(t.Context(), 70*time.Second)
			defer cancel()
			if err := job.Pause(ctx, c, "x", ""); err != nil {
				t.Errorf("%d processes: %v", n, err)
			}
			for _, p := range all {
				p.stop()
			}
			f.ends.Wait()
			for i, tick := range l.order {
				if i > 0 && tick.Sub(l.order[i-1]) != time.Second {
					t.Errorf("the tick %s follows %s", tick, l.order[i-1])
				}
			}
		})
	}
}

// An operator asks for a run. One machine begins it soon, once for each request.
func TestARequestCausesOneRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, l := newFleet(t, 3), newLedger()
		type run struct {
			job.Tick
			at time.Time
		}
		var runs []run
		var all []*process
		for range 5 {
			all = append(all, f.start(job.Spec{Name: "x", Schedule: "every 1h"}, func(_ *process, _ context.Context, tick job.Tick) error {
				l.begins(tick)
				runs = append(runs, run{tick, f.now()})
				time.Sleep(30 * time.Second)
				return nil
			}))
		}
		c, last := f.operator()
		defer c.Close()
		first := f.now().Truncate(time.Hour).Add(time.Hour)
		f.until(first.Add(10 * time.Minute))
		for i := range 3 {
			asked := f.now()
			f.must(job.Trigger(t.Context(), c, "x", fmt.Sprint("request ", i)))
			if err := job.Trigger(t.Context(), c, "x", "once more"); !errors.Is(err, job.ErrAsked) || !strings.Contains(err.Error(), fmt.Sprintf(`("request %d")`, i)) {
				t.Errorf("a second request: %v", err)
			}
			f.until(asked.Add(time.Minute))
			if len(runs) != 2+i {
				t.Fatalf("request %d: the runs are %v", i, runs)
			}
			r := runs[1+i]
			if late := r.at.Sub(asked); late > 12*time.Second || !r.Manual || r.Attempt != 1 || r.Missed != 0 || r.Time.Sub(asked).Abs() > time.Second {
				t.Errorf("request %d at %s: the run %+v began %s later", i, asked, r, late)
			}
			if o := last(); !o.Manual || o.Book.Asked != nil || o.State != job.Done || !o.Next.Equal(first.Add(time.Hour)) {
				t.Errorf("the outcome of request %d is %s, %+v", i, o, o.Book.Asked)
			}
		}
		f.until(first.Add(time.Hour + time.Minute))
		for _, p := range all {
			p.stop()
		}
		f.ends.Wait()
		if len(runs) != 5 || runs[0].Manual || runs[4].Manual || !runs[4].Time.Equal(first.Add(time.Hour)) || runs[4].Missed != 0 {
			t.Errorf("the runs are %v", runs)
		}
		if o := last(); o.Book.Runs[job.Done] != 5 || o.Book.Missed != 0 || len(o.History()) != 5 || !o.History()[1].Manual || o.History()[0].Manual {
			t.Errorf("runs %v, missed %d, history %+v", o.Book.Runs, o.Book.Missed, o.History())
		}
	})
}

// A request that nobody served is dropped after ten minutes. A pause drops it at once, and refuses others.
func TestAnOldRequestIsDropped(t *testing.T) {
	for _, why := range []string{"age", "pause", "served in time"} {
		t.Run(why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, l := newFleet(t, 3), newLedger()
				spec := job.Spec{Name: "x", Schedule: "every 24h"}
				work := func(_ *process, _ context.Context, tick job.Tick) error { l.begins(tick); return nil }
				c, last := f.operator()
				defer c.Close()
				f.must(job.SetTick(t.Context(), c, "x", f.now()))
				f.must(job.Trigger(t.Context(), c, "x", ""))
				want := 0
				switch why {
				case "age":
					time.Sleep(job.AskedFor + time.Second)
				case "pause":
					f.must(job.Pause(t.Context(), c, "x", ""))
					if err := job.Trigger(t.Context(), c, "x", ""); !errors.Is(err, job.ErrPaused) {
						t.Errorf("a request in a pause: %v", err)
					}
					f.must(job.Resume(t.Context(), c, "x", ""))
				default:
					time.Sleep(job.AskedFor - time.Minute)
					want = 1
				}
				p := f.start(spec, work)
				f.until(f.now().Add(2 * time.Minute))
				if l.runs != want {
					t.Errorf("%d runs; want %d", l.runs, want)
				}
				if why == "age" { // a new request replaces the old one
					f.must(job.Trigger(t.Context(), c, "x", ""))
					f.until(f.now().Add(time.Minute))
					if l.runs != 1 || last().Book.Asked != nil {
						t.Errorf("after a new request: %d runs, %+v", l.runs, last().Book.Asked)
					}
				}
				p.stop()
				f.ends.Wait()
			})
		})
	}
}

// A second pause without a note keeps the first one and its reason. A pause with a note replaces it.
func TestAPauseWithoutANoteKeepsTheReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		c, last := f.operator()
		defer c.Close()
		f.must(job.SetTick(t.Context(), c, "x", f.now()))
		for _, step := range []struct{ note, want string }{{"the disk is full", "the disk is full"}, {"", "the disk is full"}, {"a new disk", "a new disk"}} {
			f.must(job.Pause(t.Context(), c, "x", step.note))
			if p := last().Book.Paused; p == nil || p.Note != step.want {
				t.Errorf("after the note %q: %+v", step.note, p)
			}
		}
		if o := last(); audit(o) != "reset: pause:the disk is full pause: pause:a new disk" {
			t.Errorf("the audit is %s", audit(o))
		}
	})
}
