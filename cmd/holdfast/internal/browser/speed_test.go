package browser

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/sample"
)

// timed demands that no task and no pause between two frames is long. Other work of the machine makes them longer, so
// the usual limit is on the page's own time: the processor time of its main thread for each reading.
var timed = flag.Bool("browser.timed", false, "demand that no frame is late; for an idle machine")

const (
	mostTask = 200.0 // ms
	mostGap  = 400.0 // ms; the browser has no graphics card here
	mostOwn  = 150.0 // ms for a reading; the next one comes after 200 ms
)

// TestAThousandNamesFiveTimesASecond changes the holder, the waiters and the token of each of 1,000 names five times a
// second.
func TestAThousandNamesFiveTimesASecond(t *testing.T) {
	b := open(t, serve(t, 200*time.Millisecond, func(context.Context) *sample.State {
		names := make([]sample.Name, 1000)
		for i := range names {
			names[i] = lock(fmt.Sprintf("orders/%04d", i), fmt.Sprintf("web-%d/%d", rand.N(20), rand.N(9999)), rand.N(9))
		}
		return reading(names...)
	}))
	b.visit("#/locks", ".locks tbody tr")
	b.until("document.querySelectorAll('.locks tbody tr').length === 100")
	measure(t, b, "100 of 1,000 names", ".locks td.fence")
	b.click(".pages button:last-child")
	b.until("document.querySelector('.locks tbody td.name').textContent === 'orders/0100'")
	b.clean()
}

// TestTenThousandJobs shows 10,000 jobs. The reading has 500 of them, and the filter finds all.
func TestTenThousandJobs(t *testing.T) {
	n := int64(0)
	b := open(t, serve(t, 200*time.Millisecond, func(context.Context) *sample.State {
		s := reading()
		n++
		jobs := make([]sample.Job, 10_000)
		for i := range jobs {
			jobs[i] = sample.Job{Name: fmt.Sprintf("job-%05d", i), State: "done", Schedule: "every 1h", Host: "web-1/1", Done: s.At - n*1000, Next: s.At + 60_000 + n, Took: n}
		}
		jobs[9_999].Failing, jobs[9_999].Failed, jobs[9_999].State, jobs[9_999].Error = true, s.At-1000, "failed", fmt.Sprint("exit status ", n)
		s.SetJobs(jobs)
		return s
	}))
	b.visit("#/jobs", ".jobs tbody tr")
	b.until("document.querySelector('.jobs tbody td.name').textContent.startsWith('job-09999')") // the one that failed
	measure(t, b, "100 of 10,000 jobs", ".jobs td.said")
	b.press("/")
	b.do(chromedp.KeyEvent("job-0777"))
	b.until("document.querySelectorAll('.jobs tbody tr').length === 10")
	b.clean()
}

// TestThirtyThousandLocks shows 30,000 locks. The reading has 500 of them. The filter finds all, and says how many.
func TestThirtyThousandLocks(t *testing.T) {
	all := make([]sample.Name, 30_000)
	for i := range all {
		all[i] = lock(fmt.Sprintf("order/%05d", i), fmt.Sprintf("web-%d/%d", i%20, i), 0)
		all[i].Holders[0].Since += int64(i) // the last ones are those that the reading leaves out
	}
	all[29_999].Waiters, all[20_000].Holders[0].Label = 3, "worker-7/1"
	n := 0
	b := open(t, serve(t, 200*time.Millisecond, func(context.Context) *sample.State {
		names := slices.Clone(all)
		n++
		names[29_999].Holders = []sample.Holder{{Label: fmt.Sprintf("web-1/%d", n), Fence: int64(n)}}
		return reading(names...)
	}))
	b.visit("#/locks", ".locks tbody tr")
	b.until("document.querySelector('#locks .title').textContent.includes('30,000')")
	b.until("document.querySelector('main').textContent.includes('The list has the first 500 of 30,000 locks')")
	measure(t, b, "100 of 30,000 locks", ".locks td.fence")
	for _, c := range []struct{ part, count, first string }{
		{"order/2777", "10 of 30,000", "order/27770"}, {"worker-7", "1 of 30,000", "order/20000"}, {"ORDER/1", "10,000 of 30,000", "order/10000"}, {"nothing", "0 of 30,000", ""},
	} {
		b.press("/")
		b.do(chromedp.KeyEvent(c.part))
		b.until("document.querySelector('#locks .title').textContent.includes('" + c.count + "')")
		if c.first != "" {
			b.until("document.querySelector('.locks tbody td.name').textContent === '" + c.first + "'")
		} else {
			b.until("document.querySelector('#locks').textContent.includes('No name fits the filter.')")
		}
		b.do(chromedp.KeyEvent(kb.Escape))
	}
	b.press("w")
	b.until("document.querySelector('#locks .title').textContent.includes('1 of 30,000')")
	b.visit("#/lock/order%2F25000", "h2.subject") // the reading leaves it out
	b.until("document.querySelector('dl.facts').textContent.includes('held by web-0/25000')")
	b.clean()
}

// measure looks at the page for ten seconds. The text of the element changes with each reading.
func measure(t *testing.T, b *tab, what, changes string) {
	t.Helper()
	eval[int](b, "window.seen = new Set(), window.begin = performance.now(), window.long.length = 0, window.gaps.length = 0, 0")
	before := b.processorTime()
	for eval[bool](b, "window.seen.add(document.querySelector('"+changes+"').textContent), performance.now() - window.begin < 10000") {
		<-time.After(40 * time.Millisecond)
	}
	spent := b.processorTime()
	long, gaps := eval[[]float64](b, "window.long"), eval[[]float64](b, "window.gaps")
	seen := eval[int](b, "window.seen.size")
	longest, widest := slices.Max(append(long, 0)), slices.Max(append(gaps, 0))
	own := (spent - before) / float64(max(seen, 1))
	t.Logf("%s: %d readings shown in 10 s, %.0f ms of processor each; %d tasks above 50 ms, longest %.0f ms; %d frames, widest gap %.0f ms",
		what, seen, own, len(long), longest, len(gaps), widest)
	if own > mostOwn {
		t.Errorf("%s: a reading costs %.0f ms of processor; at most %.0f are allowed", what, own, mostOwn)
	}
	if *timed && (longest > mostTask || widest > mostGap || seen < 40) {
		t.Errorf("%s: the page stalled", what)
	}
}

// processorTime returns the processor time of the page's main thread so far, in ms.
func (b *tab) processorTime() float64 {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks})
	if err != nil {
		b.t.Fatal(err)
	}
	got, err := chromedp.Call(b.ctx, performance.GetMetrics, cdp.Empty{})
	if err != nil {
		b.t.Fatal(err)
	}
	var all float64
	for _, m := range got.Metrics {
		if m.Name == "TaskDuration" {
			all = m.Value * 1000
		}
	}
	return all
}
