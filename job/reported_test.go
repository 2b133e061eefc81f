package job_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/job"
)

// The only machine that is ready dies in its run, ends it, or fails and stops before the retry. The others cannot repeat
// it. One alert says that it crashed, and one that the job is overdue: after the tick, or when the repetition was due.
func TestARunThatNobodyCanRepeatIsAlertedOnce(t *testing.T) {
	for _, c := range []struct {
		how                 string
		soon, later, finish []string
	}{
		{"it dies", []string{"crashed 0s"}, []string{"crashed 0s", "overdue 1h0m0s"}, []string{"crashed 0s", "overdue 1h0m0s"}},
		{"it ends", []string{"overdue 0s"}, []string{"overdue 0s"}, []string{"overdue 0s"}},
		{"it fails", nil, []string{"overdue 0s"}, []string{"overdue 0s", "failed 0s"}}, // a tick replaces the retry
	} {
		t.Run(c.how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, 3)
				a := newAlerts(f, time.Hour)
				spec := job.Spec{Name: "x", Schedule: "every 1h", OnCrash: job.CrashRetry, Retries: 1, Backoff: 10 * time.Minute, OnAlert: a.add}
				f.until(a.first.Add(-time.Minute))
				all := []*process{f.start(spec, func(p *process, ctx context.Context, _ job.Tick) error {
					switch c.how {
					case "it dies":
						p.kill()
					case "it ends":
						p.stop()
					default:
						return errors.New("no")
					}
					<-ctx.Done()
					return ctx.Err()
				})}
				unready := spec
				unready.Ready = func() error { return errors.New("no such user") }
				for range 2 {
					all = append(all, f.start(unready, ok))
				}
				f.until(a.first.Add(3 * time.Minute))
				all[0].stop()
				a.are(c.soon...)
				f.until(a.first.Add(2*time.Hour + 10*time.Minute))
				a.are(c.later...)
				all = append(all, f.start(spec, ok))
				f.until(a.first.Add(3*time.Hour + 10*time.Minute))
				f.stopAll(all)
				a.are(c.finish...)
			})
		})
	}
}

// A run was interrupted, and its job paused for an hour or in no file. The repetition is not overdue at the end of that.
func TestARepetitionIsNotOverdueAfterAPause(t *testing.T) {
	for _, how := range []string{"pause", "retire"} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, 3)
				a := newAlerts(f, 3*time.Hour)
				spec := job.Spec{Name: "x", Schedule: "every 3h", OnCrash: job.CrashRetry, OnAlert: a.add}
				f.until(a.first.Add(-time.Minute))
				p := f.start(spec, func(p *process, ctx context.Context, _ job.Tick) error {
					p.stop()
					<-ctx.Done()
					return ctx.Err()
				})
				c, last := f.operator()
				defer c.Close()
				f.until(a.first.Add(time.Second))
				f.stopAll([]*process{p})
				if how == "pause" {
					f.must(job.Pause(t.Context(), c, "x", ""))
				} else {
					f.must(job.Retire(t.Context(), c, "x", ""))
				}
				f.until(a.first.Add(time.Hour))
				unready := spec
				unready.Ready = func() error { return errors.New("no disk") }
				if how == "pause" {
					f.must(job.Resume(t.Context(), c, "x", ""))
				}
				p = f.start(unready, ok)
				f.until(a.first.Add(time.Hour + 30*time.Second))
				if o := last(); o.Overdue(f.now()) > 31*time.Second {
					t.Errorf("overdue by %s", o.Overdue(f.now()))
				}
				a.are()
				q := f.start(spec, ok)
				f.until(a.first.Add(time.Hour + 2*time.Minute))
				f.stopAll([]*process{p, q})
				if o := last(); o.State != job.Done || o.Attempt != 2 {
					t.Errorf("the outcome is %s", o)
				}
				a.are()
			})
		})
	}
}

