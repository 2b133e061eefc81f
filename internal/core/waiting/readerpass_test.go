package waiting

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
)

// stands is a context whose user stands still when it first looks for the end, until goOn closes. Then the context has
// ended.
type stands struct {
	context.Context
	goOn  chan struct{}
	ended chan struct{}
	looks *atomic.Int32
}

func (s stands) Done() <-chan struct{} {
	if s.looks.Add(1) == 1 {
		<-s.goOn
	}
	return s.ended
}

func (s stands) Err() error {
	select {
	case <-s.ended:
		return context.Canceled
	default:
		return nil
	}
}

// shareOf is the share that a reader opens.
type shareOf struct{}

func (shareOf) Reserve(int) {}

// A writer passes its lease to a reader, whose goroutine stands still until its context has ended. The reader gets the
// lease together with its share, or it gives the lease back.
func TestAReaderThatGetsAPassAsItsContextEndsHasAShareOrNothing(t *testing.T) {
	outcomes := [2]int{}
	for range 40 { // the reader sees the end of its context first, or its turn
		synctest.Test(t, func(t *testing.T) {
			l, _ := hearing(t, func(m *nodemodel.Node) *nodemodel.Node { return m })
			lock := nodescript.Lock{Name: "x"}
			exclusive, shared := nodescript.NewExclusive(lock), nodescript.NewShared(lock)
			write := func() Grant {
				g, r := l.Wait(t.Context(), exclusive, 10*time.Second, func(*Refusal) {})
				if r != nil {
					t.Fatalf("refused: %+v", r)
				}
				return g
			}
			first := write()
			second := make(chan Grant, 1)
			go func() { second <- write() }()
			synctest.Wait()

			ctx := stands{t.Context(), make(chan struct{}), make(chan struct{}), &atomic.Int32{}}
			type result struct {
				g Grant
				r *Refusal
			}
			read := make(chan result, 1)
			go func() {
				g, r := l.WaitFor(ctx, Want{Lock: shared, TTL: 10 * time.Second, Told: func(*Refusal) {}, Open: func(Grant) Share { return shareOf{} }})
				read <- result{g, r}
			}()
			synctest.Wait()
			pass := func(g Grant) {
				g.End()
				l.Pass(exclusive, g.Won, g.Token, l.Fan.Now().Add(10*time.Second), func(passed bool, _ time.Duration) {
					if !passed {
						t.Fatal("nobody took the pass")
					}
				})
				synctest.Wait()
			}
			pass(first)
			pass(<-second)
			time.Sleep(10 * time.Millisecond)
			close(ctx.ended)
			close(ctx.goOn)
			got := <-read
			switch {
			case got.r == nil && got.g.Share == nil:
				t.Error("the reader got a lease without a share")
			case got.r == nil:
				outcomes[0]++
				l.Fan.Send(&fanout.Message{Call: nodescript.ReleaseCall(lock, got.g.Owner, got.g.Token)}, nil)
			default:
				outcomes[1]++
			}
			time.Sleep(10 * time.Millisecond)
			if g, r := l.Try(t.Context(), exclusive, 10*time.Second); r != nil {
				t.Errorf("the lock is not free afterwards: %+v", r)
			} else {
				g.End()
			}
		})
	}
	if outcomes[0] == 0 || outcomes[1] == 0 {
		t.Errorf("%d readers got the lease, and %d gave it back; want some of each", outcomes[0], outcomes[1])
	}
}
