package virtual

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Greeting a node takes four round trips or more. A new client of far nodes that wanted several names at once gave up
// before it had greeted the nodes.
func TestANewClientThatWantsSeveralNamesGreetsFarNodesFirst(t *testing.T) {
	t.Parallel()
	for _, trip := range []float64{0.5, 1, 1.5, 1.9} {
		t.Run(fmt.Sprintf("a round trip of %.1f windows", trip), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newFarSet(t, 10*time.Second)
				c, ways := s.client(2 * time.Second)
				defer c.Close()
				for _, way := range ways {
					way.there.Store(int64(s.span(trip / 2)))
					way.back.Store(int64(s.span(trip / 2)))
				}
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				began := time.Now()
				var all sync.WaitGroup
				for i := range 8 {
					all.Go(func() {
						l, err := c.Mutex(fmt.Sprint("name", i)).Lock(ctx)
						if err != nil {
							t.Errorf("name%d, after %s: %v", i, time.Since(began), err)
							return
						}
						t.Logf("name%d after %s", i, time.Since(began))
						l.Unlock(ctx)
					})
				}
				all.Wait()
			})
		})
	}
}