// A run was interrupted and waits for its repetition. A new version of the job repeats no such run. It has ended then, and
// is not overdue.
func TestARepetitionThatANewVersionDoesNotMakeIsNotOverdue(t *testing.T) {
	for _, ready := range []error{nil, errors.New("no disk")} {
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(t, 3)
			a := newAlerts(f, time.Hour)
			spec := job.Spec{Name: "x", Schedule: "every 1h", OnCrash: job.CrashRetry, OnAlert: a.add}
			f.until(a.first.Add(-time.Minute))
			p := f.start(spec, func(p *process, ctx context.Context, _ job.Tick) error {
				p.stop()
				<-ctx.Done()
				return ctx.Err()
			})
			c, last := f.operator()
			defer c.Close()
			f.until(a.first.Add(time.Second))
			f.stopAll([]*process{p})
			spec.OnCrash, spec.Ready = job.CrashSkip, func() error { return ready }
			p = f.start(spec, ok)
			f.until(a.first.Add(50 * time.Minute))
			f.stopAll([]*process{p})
			if o := last(); o.Overdue(f.now()) != 0 || o.Book.Runs[job.Interrupted] != 1 {
				t.Errorf("ready %v: overdue by %s, the runs are %v", ready == nil, o.Overdue(f.now()), o.Book.Runs)
			}
			a.are()
		})
	}
}

func ok(*process, context.Context, job.Tick) error { return nil }

// No machine can run a new job, or one that was removed and is still in the file. One alert says so until it runs. If it
// leaves the file and comes back, there is another one.
func TestANewJobThatNobodyCanRunIsAlertedOnce(t *testing.T) {
	for _, before := range []string{"new", "removed"} {
		t.Run(before, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, 3)
				a := newAlerts(f, time.Hour)
				c, last := f.operator()
				defer c.Close()
				spec := job.Spec{Name: "x", Schedule: "every 1h", OnAlert: a.add}
				f.until(a.first.Add(-2 * time.Minute))
				if before == "removed" {
					p := f.start(job.Spec{Name: "x", Schedule: "every 1h"}, ok)
					f.until(a.first.Add(time.Second))
					f.stopAll([]*process{p})
					f.must(job.Remove(t.Context(), c, "x", ""))
					a.first = a.first.Add(time.Hour)
				}
				unready := spec
				unready.Ready = func() error { return errors.New("command not found") }
				up := func() []*process { return []*process{f.start(unready, ok), f.start(unready, ok)} }
				all := up()
				f.until(a.first.Add(time.Minute))
				a.are()
				f.until(a.first.Add(2 * time.Minute))
				a.are("overdue 0s")
				f.stopAll(all)
				all = up()
				f.until(a.first.Add(2*time.Hour + 2*time.Minute))
				a.are("overdue 0s")
				if o := last(); o.State != job.Removed || o.Book.Runs[job.Done] != map[string]int{"removed": 1}[before] {
					t.Errorf("the outcome is %s, %v", o, o.Book.Runs)
				}
				f.stopAll(all)
				f.must(job.Retire(t.Context(), c, "x", "not in the file"))
				all = up()
				f.until(a.first.Add(3*time.Hour + 2*time.Minute))
				a.are("overdue 0s", "overdue 3h0m0s")
				all = append(all, f.start(spec, ok))
				f.until(a.first.Add(4*time.Hour + 2*time.Minute))
				if o := last(); o.State != job.Done || !o.Tick.Equal(a.first.Add(4*time.Hour)) {
					t.Errorf("the outcome is %s", o)
				}
				f.stopAll(all)
				a.are("overdue 0s", "overdue 3h0m0s")
			})
		})
	}
}

// A run failed and waits for its retry, or its process died. Then an operator resets or removes the job. One alert says
// how the run ended.
func TestARunThatAnOperatorReplacedIsAlertedOnce(t *testing.T) {
	for _, how := range []string{"reset", "remove", "pause, reset", "reset, remove"} {
		for _, dies := range []bool{false, true} {
			t.Run(fmt.Sprint(how, " dies=", dies), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := newFleet(t, 3)
					a := newAlerts(f, time.Hour)
					spec := job.Spec{Name: "x", Schedule: "every 1h", Retries: 1, Backoff: 30 * time.Minute, OnAlert: a.add}
					f.until(a.first.Add(-time.Minute))
					first := true
					work := func(p *process, ctx context.Context, _ job.Tick) error {
						if !first {
							return nil
						}
						if first = false; dies {
							p.kill()
						}
						return errors.New("no")
					}
					all := []*process{f.start(spec, work), f.start(spec, work)}
					c, last := f.operator()
					defer c.Close()
					f.until(a.first.Add(time.Second))
					reset := func() { f.must(job.SetTick(t.Context(), c, "x", f.now())) }
					switch how {
					case "reset":
						reset()
					case "remove":
						f.must(job.Remove(t.Context(), c, "x", ""))
					case "pause, reset":
						f.must(job.Pause(t.Context(), c, "x", ""))
						reset()
						f.must(job.Resume(t.Context(), c, "x", ""))
					default:
						reset()
						f.must(job.Remove(t.Context(), c, "x", ""))
					}
					f.until(a.first.Add(2*time.Hour + time.Minute))
					f.stopAll(all)
					want := "failed 0s"
					if dies {
						want = "crashed 0s"
					}
					a.are(want)
					if o := last(); o.Book.Untold || o.Book.Runs[job.Failed]+o.Book.Runs[job.Crashed] != 1 {
						t.Errorf("untold %v, the runs are %v", o.Book.Untold, o.Book.Runs)
					}
				})
			})
		}
	}
}

