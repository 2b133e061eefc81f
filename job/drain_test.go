package job_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/job"
)

// drained is a job that runs in one process, until it is drained.
type drained struct {
	f      *fleet
	dead   atomic.Bool // no message reaches a node
	drain  chan struct{}
	cancel context.CancelFunc
	ended  chan error
}

func startDrained(f *fleet, dead bool, spec job.Spec, fn job.Func) *drained {
	ctx, cancel := context.WithCancel(context.Background())
	d := &drained{f: f, drain: make(chan struct{}), cancel: cancel, ended: make(chan error, 1)}
	spec.Drain, spec.Logger = d.drain, quiet
	d.dead.Store(dead)
	c := f.client(&d.dead)
	go func() {
		defer c.Close()
		d.ended <- job.Run(ctx, c, spec, fn)
	}()
	return d
}

func (d *drained) last() *job.Outcome {
	d.f.t.Helper()
	c := d.f.client(&atomic.Bool{})
	defer c.Close()
	last, err := job.Last(context.Background(), c, "x")
	if err != nil || last == nil {
		d.f.t.Fatalf("the last outcome is %v, %v", last, err)
	}
	return last
}

// A run goes on after a drain. Its error is an outcome, and no interruption. No tick begins after it, although several
// are due by then.
func TestADrainLetsTheRunEnd(t *testing.T) {
	for _, crash := range []job.OnCrash{job.CrashSkip, job.CrashRetry} {
		t.Run(string(crash), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, l := newFleet(t, 3), newLedger()
				spec := job.Spec{Name: "x", Schedule: "every 1s", Missed: job.MissedAll, OnCrash: crash}
				began := make(chan struct{}, 9)
				d := startDrained(f, false, spec, func(ctx context.Context, tick job.Tick) error {
					l.begins(tick)
					began <- struct{}{}
					if tick.Time.Equal(l.order[0]) {
						time.Sleep(5 * time.Second) // the process keeps the lock for the ticks that are due then
					}
					if ctx.Err() != nil {
						t.Errorf("the context of the run ended: %v", context.Cause(ctx))
					}
					return errors.New("exit status 3")
				})
				<-began
				close(d.drain)
				if err := <-d.ended; err != nil {
					t.Errorf("Run returned %v", err)
				}
				if l.runs > 1 {
					t.Errorf("%d runs after the drain", l.runs-1)
				}
				if last := d.last(); last.State != job.Failed || last.Error != "exit status 3" || !last.Tick.Equal(l.order[0]) {
					t.Errorf("the outcome of the run is %s: %s", last.State, last)
				}
				d.cancel()
			})
		})
	}
}

// The context ends a run also after a drain. The run is then interrupted, and its outcome is stored.
func TestTheContextEndsADrainedRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := make(chan struct{}, 9)
		d := startDrained(newFleet(t, 3), false, job.Spec{Name: "x", Schedule: "every 1m"}, func(ctx context.Context, _ job.Tick) error {
			began <- struct{}{}
			<-ctx.Done()
			return context.Cause(ctx)
		})
		<-began
		close(d.drain)
		synctest.Wait()
		d.cancel()
		if err := <-d.ended; err != nil {
			t.Errorf("Run returned %v", err)
		}
		if last := d.last(); last.State != job.Interrupted {
			t.Errorf("the outcome is %s", last)
		}
	})
}

// A drain ends every wait of Run: for a tick, for the lock, and for the nodes.
func TestADrainEndsWaits(t *testing.T) {
	for _, wait := range []string{"tick", "lock", "nodes", "load"} {
		t.Run(wait, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, 3)
				c := f.client(&atomic.Bool{})
				defer c.Close()
				switch wait {
				case "lock":
					lease, err := c.Mutex("x").Lock(context.Background())
					if err != nil {
						t.Fatal(err)
					}
					defer func() { _ = lease.Unlock(context.Background()) }()
				case "load":
					f.loadless.Store(true)
				}
				d := startDrained(f, wait == "nodes", job.Spec{Name: "x", Schedule: "every 1h", OnCrash: job.CrashRetry}, func(context.Context, job.Tick) error {
					t.Error("a run")
					return nil
				})
				time.Sleep(10 * time.Second)
				began := time.Now()
				close(d.drain)
				if err := <-d.ended; err != nil {
					t.Errorf("Run returned %v", err)
				}
				if took := time.Since(began); took > 5*time.Second {
					t.Errorf("Run returned %s after the drain", took)
				}
				d.cancel()
			})
		})
	}
}
