package waiting

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/fanout"
	"github.com/holdfast-go/holdfast/internal/nodescript"
)

// distant is a node at the end of a long line, by which its news come, too.
type distant struct{ far }

func (n distant) Listen(ctx context.Context, channel string, on func(string)) error {
	return n.Node.Listen(ctx, channel, func(m string) { time.AfterFunc(n.way, func() { on(m) }) })
}

// The acquire that a claim is for comes a round trip after the claim was made, and a window allows one of up to 2 W. Of
// those who wait each asks meanwhile: where the claim is over by then, the name is handed to another, for whom it is the same.
func TestAClaimLastsForARoundTrip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const window, way, many = 2500 * time.Millisecond, 2200 * time.Millisecond, 60
		set, models := votingWithin(window, 0)
		lock := nodescript.Lock{Name: "x"}
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
				l.Fan.Send(&fanout.Message{Call: nodescript.ReleaseCall(lock, g.Owner, g.Token), Persist: g.Deadline}, nil)
			})
			time.Sleep(73 * time.Millisecond)
		}
		wait.Wait()
		// Each takes the way of its release, of the news, and of the acquire and its answer.
		if took := time.Since(began); took > time.Minute+many*4*way {
			t.Errorf("it took %s to serve %d", took, many)
		}
	})
}
