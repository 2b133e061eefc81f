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

// A callback that panics ends only the wait of its own Lock. The panic leaves that Lock, the waiters behind it
// continue, and no place is left in a queue.
func TestACallbackThatPanicsEndsItsOwnWaitOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ttl = 10 * time.Second
		l, lock := neighbours(t, 1)[0], nodescript.NewExclusive(nodescript.Lock{Name: "x"})
		owner, token := l.taken(t, lock, ttl, nil)
		var all sync.WaitGroup
		all.Go(func() {
			defer func() {
				if p := recover(); p != "told" {
					t.Errorf("the wait ended with the panic %v; want that of its callback", p)
				}
			}()
			l.Wait(t.Context(), lock, ttl, func(*Refusal) { panic("told") })
		})
		time.Sleep(time.Millisecond / 10)
		begun := time.Now()
		all.Go(func() {
			g, r := l.Wait(t.Context(), lock, ttl, func(*Refusal) {})
			if took := time.Since(begun); r != nil || took > 60*time.Millisecond {
				t.Errorf("the waiter behind it got the lock after %s: %+v", took, r)
				return
			}
			l.unlock(lock, g, ttl)
		})
		time.Sleep(50 * time.Millisecond)
		l.Fan.Send(&fanout.Message{Call: nodescript.ReleaseCall(lock.Lock(), owner, token)}, nil)
		all.Wait()
		synctest.Wait()
		if g, r := l.Try(t.Context(), lock, ttl); r != nil {
			t.Errorf("what was left behind keeps the name: %+v", r)
		} else {
			l.unlock(lock, g, ttl)
		}
	})
}

// The next attempt of a line waits for the callback of the first waiter. So the other waiters learn of an outage later
// by the duration of the callback, but not by more.
func TestACallbackThatSleepsDelaysThoseBehindItByAsLongAsItSleeps(t *testing.T) {
	const timeout, sleeps = 100 * time.Millisecond, 5 * time.Second
	synctest.Test(t, func(t *testing.T) {
		l, hang := mute(t, timeout, timeout, true)
		hang(true)
		lock := nodescript.NewExclusive(nodescript.Lock{Name: "x"})
		var all sync.WaitGroup
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		all.Go(func() { l.Wait(ctx, lock, 10*time.Second, func(*Refusal) { time.Sleep(sleeps) }) })
		time.Sleep(time.Millisecond)
		for i := range 20 {
			all.Go(func() {
				begun := time.Now()
				_, r := l.Wait(ctx, lock, 10*time.Second, func(*Refusal) {})
				if took := time.Since(begun); r == nil || r.Kind != Unavailable || took > sleeps+Patience+3*timeout {
					t.Errorf("waiter %d was told %+v after %s", i, r, took)
				}
			})
		}
		all.Wait()
	})
}
