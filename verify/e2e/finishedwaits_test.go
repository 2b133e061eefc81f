package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// A waiter may give up at the instant at which another goroutine of its process passes the lock to it. The lock must
// not stay taken without a holder.
func TestWaitersThatGiveUpAsTheirTurnComesLeaveNothing(t *testing.T) {
	t.Parallel()
	s := plainSet(t, 1)
	long := func(c *holdfast.Config) { calm(c); c.MaxTTL = 10 * time.Second }
	c, other := s.ready(s.client(long)), s.ready(s.client(long))
	for round := range 300 {
		holder := lock(t, c, "x")
		var wait sync.WaitGroup
		for range 8 {
			ctx, cancel := context.WithTimeout(t.Context(), rand.N(3*time.Millisecond))
			wait.Go(func() {
				defer cancel()
				if l, err := c.Mutex("x").Lock(ctx); err == nil {
					l.Unlock(t.Context())
				}
			})
		}
		<-time.After(rand.N(2 * time.Millisecond))
		holder.Unlock(t.Context())
		wait.Wait()
		begun := time.Now()
		lock(t, other, "x").Unlock(t.Context())
		if took := time.Since(begun); took > 5*time.Second { // the TTL is 10 s
			t.Fatalf("round %d: nobody had it, and it was free after %s", round, took)
		}
	}
}

// A node comes back with the memory of a moment ago. Its queue contains ended attempts. The clients of these attempts
// are alive, hear of the claims, and decline them. Otherwise each claim would cost the waiters a second.
func TestHandOffsToBidsThatAreOverCostNoClaim(t *testing.T) {
	t.Parallel()
	sets(t, func(t *testing.T, s *set) {
		const over, most = 6, 3 * time.Second // without declines each of the 6 attempts costs a claim: more than 6 s
		for _, private := range []bool{false, true} {
			change := func(c *holdfast.Config) { calm(c); c.Private = private }
			name := fmt.Sprintf("private %v", private)
			holder := lock(t, s.ready(s.client(change)), name)
			waiter, got := s.ready(s.client(change)), make(chan error, 1)
			go func() {
				l, err := waiter.Mutex(name).Lock(t.Context())
				if err == nil {
					err = l.Unlock(t.Context())
				}
				got <- err
			}()
			s.inMostLines(name)
			for i, srv := range s.servers {
				queue := nodescript.RecordKey(name) + ":queue"
				standing, err := srv.Do("ZRANGE", queue, 0, 0)
				if err != nil || len(standing.([]any)) == 0 {
					continue // this node has no waiter in its queue
				}
				client := strings.Split(standing.([]any)[0].(string), "~")[1]
				for n := range over {
					if _, err := srv.Do("ZADD", queue, n+1, fmt.Sprintf("gone~%s~%d-over", client, n+1)); err != nil {
						t.Fatalf("node %d: %v", i, err)
					}
				}
			}
			begun := time.Now()
			if err := holder.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
			if err := <-got; err != nil {
				t.Error(err)
			}
			took := time.Since(begun)
			t.Logf("%s: %d hand-offs to bids that were over took %s", name, over, took.Round(time.Millisecond))
			if took > most {
				t.Errorf("they took more than %s: each cost a claim", most)
			}
		}
	})
}
