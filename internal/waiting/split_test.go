package waiting

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/fanout"
	"github.com/holdfast-go/holdfast/internal/nodescript"
)

// A holder that died leaves a lease that ends by each node's own clock. Who is the first in line gets one
// node after another and has a minority for as long as the clocks differ; the dead one's ticket is older,
// but it waits for nothing.
func TestALeaseThatEndsNodeByNodeCostsNoPlaceInLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const tenth = time.Second / 10
		set, models := voting(tenth, tenth*9/10, 0, -tenth/2, -tenth)
		client := func() *Locker {
			l := met(t, locker(t, set, time.Second, models[0], models[1], models[2], models[3], models[4]))
			l.Fair = true
			return l
		}
		holder := client()
		waiters := []*Locker{client(), client(), client(), client()}
		for round := range 100 {
			lock := nodescript.Lock{Name: fmt.Sprint(round)}
			if _, r := holder.Wait(t.Context(), lock, 2*time.Second, nil); r != nil {
				t.Fatalf("the holder: %+v", r)
			}
			var mu sync.Mutex
			var served []int
			var wait sync.WaitGroup
			for i, l := range waiters {
				time.Sleep(set.Window)
				wait.Go(func() {
					g, r := l.Wait(t.Context(), lock, 10*time.Second, func(*Refusal) {})
					if r != nil {
						t.Errorf("waiter %d: %+v", i, r)
						return
					}
					mu.Lock()
					served = append(served, i)
					mu.Unlock()
					g.End()
					l.Fan.Send(&fanout.Message{Call: nodescript.ReleaseCall(lock, g.Owner, g.Token)}, nil)
				})
			}
			wait.Wait()
			if !slices.IsSorted(served) {
				t.Errorf("round %d: served in the order %v", round, served)
			}
		}
	})
}
