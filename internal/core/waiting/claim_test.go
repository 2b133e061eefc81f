package waiting

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// distant is a node at the end of a long line. The line also delays the node's hand-offs.
type distant struct{ far }

func (n distant) Listen(ctx context.Context, channel string, on func(string)) error {
	return n.Node.Listen(ctx, channel, func(m string) { time.AfterFunc(n.way, func() { on(m) }) })
}

// The acquire that uses a claim comes a round trip after the claim, and a window allows a round trip of up to 2 W. All
// waiters ask during that time. If the claim has ended by then, another waiter gets the name, and has the same problem.
func TestAClaimLastsForARoundTrip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const window, way, many = 2500 * time.Millisecond, 2200 * time.Millisecond, 60
		set, models := votingWithin(window, 0)
		lock := nodescript.NewExclusive(nodescript.Lock{Name: "x"})
		began := time.Now()
		var wait sync.WaitGroup
		for range many {
			l := locker(t, set, 4*window, distant{far{models[0], way}})
			wait.Go(func() {
				met(t, l)
				g, r := l.Wait(t.Context(), lock, 10*window, func(*Refusal) {})
				if r != nil {
					t.Errorf("%+v", r)
					return
				}
				g.End()
				l.Fan.Send(&fanout.Message{Call: nodescript.ReleaseCall(lock.Lock(), g.Owner, g.Token), Persist: g.Deadline}, nil)
			})
			time.Sleep(73 * time.Millisecond)
		}
		wait.Wait()
		// Each lock takes the time of its release, of the hand-off, and of the acquire and its answer.
		if took := time.Since(began); took > time.Minute+many*4*way {
			t.Errorf("it took %s to serve %d", took, many)
		}
	})
}
