package e2e

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
)

// unhurried sets times in which 256 names come and go even if the machine is busy.
func unhurried(c *holdfast.Config) {
	c.Window, c.MaxTTL, c.NodeTimeout = time.Second, 20*time.Second, 10*time.Second
}

// Several clients try at the same instant for the same names. One of them gets all names, also if there are more names
// than one script takes.
//
// The test runs without other tests, because its callers must come at the same instant.
func TestOneOfTheTriesForManyNamesGetsThem(t *testing.T) {
	for _, n := range []int{1, 3} {
		for _, names := range []int{40, 256} {
			t.Run(fmt.Sprintf("%d nodes, %d names", n, names), func(t *testing.T) {
				t.Parallel()
				rounds := inShort(60, 30)
				s := plainSet(t, n)
				var cs []*holdfast.Client
				for range 4 {
					cs = append(cs, s.ready(s.client(unhurried)))
				}
				list := make([]string, names)
				for i := range list {
					list[i] = fmt.Sprintf("x%03d", i)
				}
				voters := n
				if s.shards != nil { // then the first use of a hash slot by a client asks for its admission
					voters = len(s.shards.Shards())
					for _, c := range cs {
						set, err := c.LockAll(t.Context(), list)
						if err != nil {
							t.Fatal(err)
						}
						set.Unlock(t.Context())
					}
				}
				none, most := 0, 0
				for range rounds {
					var mu sync.Mutex
					var wait sync.WaitGroup
					var won []*holdfast.LeaseSet
					start := make(chan struct{})
					for _, c := range cs {
						wait.Go(func() {
							<-start
							set, err := c.TryLockAll(t.Context(), list)
							mu.Lock()
							defer mu.Unlock()
							if err == nil {
								won = append(won, set)
							} else if !errors.Is(err, holdfast.ErrHeld) {
								t.Error(err)
							}
						})
					}
					<-time.After(5 * time.Millisecond)
					close(start)
					wait.Wait()
					if len(won) == 0 {
						none++
					}
					most = max(most, len(won))
					for _, set := range won {
						set.Unlock(t.Context())
					}
				}
				if allowed := min(2, voters-1); none > allowed || most > 1 { // on several nodes a split vote may come in every try
					t.Errorf("in %d of %d rounds nobody got the names, although nobody held any of them before; most winners: %d", none, rounds, most)
				}
			})
		}
	}
}
