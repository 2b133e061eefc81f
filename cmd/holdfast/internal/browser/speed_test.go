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
// second, first with the usual 200 rows, and then with all of them.
func TestAThousandNamesFiveTimesASecond(t *testing.T) {
	b := open(t, serve(t, 200*time.Millisecond, func(context.Context) *sample.State {
		names := make([]sample.Name, 1000)
		for i := range names {
			names[i] = lock(fmt.Sprintf("orders/%04d", i), fmt.Sprintf("web-%d/%d", rand.N(20), rand.N(9999)), rand.N(9))
		}
		return reading(names...)
	}))
	b.until("document.querySelectorAll('.locks tbody tr').length === 200")
	measure(t, b, "200 rows")
	b.click(".more button")
	b.until("document.querySelectorAll('.locks tbody tr').length === 1000")
	measure(t, b, "1000 rows")
	b.clean()
}

// measure looks at the page for ten seconds.
func measure(t *testing.T, b *tab, what string) {
	t.Helper()
	eval[int](b, "window.seen = new Set(), window.begin = performance.now(), window.long.length = 0, window.gaps.length = 0, 0")
	before := b.processorTime()
	for eval[bool](b, "window.seen.add(document.querySelector('.locks tbody td.fence').textContent), performance.now() - window.begin < 10000") {
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
