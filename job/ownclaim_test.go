package job_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/job"
)

// A Begin that waits for the lock looks at the last outcome meanwhile. If it gets the lock during such a look, it may
// see its own claim there. That is not the claim of another process: the run begins.
func TestALookFindsItsOwnClaim(t *testing.T) {
	for late := 230 * time.Millisecond; late < 260*time.Millisecond; late += time.Millisecond / 4 {
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(t, 3)
			a, b := f.client(&atomic.Bool{}), f.client(&atomic.Bool{})
			defer a.Close()
			defer b.Close()
			lease, err := a.Mutex("x").Lock(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			time.AfterFunc(late, func() { _ = lease.Unlock(context.Background()) })
			type begun struct {
				turn *job.Turn
				err  error
			}
			got := make(chan begun, 1)
			go func() {
				turn, err := job.Spec{Name: "x", Logger: quiet}.Begin(context.Background(), b, f.now().Truncate(time.Second))
				got <- begun{turn, err}
			}()
			select {
			case g := <-got:
				if g.err != nil {
					t.Errorf("the lock is free after %s: Begin returns %v", late, g.err)
				} else if g.turn.Context().Err() != nil {
					t.Errorf("the lock is free after %s: the turn has ended: %v", late, context.Cause(g.turn.Context()))
				} else if err := g.turn.End(nil); err != nil {
					t.Errorf("End: %v", err)
				}
			case <-time.After(20 * time.Second):
				last, err := job.Last(context.Background(), a, "x")
				t.Fatalf("the lock is free after %s: Begin does not return; the last outcome is %v, %v", late, last, err)
			}
		})
	}
}
