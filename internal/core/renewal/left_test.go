package renewal

import (
	"testing"
	"testing/synctest"
	"time"
)

// When a node's address has left its server, a lease gets a renewal that the scheduler has not sent. So the scheduler
// does not count it: with a count that is too low, more renewals than mostOut would be under way.
func TestTheSchedulerCountsOnlyItsOwnRenewals(t *testing.T) {
	voters(t, []string{"E", "E", "E"}, make([]time.Duration, 3), func(e *Lease) {
		k := e.keeper
		time.Sleep(2 * watchEvery) // the scheduler has the lease now
		k.left(0)                  // no node is known to have the lease
		time.Sleep(20 * time.Second)
		synctest.Wait()
		end := e.End()
		k.mu.Lock()
		defer k.mu.Unlock()
		out := 0
		for _, l := range k.lanes {
			out += l.out
		}
		if out != 0 || end != nil {
			t.Errorf("%d renewals are counted while none is under way; the lease ended with %v", out, end)
		}
	})
}
