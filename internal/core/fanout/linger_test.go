package fanout

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// A call that comes just after a pipeline has left waits for a moment. Then an idle worker sends it, so that it does
// not wait for the first pipeline's answers.
func TestACallThatComesRightAfterAnotherWaitsForNoneOfItsAnswers(t *testing.T) {
	const takes = 60 * time.Millisecond
	for _, after := range []time.Duration{1, linger / 2, linger, 2 * linger, takes / 2} {
		t.Run(after.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t)
				defer f.Close(t.Context())
				f.takes.Store(int64(takes))
				call := nodescript.ExtendCall(lockX, "somebody", 1, 1, 1, time.Second, f.set.Window)
				go f.answers(call)
				synctest.Wait()
				time.Sleep(after)
				began := time.Now()
				f.answers(call)
				if took := time.Since(began); took > takes+linger+time.Microsecond {
					t.Errorf("a call that came %s after another was answered after %s; one takes %s", after, took, takes)
				}
			})
		})
	}
}

// Calls that come within the linger go in one pipeline.
func TestWhatGathersWhileAPipelineHasJustLeftGoesTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const takes = time.Second / 2
		f := newFleet(t)
		defer f.Close(t.Context())
		f.takes.Store(int64(takes))
		call := nodescript.ExtendCall(lockX, "somebody", 1, 1, 1, time.Second, f.set.Window)
		before := f.asked.Load()
		for range 11 {
			go f.answers(call)
			synctest.Wait()
			time.Sleep(linger / 20)
		}
		time.Sleep(takes + linger)
		if n := f.asked.Load() - before; n != int64(2*f.N()) {
			t.Errorf("%d calls were sent; want one for the first, and one for the ten behind it, to each of %d nodes", n, f.N())
		}
	})
}
