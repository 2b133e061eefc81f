package fanout

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// In a busy process workers are woken one after the other. Each message is still answered, whoever takes it.
func TestNoMessageIsForgottenInABusyProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleetOf(t, 5)
		defer f.Close(t.Context())
		f.delay.Store(int64(time.Second))
		f.takes.Store(int64(3 * time.Millisecond))
		var wait sync.WaitGroup
		for i := range 40 {
			wait.Go(func() {
				time.Sleep(time.Duration(i%7) * time.Millisecond)
				for range 10 {
					r := newCollector(f.N())
					f.Send(&Message{Call: nodescript.QuitCall(lockX, "nobody"), To: r}, nil)
					select {
					case <-r.done:
					case <-time.After(time.Minute):
						t.Error("a message was not answered within a minute")
						return
					}
				}
			})
		}
		wait.Wait()
	})
}

// A message whose call is made when it is sent is made once, and not for a message that is dropped.
func TestACallIsDrawnOnceWhenItIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleetOf(t, 3)
		defer f.Close(t.Context())
		f.takes.Store(int64(50 * time.Millisecond))
		for range workersOfMany { // all workers are away
			f.Send(&Message{Call: nodescript.QuitCall(lockX, "nobody")}, nil)
			time.Sleep(time.Millisecond)
		}
		began, drawn := f.Now(), 0
		r := newCollector(f.N())
		f.Send(&Message{To: r, Draw: func() (nodescript.Call, bool) {
			if drawn++; f.Now().Sub(began) < f.set.Window/shares {
				t.Error("the call was made before a spare took it")
			}
			return nodescript.QuitCall(lockX, "nobody"), true
		}}, nil)
		<-r.done
		if drawn != 1 {
			t.Errorf("drawn %d times", drawn)
		}
		for _, a := range r.answers {
			if a.Verdict != nodescript.Done {
				t.Errorf("answer %+v", a)
			}
		}
		none := newCollector(f.N())
		f.Send(&Message{To: none, Draw: func() (nodescript.Call, bool) { return nodescript.Call{}, false }}, nil)
		<-none.done
		for _, a := range none.answers {
			if a.Verdict != nodescript.Failed || a.MayHaveRun() {
				t.Errorf("a message that is not needed: %+v", a)
			}
		}
	})
}
