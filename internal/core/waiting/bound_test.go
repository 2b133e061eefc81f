package waiting

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// neighbours returns the lockers of n clients of the same three modelled nodes. Each node is a millisecond away.
func neighbours(t *testing.T, n int) (all []*Locker) {
	t.Helper()
	set, models := voting(0, 0, 0)
	for range n {
		var nodes []node.Node
		for _, m := range models {
			nodes = append(nodes, far{m, time.Millisecond / 2})
		}
		l := met(t, locker(t, set, time.Second, nodes...))
		l.Inbox.open(t.Context())
		l.Fan.AskVotes(t.Context())
		all = append(all, l)
	}
	return all
}

// unlock releases a lock as a lease does: it gives the lock to a waiter of this process, or to the nodes.
func (l *Locker) unlock(lock *nodescript.Exclusive, g Grant, ttl time.Duration) {
	g.End()
	l.Pass(lock, g.Won, g.Token, g.Sent.Add(ttl), func(passed bool, _ time.Duration) {
		if !passed {
			l.Fan.Send(&fanout.Message{Call: nodescript.ReleaseCall(lock.Lock(), g.Owner, g.Token)}, nil)
		}
	})
}

// Goroutines of one process that come and go pass the lock among themselves. Only a bounded number of them may overtake
// a waiter of another process, no matter in which pattern they come. The line of their process may be empty in between,
// and the count of passes must survive that.
func TestAnotherProcessIsOvertakenByABoundedNumberOfPasses(t *testing.T) {
	for _, c := range []struct {
		locals      int
		hold, pause time.Duration
		tries       bool // one goroutine uses TryLock
		busy        int  // the number of passes before the other process comes
	}{
		{locals: 2, hold: 10 * time.Millisecond, pause: 5 * time.Millisecond},
		{locals: 2, hold: 10 * time.Millisecond, pause: 200 * time.Microsecond}, // the pause is shorter than a hand-off
		{locals: 3, hold: 5 * time.Millisecond, pause: 4 * time.Millisecond},
		{locals: 5, hold: 2 * time.Millisecond, pause: time.Millisecond},
		{locals: 3, hold: 5 * time.Millisecond, pause: time.Millisecond, tries: true},
		{locals: 2, hold: 10 * time.Millisecond, pause: 5 * time.Millisecond, busy: 100},
	} {
		t.Run(fmt.Sprintf("%d goroutines hold for %s and pause for %s, tries %v, after %d", c.locals, c.hold, c.pause, c.tries, c.busy), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const ttl = 10 * time.Second
				all, lock := neighbours(t, 2), nodescript.NewExclusive(nodescript.Lock{Name: "x"})
				here, there := all[0], all[1]
				stop := make(chan struct{})
				var mu sync.Mutex
				var since time.Time // when the other process came; zero: it is not waiting
				overtaken := 0
				waits := func(at time.Time) {
					mu.Lock()
					defer mu.Unlock()
					since = at
				}
				got := func(came time.Time) {
					mu.Lock()
					defer mu.Unlock()
					if !since.IsZero() && came.After(since) {
						overtaken++
					}
				}
				for i := range c.locals {
					go func() {
						for {
							select {
							case <-stop:
								return
							default:
							}
							came := time.Now()
							var g Grant
							var r *Refusal
							if c.tries && i == 0 {
								g, r = here.Try(t.Context(), lock, ttl)
							} else {
								g, r = here.Wait(t.Context(), lock, ttl, func(*Refusal) {})
							}
							if r == nil {
								got(came)
								time.Sleep(c.hold)
								here.unlock(lock, g, ttl)
							}
							time.Sleep(c.pause)
						}
					}()
				}
				time.Sleep(time.Duration(c.busy+10) * c.hold)
				waits(time.Now())
				bounded, cancel := context.WithTimeout(t.Context(), 8*time.Second)
				defer cancel()
				g, r := there.Wait(bounded, lock, ttl, func(*Refusal) {})
				waits(time.Time{})
				close(stop)
				if r == nil {
					there.unlock(lock, g, ttl)
				}
				time.Sleep(time.Second)
				t.Logf("overtaken %d times", overtaken)
				if most := mostPasses + 1; r != nil || overtaken > most {
					t.Errorf("a waiter of another process was overtaken %d times; at most %d are promised", overtaken, most)
				}
			})
		})
	}
}
