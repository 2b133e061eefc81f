package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience limits each wait for the page.
const patience = 30 * time.Second

// tab is a tab of a Chromium of its own.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu    sync.Mutex
	wrong []string // errors on the console, also of the content security policy
}

// watchFrames notes long tasks, and the pauses between frames, before the page begins.
const watchFrames = `
window.long = []; window.gaps = []; window.violations = [];
new PerformanceObserver((list) => list.getEntries().forEach((e) => long.push(e.duration))).observe({ type: 'longtask', buffered: true });
document.addEventListener('securitypolicyviolation', (e) => violations.push(e.violatedDirective + ' ' + e.blockedURI));
let last = performance.now();
const frame = (now) => { gaps.push(now - last); last = now; requestAnimationFrame(frame); };
requestAnimationFrame(frame);`

func open(t *testing.T, url string) *tab {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal("there is no chromium: run make ui-deps")
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.IgnoreCertErrors,
		chromedp.WindowSize(1280, 900))
	alloc, cancel := chromedp.NewExecAllocator(context.Background(), opts...)
	t.Cleanup(cancel)
	ctx, stop := chromedp.NewContext(alloc)
	t.Cleanup(stop)
	b := &tab{t: t, ctx: ctx}
	err = chromedp.Do(ctx) // it starts the browser, so it must have no limit
	if err == nil {
		err = chromedp.Listen(ctx, b.hear)
	}
	if err == nil {
		_, err = chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: watchFrames})
	}
	if err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.Navigate(url))
	return b
}

func (b *tab) hear(event any) {
	var text string
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		text = e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			text = e.Entry.Text + " " + e.Entry.URL
		}
	}
	if text != "" {
		b.mu.Lock()
		b.wrong = append(b.wrong, text)
		b.mu.Unlock()
	}
}

// clean fails the test if the page has had an error.
func (b *tab) clean() {
	b.t.Helper()
	for _, v := range eval[[]string](b, "window.violations") {
		b.t.Errorf("the page broke its own policy: %s", v)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, text := range b.wrong {
		b.t.Errorf("error on the console: %s", text)
	}
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// run runs an action that has a result.
func run[T any](b *tab, a chromedp.Action[T]) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, a)
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// eval returns the value of a script.
func eval[T any](b *tab, script string) T {
	b.t.Helper()
	return run(b, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
}

// until waits until a script is true.
func (b *tab) until(script string) {
	b.t.Helper()
	for end := time.Now().Add(patience); !eval[bool](b, "Boolean("+script+")"); {
		if time.Now().After(end) {
			b.mu.Lock()
			wrong := strings.Join(b.wrong, "\n")
			b.mu.Unlock()
			b.t.Fatalf("not within %s: %s\n%s\n%s", patience, script, eval[string](b, "document.body.innerText.slice(0, 2000)"), wrong)
		}
		<-time.After(50 * time.Millisecond)
	}
}

// click scrolls to an element and clicks it when it has been at one place for ten frames. Rows that come into view get
// their real height, so the elements below them move.
func (b *tab) click(selector string) {
	b.t.Helper()
	eval[int](b, fmt.Sprintf(`new Promise((done) => {
		let last = NaN, frames = 0;
		const look = () => {
			const e = document.querySelector(%q);
			e.scrollIntoView({ block: 'center' });
			const top = e.getBoundingClientRect().top;
			frames = top === last ? frames + 1 : 0;
			last = top;
			frames < 10 ? requestAnimationFrame(look) : done(0);
		};
		look();
	})`, selector))
	b.do(chromedp.Click(selector))
}

// visit goes to an address inside the page, such as #/jobs, and waits for the element that it has.
func (b *tab) visit(hash, selector string) {
	b.t.Helper()
	eval[int](b, fmt.Sprintf("location.hash = %q, 0", hash))
	b.until(fmt.Sprintf("location.hash === %q && document.querySelector(%q)", hash, selector))
}

// views looks at the page in both widths and both schemes, and fails the test if it is too wide or axe-core objects.
func (b *tab) views(name string) {
	b.t.Helper()
	for _, width := range []int64{1280, 360} {
		for _, scheme := range []string{"light", "dark"} {
			b.view(name, width, scheme)
		}
	}
}

func (b *tab) view(name string, width int64, scheme string) {
	b.t.Helper()
	name = fmt.Sprintf("%s-%s-%d", name, scheme, width)
	b.look(width, scheme, name)
	b.axe(name)
	if over := eval[int](b, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
		b.t.Errorf("%s: the page is %d pixels too wide", name, over)
	}
}

func (b *tab) text(selector string) string {
	b.t.Helper()
	return eval[string](b, fmt.Sprintf("document.querySelector(%q)?.textContent ?? ''", selector))
}

// look sets the width and the scheme of colours, and keeps a screenshot of the whole page. The window becomes as high
// as the page, because the page lays out only the rows that are seen. After it axe-core sees all rows, too.
func (b *tab) look(width int64, scheme, name string) {
	b.t.Helper()
	var touch []chromedp.EmulateViewportOption
	if width < 600 {
		touch = append(touch, chromedp.EmulateMobile)
	}
	b.do(chromedp.EmulateViewport(width, 900, touch...))
	for range 2 { // the first time the rows that are not seen have an estimated height
		b.do(chromedp.EmulateViewport(width, eval[int64](b, "Math.ceil(document.body.getBoundingClientRect().height) + 100"), touch...))
		eval[int](b, "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))")
	}
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features}); err != nil {
		b.t.Fatal(err)
	}
	eval[int](b, "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))")
	image := run(b, chromedp.FullScreenshot(100))
	b.keep(name, image)
}

func (b *tab) keep(name string, image []byte) {
	b.t.Helper()
	err := os.MkdirAll("screenshots", 0o755)
	if err == nil {
		err = os.WriteFile(filepath.Join("screenshots", name+".png"), image, 0o644)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// axe fails the test for each serious finding of axe-core.
func (b *tab) axe(where string) {
	b.t.Helper()
	script, err := os.ReadFile("node_modules/axe-core/axe.min.js")
	if err != nil {
		b.t.Fatal("there is no axe-core: run make ui-deps")
	}
	eval[int](b, string(script)+";0")
	found := eval[[]struct {
		ID     string `json:"id"`
		Impact string `json:"impact"`
		Help   string `json:"help"`
		Nodes  []struct {
			HTML    string `json:"html"`
			Summary string `json:"failureSummary"`
		} `json:"nodes"`
	}](b, "axe.run(document).then((r) => r.violations)")
	for _, f := range found {
		var at []string
		for _, n := range f.Nodes[:min(3, len(f.Nodes))] {
			at = append(at, n.HTML+"\n"+n.Summary)
		}
		b.t.Logf("%s: axe: %s: %s (%s), %d times: %s", where, f.Impact, f.ID, f.Help, len(f.Nodes), strings.Join(at, "\n"))
		if f.Impact == "serious" || f.Impact == "critical" {
			b.t.Errorf("%s: axe has a %s finding: %s", where, f.Impact, f.ID)
		}
	}
}
