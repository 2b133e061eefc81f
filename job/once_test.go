package job_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/job"
)

// Once runs a tick on one process of the fleet. Later calls for it, or for an earlier one, do nothing.
func TestOnceRunsATickOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		tick := f.now().Truncate(time.Second)
		var runs, skips atomic.Int32
		for range 20 {
			f.ends.Go(func() {
				c := f.client(&atomic.Bool{})
				defer c.Close()
				ran, err := job.Once(context.Background(), c, "x", tick, func(ctx context.Context, got job.Tick) error {
					if lease, ok := holdfast.FromContext(ctx); !ok || lease.Fence() != got.Fence || !got.Time.Equal(tick) {
						t.Errorf("the run is told %+v, %v", got, lease)
					}
					time.Sleep(3 * time.Second)
					return nil
				})
				switch {
				case err != nil:
					t.Errorf("Once: %v", err)
				case ran:
					runs.Add(1)
				default:
					skips.Add(1)
				}
			})
		}
		f.ends.Wait()
		if runs.Load() != 1 || skips.Load() != 19 {
			t.Errorf("%d runs, %d skips", runs.Load(), skips.Load())
		}
		c := f.client(&atomic.Bool{})
		defer c.Close()
		fails := errors.New("disk full")
		for _, again := range []struct {
			tick time.Time
			ran  bool
		}{{tick, false}, {tick.Add(-time.Hour), false}, {tick.Add(time.Second), true}} {
			ran, err := job.Once(context.Background(), c, "x", again.tick, func(context.Context, job.Tick) error { return fails })
			if ran != again.ran || ran != errors.Is(err, fails) {
				t.Errorf("%s after %s: %t, %v", again.tick, tick, ran, err)
			}
		}
		if _, err := job.Once(context.Background(), c, "x", tick.Add(time.Hour), nothing); !errors.Is(err, job.ErrFuture) || !strings.Contains(err.Error(), "name a tick that has come") {
			t.Errorf("a tick in the future: %v", err)
		}
		if _, err := (job.Spec{Name: "x"}).Begin(context.Background(), c, tick.Add(time.Hour)); !errors.Is(err, job.ErrFuture) {
			t.Errorf("a tick in the future: %v", err)
		}
		last, err := job.Last(context.Background(), c, "x")
		if err != nil || last.State != job.Failed || last.Error != "disk full" || !last.Tick.Equal(tick.Add(time.Second)) {
			t.Errorf("the last outcome is %v, %v", last, err)
		}
	})
}

// A panic is stored as an outcome, and goes on.
func TestAPanicIsAnOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 1)
		c := f.client(&atomic.Bool{})
		defer c.Close()
		func() {
			defer func() {
				if p := recover(); p != "oh" {
					t.Errorf("recovered %v", p)
				}
			}()
			_, _ = job.Once(context.Background(), c, "x", f.now(), func(context.Context, job.Tick) error { panic("oh") })
		}()
		if last, err := job.Last(context.Background(), c, "x"); err != nil || last.State != job.Failed || last.Error != "panic: oh" {
			t.Errorf("%v, %v", last, err)
		}
		if l, err := c.Mutex("x").TryLock(context.Background()); err != nil {
			t.Errorf("the lock is held: %v", err)
		} else {
			_ = l.Unlock(context.Background())
		}
	})
}

// A name whose value belongs to another program ends Run.
func TestAForeignValueIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 1)
		c := f.client(&atomic.Bool{})
		defer c.Close()
		l, err := c.Mutex("x").Lock(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(l.Store(context.Background(), []byte("mine")), l.Unlock(context.Background())); err != nil {
			t.Fatal(err)
		}
		err = job.Run(context.Background(), c, job.Spec{Name: "x", Schedule: "every 1s", Logger: quiet}, nothing)
		if !errors.Is(err, job.ErrNoJob) {
			t.Errorf("Run: %v", err)
		}
		if v, err := c.Value(context.Background(), "x"); string(v) != "mine" || err != nil {
			t.Errorf("the value is %q, %v", v, err)
		}
	})
}

// A run whose tick could not be stored does not begin with skip, and begins with retry. No store reaches the node.
func TestARunThatIsNotStoredDoesNotBegin(t *testing.T) {
	for _, crash := range []job.OnCrash{job.CrashSkip, job.CrashRetry} {
		t.Run(string(crash), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, 1)
				f.storeless.Store(true)
				c := f.client(&atomic.Bool{})
				defer c.Close()
				began := false
				ran, err := job.Spec{Name: "x", OnCrash: crash, Logger: quiet}.Once(context.Background(), c, f.now(), func(context.Context, job.Tick) error {
					began = true
					return nil
				})
				switch {
				case crash == job.CrashSkip && (began || ran || !errors.Is(err, holdfast.ErrUnavailable)):
					t.Errorf("the run began: %t, %t, %v", began, ran, err)
				case crash == job.CrashRetry && (!began || !ran || err != nil):
					t.Errorf("the run did not begin: %t, %t, %v", began, ran, err)
				}
			})
		})
	}
}

// The lock is lost while the process stores that it takes the tick.
func TestALossBeforeTheRunIsALoss(t *testing.T) {
	for _, crash := range []job.OnCrash{job.CrashSkip, job.CrashRetry} {
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(t, 1)
			c := f.client(&atomic.Bool{})
			defer c.Close()
			tick := f.now()
			f.deadly.Store(true)
			ran, err := job.Spec{Name: "x", OnCrash: crash, Logger: quiet}.Once(context.Background(), c, tick, func(context.Context, job.Tick) error {
				t.Errorf("%s: the run began", crash)
				return nil
			})
			if ran || !errors.Is(err, holdfast.ErrLost) || errors.Is(err, holdfast.ErrUnavailable) {
				t.Errorf("%s: %t, %v; want ErrLost", crash, ran, err)
			}
		})
	}
}

// The context of Once ends while the process stores that it takes the tick.
func TestAnEndBeforeTheRunIsNoOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 1)
		f.storeless.Store(true)
		c := f.client(&atomic.Bool{})
		defer c.Close()
		reason := errors.New("reason")
		ctx, cancel := context.WithCancelCause(context.Background())
		time.AfterFunc(50*time.Millisecond, func() { cancel(reason) })
		ran, err := job.Spec{Name: "x", Logger: quiet}.Once(ctx, c, f.now(), nothing)
		if ran || !errors.Is(err, context.Canceled) || !errors.Is(err, reason) {
			t.Errorf("%t, %v; want the cause of the context", ran, err)
		}
	})
}
