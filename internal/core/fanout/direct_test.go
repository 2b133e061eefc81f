package fanout

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
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
		for range 100 {
			f.members.round.Lock()
			f.report()
			f.members.round.Unlock()
			time.Sleep(50 * time.Millisecond)
		}
		mu.Lock()
		r, q := most[nodescript.PeersText()], most[nodescript.InspectText()]
		mu.Unlock()
		// When one ends as another one begins, the order of the two decides whether all places are taken at once.
		if r > mostReports || r < mostReports-1 || q > mostQuestions || q < mostQuestions-1 {
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
		f.mu.Lock()
		defer f.mu.Unlock()
		if n := len(f.voters[0].reports); n != 0 {
			t.Errorf("%d reports are under way after the outage", n)
		}
	})
}

// A question that waits for its place ends with its context, and its error says that the node did not get it.
func TestAQuestionThatGetsNoPlaceWasNotSent(t *testing.T) {
	f := newFleet(t)
	defer f.Close(t.Context())
	a := newAsker(f.Fanout, f.config.Nodes[0])
	for range mostQuestions {
		a.slots <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := a.Eval(ctx, "", node.Call{}); !node.Unsent(r.Err) {
		t.Errorf("the question ended with %v", r.Err)
	}
}

// Reports hang on dead connections to a node, and new connections to the node work. The next report reaches the node,
// so its objection to a server comes before the vote of that server counts.
func TestANodeObjectsAlthoughOldReportsToItHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleetWithin(t, 3, 10*time.Second)
		defer f.Close(t.Context())
		var hung atomic.Int32
		hangs := func(ctx context.Context, text string) error {
			if text != nodescript.PeersText() || hung.Load() >= mostReports {
				return nil
			}
			hung.Add(1)
			<-ctx.Done()
			return ctx.Err()
		}
		f.first.Store(&hangs)
		for hung.Load() < mostReports {
			f.members.round.Lock()
			f.report()
			f.members.round.Unlock()
			time.Sleep(time.Second)
		}
		list, now := f.set.String()+"\n", nodemodel.Now()
		for _, id := range []string{"x", "y", "z"} { // the members that the node keeps, which the client does not list
			list += fmt.Sprintf("%d %s sim://%[2]s\n", now, id)
		}
		f.models[0].Set(nodescript.PeersKey, list, time.Hour)
		f.mu.Lock()
		f.members.servers[2].becomes(f.members.servers[2].id) // its vote must begin to count again
		f.mu.Unlock()
		if a := f.member(2); a.Verdict == nodescript.Done {
			t.Error("the vote of node 2 counts, although node 0 keeps other members and answers")
		}
	})
}

// Many callers ask a node that is far away, and each of them gets an answer: the time for which a question waits for
// its place is not a part of the node timeout.
func TestManyQuestionsToAFarNodeAreAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleetWithin(t, 3, 500*time.Millisecond)
		defer f.Close(t.Context())
		far := func(ctx context.Context, _ bool) error {
			select {
			case <-time.After(20 * time.Millisecond):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		f.eval.Store(&far)
		var failed atomic.Int32
		var wait sync.WaitGroup
		for range 8 {
			wait.Go(func() {
				_, errs := f.InspectSlots(t.Context(), nodescript.NewSlots("s", 100))
				if slices.ContainsFunc(errs[0], func(err error) bool { return err != nil }) {
					failed.Add(1)
				}
			})
		}
		for range 400 {
			wait.Go(func() {
				if _, errs := f.Inspect(t.Context(), nodescript.Lock{Name: "a"}); errs[0] != nil {
					failed.Add(1)
				}
			})
		}
		wait.Wait()
		if n := failed.Load(); n > 0 {
			t.Errorf("%d of 408 callers got no answer", n)
		}
	})
}

// If a node hangs, a question about many slots ends after the node timeout, and one that waits for its place soon
// after.
func TestQuestionsToANodeThatHangsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleetWithin(t, 3, 500*time.Millisecond)
		defer f.Close(t.Context())
		hangs := func(ctx context.Context, _ string) error { <-ctx.Done(); return ctx.Err() }
		f.first.Store(&hangs)
		var wait sync.WaitGroup
		for range 20 {
			wait.Go(func() {
				began := time.Now()
				_, errs := f.InspectSlots(context.Background(), nodescript.NewSlots("s", 1000))
				if took := time.Since(began); took > 2*f.config.Timeout {
					t.Errorf("the question ended after %s", took)
				}
				for slot := range errs[0] {
					if errs[0][slot] == nil || errs[1][slot] != nil {
						t.Fatalf("slot %d: %v and %v", slot, errs[0][slot], errs[1][slot])
					}
				}
			})
		}
		wait.Wait()
	})
}

// Each page of a server's keys has its own node timeout.
func TestNamesWithAValueAreReadFromAServerWithManyKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleetWithin(t, 3, 500*time.Millisecond)
		defer f.Close(t.Context())
		for _, a := range f.askers {
			a.node = pages{a.node}
		}
		if _, errs := f.Valued(t.Context()); errs[0] != nil {
			t.Errorf("Valued: %v", errs)
		}
	})
}

// pages is a node 1 ms away whose keys make 600 pages.
type pages struct{ node.Node }

func (n pages) Eval(ctx context.Context, text string, c node.Call, load ...string) node.Reply {
	if text != nodescript.ScanText() {
		return n.Node.Eval(ctx, text, c, load...)
	}
	select {
	case <-time.After(time.Millisecond):
	case <-ctx.Done():
		return node.Reply{Err: ctx.Err()}
	}
	at, _ := strconv.Atoi(c.Args[0])
	return node.Reply{Value: strconv.Itoa((at+1)%600) + "\n"}
}
