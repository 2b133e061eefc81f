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

// A turn takes its tick, others hear at once who took it, and End stores the outcome.
func TestATurnTakesItsTick(t *testing.T) {
	for _, crash := range []job.OnCrash{job.CrashSkip, job.CrashRetry} {
		t.Run(string(crash), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, 3)
				a, b := f.client(&atomic.Bool{}), f.client(&atomic.Bool{})
				defer a.Close()
				defer b.Close()
				spec, tick := job.Spec{Name: "x", OnCrash: crash, Logger: quiet}, f.now().Truncate(time.Second)
				took := make(chan error, 2)
				var turn *job.Turn
				began := time.Now()
				for _, c := range []*holdfast.Client{a, b} {
					f.ends.Go(func() {
						u, err := spec.Begin(t.Context(), c, tick)
						if err == nil {
							turn = u
							time.Sleep(20 * time.Second) // much longer than the TTL
							if err := u.End(errors.New("disk full")); err == nil || err.Error() != "disk full" {
								t.Errorf("End: %v", err)
							}
							err = u.Context().Err()
							if err == nil {
								t.Error("the context of an ended turn goes on")
							}
							return
						}
						took <- err
					})
				}
				var taken *job.TakenError
				err := <-took
				if !errors.As(err, &taken) || !errors.Is(err, job.ErrTaken) || taken.Last == nil || !taken.Last.Tick.Equal(tick) {
					t.Fatalf("the other process is told: %v", err)
				}
				if waited := time.Since(began) > 10*time.Second; waited != (crash == job.CrashRetry) {
					t.Errorf("the other process was told after %s", time.Since(began))
				}
				if !strings.Contains(err.Error(), "was taken by "+taken.Last.Host) {
					t.Errorf("the error does not say who took the tick: %v", err)
				}
				f.ends.Wait()
				if turn.Tick().Fence == 0 || turn.Tick().Fence != taken.Last.Fence {
					t.Errorf("the turn has the token %d, the outcome %d", turn.Tick().Fence, taken.Last.Fence)
				}
				if last, err := job.Last(t.Context(), b, "x"); err != nil || last.State != job.Failed || last.Error != "disk full" {
					t.Errorf("the outcome is %v, %v", last, err)
				}
				if _, err := spec.Begin(t.Context(), b, tick.Add(-time.Hour)); !errors.Is(err, job.ErrTaken) || !strings.Contains(err.Error(), "took the later tick") {
					t.Errorf("an earlier tick: %v", err)
				}
			})
		})
	}
}

// The context of a turn ends when its lock is lost, before another process can begin, and End says so.
func TestATurnEndsWithItsLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		var dead atomic.Bool
		a, b := f.client(&dead), f.client(&atomic.Bool{})
		defer a.Close()
		defer b.Close()
		spec, tick := job.Spec{Name: "x", Logger: quiet}, f.now().Truncate(time.Second)
		turn, err := spec.Begin(t.Context(), a, tick)
		if err != nil {
			t.Fatal(err)
		}
		dead.Store(true) // its messages reach no node
		time.Sleep(time.Second)
		if turn.Context().Err() != nil {
			t.Fatal("the lock is lost too early for this test")
		}
		next, err := spec.Begin(t.Context(), b, tick.Add(time.Second))
		if err != nil {
			t.Fatal(err)
		}
		if turn.Context().Err() == nil {
			t.Error("two turns at a time")
		}
		if err := turn.End(nil); !errors.Is(err, holdfast.ErrLost) {
			t.Errorf("End of a lost turn: %v", err)
		}
		if err := next.End(nil); err != nil {
			t.Error(err)
		}
	})
}

