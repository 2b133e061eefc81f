package fanout

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// A node hangs, and its timeout is longer than the pause between many reports. The calls of callers and the reports
// together take no more than their places at the node, and they work again after that.
func TestDirectCallsToANodeThatHangsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleetWithin(t, 3, 20*time.Second)
		defer f.Close(t.Context())
		var mu sync.Mutex
		now, most := map[string]int{}, map[string]int{} // by script
		hangs := func(ctx context.Context, text string) error {
			if text != nodescript.PeersText() && text != nodescript.InspectText() {
				return nil
			}
			add := func(n int) {
				mu.Lock()
				defer mu.Unlock()
				now[text] += n
				most[text] = max(most[text], now[text])
			}
			add(1)
			defer add(-1)
			<-ctx.Done()
			return ctx.Err()
		}
		f.first.Store(&hangs)
		for range 100 {
			go f.Inspect(context.Background(), nodescript.Lock{Name: "a"})
		}
		for range 19 {
			f.members.round.Lock()
			f.report()
			f.members.round.Unlock()
			time.Sleep(time.Second)
		}
		mu.Lock()
		r, q := most[nodescript.PeersText()], most[nodescript.InspectText()]
		mu.Unlock()
		if r != mostReports || q != mostQuestions {
			t.Errorf("at most %d reports and %d questions were under way, want %d and %d", r, q, mostReports, mostQuestions)
		}
		f.first.Store(nil)
		time.Sleep(f.config.Timeout)
		if _, errs := f.Inspect(t.Context(), nodescript.Lock{Name: "a"}); errs[0] != nil {
			t.Errorf("after the outage: %v", errs)
		}
		f.members.round.Lock()
		f.report()
		f.members.round.Unlock()
		synctest.Wait()
		if n := f.voters[0].reports.Load(); n != 0 {
			t.Errorf("%d reports are under way after the outage", n)
		}
	})
}

// A question that waits for its place ends with its context, and its error says that the node did not get it.
func TestAQuestionThatGetsNoPlaceWasNotSent(t *testing.T) {
	a := asker{slots: make(chan struct{}, 1)}
	a.slots <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := a.Eval(ctx, "", node.Call{}); !node.Unsent(r.Err) {
		t.Errorf("the question ended with %v", r.Err)
	}
}
