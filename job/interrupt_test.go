package job_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/job"
)

// A run whose error matches ErrInterrupted is repeated with retry: at once where another process waits for it, in every
// way to run a job. With skip it is over.
func TestAnInterruptedRunIsRepeated(t *testing.T) {
	tired := fmt.Errorf("%w: tired", job.ErrInterrupted)
	ways := map[string]func(ctx context.Context, c *holdfast.Client, s job.Spec, tick time.Time, fn job.Func) error{
		"Turn": func(ctx context.Context, c *holdfast.Client, s job.Spec, tick time.Time, fn job.Func) error {
			turn, err := s.Begin(ctx, c, tick)
			if err == nil {
				err = turn.End(fn(turn.Context(), turn.Tick()))
			}
			return err
		},
		"Once": func(ctx context.Context, c *holdfast.Client, s job.Spec, tick time.Time, fn job.Func) error {
			_, err := s.Once(ctx, c, tick, fn)
			return err
		},
		"Run": func(ctx context.Context, c *holdfast.Client, s job.Spec, _ time.Time, fn job.Func) error {
			s.Schedule = "every 1m"
			return job.Run(ctx, c, s, fn)
		},
	}
	for name, way := range ways {
		for _, crash := range []job.OnCrash{job.CrashSkip, job.CrashRetry} {
			t.Run(name+" "+string(crash), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := newFleet(t, 3)
					tick := f.now().Truncate(time.Minute).Add(time.Minute)
					var outcomes []job.State
					spec := job.Spec{Name: "x", OnCrash: crash, Logger: quiet, OnOutcome: func(o job.Outcome) { outcomes = append(outcomes, o.State) }}
					ctx, stop := context.WithCancel(t.Context())
					defer stop()
					var second time.Time
					fn := func(_ context.Context, tick job.Tick) error {
						time.Sleep(5 * time.Second)
						if tick.Attempt == 1 {
							return tired
						}
						second = f.now().Add(-5 * time.Second)
						return nil
					}
					for range 3 {
						c := f.client(&atomic.Bool{})
						f.ends.Go(func() {
							defer c.Close()
							time.Sleep(tick.Sub(f.now()) - time.Second)
							if name != "Run" {
								time.Sleep(time.Second)
							}
							err := way(ctx, c, spec, tick, fn)
							if err != nil && !errors.Is(err, job.ErrInterrupted) && !errors.Is(err, job.ErrTaken) && !errors.Is(err, context.Canceled) {
								t.Errorf("%s returned %v", name, err)
							}
						})
					}
					time.Sleep(tick.Add(20 * time.Second).Sub(f.now()))
					stop()
					f.ends.Wait()
					want := []job.State{job.Interrupted}
					if crash == job.CrashRetry {
						want = append(want, job.Done)
					}
					if fmt.Sprint(outcomes) != fmt.Sprint(want) {
						t.Errorf("the outcomes are %v, want %v", outcomes, want)
					}
					if late := second.Sub(tick); crash == job.CrashRetry && late > 7*time.Second {
						t.Errorf("the second run began %s after the tick", late)
					}
				})
			})
		}
	}
}

// Until ends the context of a run, and an error after that is an interruption. An error before is none.
func TestUntilEndsARun(t *testing.T) {
	failed := errors.New("disk full")
	for _, asked := range []bool{false, true} {
		ctx, stop := context.WithCancelCause(t.Context())
		defer stop(nil)
		run := context.WithValue(t.Context(), runOf("x"), "of the lease")
		err := job.Func(func(ctx context.Context, tick job.Tick) error {
			if tick.Attempt != 7 || ctx.Value(runOf("x")) != "of the lease" {
				t.Errorf("the run has the tick %+v and the value %v", tick, ctx.Value(runOf("x")))
			}
			if asked {
				stop(errDead)
				<-ctx.Done()
				if context.Cause(ctx) != errDead {
					t.Errorf("the context ended because of %v", context.Cause(ctx))
				}
			}
			return failed
		}).Until(ctx)(run, job.Tick{Attempt: 7})
		if errors.Is(err, job.ErrInterrupted) != asked || !errors.Is(err, failed) || err.Error() != failed.Error() {
			t.Errorf("asked to end: %t; the error is %v", asked, err)
		}
	}
}

// A client that is closed in a run gives the lock back. That is no error of the job: the log has a warning, and with
// retry another process runs the tick again, at once.
func TestACloseInARunIsNoLoss(t *testing.T) {
	for _, crash := range []job.OnCrash{job.CrashSkip, job.CrashRetry} {
		for _, result := range []error{nil, errDead} {
			t.Run(fmt.Sprint(crash, " ", result), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f, log := newFleet(t, 3), &records{}
					a, b := f.client(&atomic.Bool{}), f.client(&atomic.Bool{})
					defer b.Close()
					spec, tick := job.Spec{Name: "x", OnCrash: crash, Logger: slog.New(slog.NewTextHandler(log, nil))}, f.now().Truncate(time.Second)
					turn, err := spec.Begin(t.Context(), a, tick)
					if err != nil {
						t.Fatal(err)
					}
					var began time.Time
					f.ends.Go(func() {
						next, err := spec.Begin(t.Context(), b, tick)
						if crash == job.CrashSkip {
							if !errors.Is(err, job.ErrTaken) {
								t.Errorf("the other process is told %v", err)
							}
							return
						}
						if err != nil || next.Tick().Attempt != 2 {
							t.Fatalf("the other process gets %v, %v", next, err)
						}
						began = f.now()
						_ = next.End(nil)
					})
					time.Sleep(time.Second)
					closed := f.now()
					if err := a.Close(); err != nil {
						t.Error(err)
					}
					<-turn.Context().Done()
					err = turn.End(result)
					if result == nil && !errors.Is(err, holdfast.ErrClosed) || result != nil && err != result {
						t.Errorf("End returns %v", err)
					}
					f.ends.Wait()
					if late := began.Sub(closed); crash == job.CrashRetry && late > 500*time.Millisecond {
						t.Errorf("the second run began %s after Close", late)
					}
					if log.count("level=ERROR") > 0 || log.count("its client was closed") != 1 {
						t.Errorf("the log is %q", log.all)
					}
				})
			})
		}
	}
}

type runOf string