// The caller's context bounds the wait for an earlier run, not the turn. The error names the process that runs.
func TestAContextBoundsTheWaitForATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		a, b := f.client(&atomic.Bool{}), f.client(&atomic.Bool{})
		defer a.Close()
		defer b.Close()
		spec, tick := job.Spec{Name: "x", Logger: quiet}, f.now().Truncate(time.Second)
		bounded, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		turn, err := spec.Begin(bounded, a, tick)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		if err := turn.Context().Err(); err != nil {
			t.Errorf("the turn ended with the wait for it: %v", err)
		}
		last, err := job.Last(t.Context(), a, "x")
		if err != nil {
			t.Fatal(err)
		}
		bounded, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var held *holdfast.HeldError
		_, err = spec.Begin(bounded, b, tick.Add(time.Second))
		if !errors.As(err, &held) || held.Holder().String() != last.Host || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("behind an earlier run: %v", err)
		}
		if err := turn.End(nil); err != nil {
			t.Error(err)
		}
		if _, err := (job.Spec{}).Begin(t.Context(), b, tick); !errors.Is(err, job.ErrBadSpec) {
			t.Errorf("without a name: %v", err)
		}
	})
}

// With retry a turn repeats an earlier tick whose run did not end normally, and then the tick itself comes.
func TestATurnRepeatsAnEarlierTickFirst(t *testing.T) {
	for _, crash := range []job.OnCrash{job.CrashSkip, job.CrashRetry} {
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(t, 3)
			a, b := f.client(&atomic.Bool{}), f.client(&atomic.Bool{})
			defer a.Close()
			defer b.Close()
			spec, tick := job.Spec{Name: "x", OnCrash: crash, Logger: quiet}, f.now().Truncate(time.Second)
			turn, err := spec.Begin(t.Context(), a, tick)
			if err != nil {
				t.Fatal(err)
			}
			_ = turn.End(job.ErrInterrupted)
			later := tick.Add(time.Second)
			var got []string
			for range 2 {
				turn, err := spec.Begin(t.Context(), b, later)
				if err != nil {
					got = append(got, "refused")
					continue
				}
				got = append(got, fmt.Sprint(turn.Tick().Time.Sub(tick), " attempt ", turn.Tick().Attempt))
				_ = turn.End(nil)
			}
			want := map[job.OnCrash]string{job.CrashSkip: "[1s attempt 1 refused]", job.CrashRetry: "[0s attempt 2 1s attempt 1]"}[crash]
			if fmt.Sprint(got) != want {
				t.Errorf("%s: the turns are %v, want %s", crash, got, want)
			}
		})
	}
}

// BeginWithin waits for a moment behind a run, and until the end of its lease behind a holder that runs nothing.
func TestBeginWithinWaitsForTheEndOfADeadHolder(t *testing.T) {
	const wait = 500 * time.Millisecond
	for holder, most := range map[string]time.Duration{"run": wait + 100*time.Millisecond, "dead": 2*ttl + window, "lock": 30 * time.Second} {
		t.Run(holder, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, 3)
				var dead atomic.Bool
				a, b := f.client(&dead), f.client(&atomic.Bool{})
				defer a.Close()
				defer b.Close()
				spec, tick := job.Spec{Name: "x", Logger: quiet}, f.now().Truncate(time.Second)
				if turn, err := spec.Begin(t.Context(), a, tick.Add(-time.Second)); err != nil {
					t.Fatal(err)
				} else if holder == "run" {
					defer func() { _ = turn.End(nil) }()
				} else if err := turn.End(nil); err != nil {
					t.Fatal(err)
				} else if _, err := a.Mutex("x").Lock(t.Context()); err != nil {
					t.Fatal(err)
				}
				dead.Store(holder == "dead")
				began := time.Now()
				turn, err := spec.BeginWithin(t.Context(), b, tick, wait)
				if took := time.Since(began); took > most {
					t.Errorf("it took %s", took)
				}
				if holder != "dead" {
					if !errors.Is(err, holdfast.ErrHeld) {
						t.Errorf("the error is %v", err)
					}
					return
				}
				if err != nil || !turn.Tick().Time.Equal(tick) {
					t.Fatalf("%v, %v", turn, err)
				}
				_ = turn.End(nil)
			})
		})
	}
}
