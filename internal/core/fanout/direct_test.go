package fanout

import (
	"context"
	"sync/atomic"
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
		f := newFleet(t)
		defer f.Close(t.Context())
		f.config.Timeout = 20 * time.Second // newFleet has greeted the nodes with a shorter one
		var reports, questions, mostR, mostQ atomic.Int32
		hangs := func(ctx context.Context, text string) error {
			now, most := &questions, &mostQ
			switch text {
			case nodescript.PeersText():
				now, most = &reports, &mostR
			case nodescript.InspectText():
			default:
				return nil
			}
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
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
		if r, q := mostR.Load(), mostQ.Load(); r != mostReports || q != mostQuestions {
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