// A run crashes, and an operator pauses the job before another machine looks. One alert says so during the pause, also if
// no machine is ready, or if the run is repeated after the pause.
func TestACrashBeforeAPauseIsAlertedOnce(t *testing.T) {
	for _, crash := range []job.OnCrash{job.CrashSkip, job.CrashRetry} {
		for _, ready := range []error{nil, errors.New("no disk")} {
			t.Run(fmt.Sprint(crash, " ", ready), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := newFleet(t, 3)
					a := newAlerts(f, time.Hour)
					spec := job.Spec{Name: "x", Schedule: "every 1h", OnCrash: crash, OnAlert: a.add}
					f.until(a.first.Add(-time.Minute))
					c, last := f.operator()
					defer c.Close()
					all := []*process{f.start(spec, func(p *process, _ context.Context, tick job.Tick) error { p.kill(); return nil })}
					f.until(a.first.Add(time.Second))
					f.must(job.Pause(t.Context(), c, "x", ""))
					a.are()
					var resumed atomic.Bool
					spec.Ready = func() error {
						if resumed.Load() {
							return nil
						}
						return ready
					}
					for range 2 {
						all = append(all, f.start(spec, ok))
					}
					f.until(a.first.Add(2 * time.Minute))
					a.are("crashed 0s")
					f.until(a.first.Add(2 * time.Hour))
					f.must(job.Resume(t.Context(), c, "x", ""))
					resumed.Store(true)
					f.until(a.first.Add(2*time.Hour + time.Minute))
					f.stopAll(all)
					a.are("crashed 0s")
					o := last()
					if repeated := o.Attempt == 2 && o.State == job.Done; repeated != (crash == job.CrashRetry) {
						t.Errorf("the outcome is %s", o)
					}
				})
			})
		}
	}
}

// A job that leaves the file has no machine that could call OnAlert later. So the machine that retires it does so, for a
// run that waits for its retry or that crashed. A job that comes back says it otherwise.
func TestARetiredJobLeavesNoFailureUntold(t *testing.T) {
	for _, dies := range []bool{false, true} {
		for _, tells := range []bool{false, true} {
			t.Run(fmt.Sprint("dies=", dies, " tells=", tells), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := newFleet(t, 3)
					a := newAlerts(f, time.Hour)
					spec := job.Spec{Name: "x", Schedule: "every 1h", Retries: 1, Backoff: 30 * time.Minute, OnAlert: a.add}
					f.until(a.first.Add(-time.Minute))
					c, last := f.operator()
					defer c.Close()
					all := []*process{f.start(spec, func(p *process, _ context.Context, tick job.Tick) error {
						if dies {
							p.kill()
						}
						return errors.New("no")
					})}
					f.until(a.first.Add(time.Minute))
					f.stopAll(all)
					want := "failed 0s"
					if dies {
						want = "crashed 0s"
					}
					if leaves := spec; tells {
						f.must(leaves.Retire(t.Context(), c, ""))
						a.are(want)
					} else {
						f.must(job.Retire(t.Context(), c, "x", ""))
						a.are()
					}
					f.until(a.first.Add(3*time.Hour + 10*time.Minute))
					all = []*process{f.start(spec, ok), f.start(spec, ok)}
					f.until(a.first.Add(3*time.Hour + 40*time.Minute))
					a.are(want)
					if o := last(); o.Overdue(f.now()) != 0 || o.Book.Runs[job.Failed]+o.Book.Runs[job.Crashed] != 1 || o.Attempt != 1 {
						t.Errorf("the job came back: overdue by %s, %s, the runs are %v", o.Overdue(f.now()), o, o.Book.Runs)
					}
					f.until(a.first.Add(4*time.Hour + time.Minute))
					f.stopAll(all)
					a.are(want)
				})
			})
		}
	}
}
