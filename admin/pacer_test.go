package admin

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Requests to a node have equal distances, also if many callers want to send at the same time.
func TestAPacerSpreadsRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPacer(2, 100)
		began := time.Now()
		var mu sync.Mutex
		var sent []time.Duration
		var wait sync.WaitGroup
		for k := range 30 {
			wait.Go(func() {
				nodes := []int{0, 1}
				if k%3 == 0 {
					nodes = []int{1}
				}
				if !p.wait(t.Context(), nodes...) {
					t.Error("wait returned false")
				}
				mu.Lock()
				defer mu.Unlock()
				sent = append(sent, time.Since(began))
			})
		}
		wait.Wait()
		for k := range sent { // every request is for node 1
			if want := time.Duration(k) * 10 * time.Millisecond; sent[k] != want {
				t.Errorf("request %d is sent after %v, want %v", k, sent[k], want)
			}
		}
	})
}

// After a pause there are no more requests in a row than before it.
func TestAPacerSavesNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPacer(1, 1000)
		p.wait(t.Context(), 0)
		time.Sleep(time.Second)
		began := time.Now()
		for range 100 {
			p.wait(t.Context(), 0)
		}
		if took := time.Since(began); took != 99*time.Millisecond {
			t.Errorf("100 requests took %v, want 99ms: one each millisecond", took)
		}
	})
}

func TestAPacerEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPacer(1, 10)
		p.wait(t.Context(), 0)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		var wait sync.WaitGroup
		began := time.Now()
		for range 3 { // one waits for its time, and two wait for their turn
			wait.Go(func() {
				if p.wait(ctx, 0) {
					t.Error("wait returned true")
				}
			})
		}
		wait.Wait()
		if took := time.Since(began); took != 50*time.Millisecond {
			t.Errorf("wait took %v, want 50ms", took)
		}
		if !p.wait(t.Context(), 0) || time.Since(began) != 100*time.Millisecond {
			t.Error("a call that ended early changed the time of the next request")
		}
	})
}
