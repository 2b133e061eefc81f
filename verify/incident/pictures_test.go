//go:build linux

package incident

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

var pictures = flag.String("incident.pictures", "", "an absolute path of a folder: write what the page and the alerts show of each fault, for a person who does not know the faults")

// album has the pictures of all faults. Each fault has a folder, whose name is a letter and says nothing about it. The
// file beside the album has the fault of each letter.
type album struct {
	dir     string
	letters []string // by the index of the fault

	mu sync.Mutex // for the key
}

// newAlbum returns nil if nobody wants pictures.
func newAlbum(t *testing.T) *album {
	t.Helper()
	if *pictures == "" {
		return nil
	}
	if !filepath.IsAbs(*pictures) {
		t.Fatalf("-incident.pictures is %q: want an absolute path, because a test runs in the folder of its package", *pictures)
	}
	a := &album{dir: filepath.Clean(*pictures)}
	if entries, err := os.ReadDir(a.dir); err == nil && len(entries) > 0 {
		t.Fatalf("-incident.pictures is %q: want an empty folder, because the letters change with each run", a.dir)
	}
	for i := range faults {
		a.letters = append(a.letters, string(rune('a'+i)))
	}
	rand.Shuffle(len(a.letters), func(i, j int) { a.letters[i], a.letters[j] = a.letters[j], a.letters[i] })
	if err := os.WriteFile(a.key(), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return a
}

func (a *album) key() string { return a.dir + ".key" }

// take writes the folder of the fault i: alerts.txt, overview.png, and a picture of each page that the problems link.
func (a *album) take(w *ward, p prometheus, i int, alerts cell) {
	if a == nil {
		return
	}
	w.t.Helper()
	must := func(err error) {
		w.t.Helper()
		if err != nil {
			w.t.Fatal(err)
		}
	}
	dir := filepath.Join(a.dir, a.letters[i])
	must(os.MkdirAll(dir, 0o755))
	write := func(name string, text []byte) { must(os.WriteFile(filepath.Join(dir, name), text, 0o644)) }
	b := openBrowser(w.t, "http://"+w.page+"/")
	b.until("document.querySelector('#problems')")
	w.problems() // some readings later
	write("overview.png", b.shot())
	// An alert ends when Prometheus gets no answer within its second. A busy machine answers later.
	redistest.Eventually(w.t, patience, "the alerts", func() bool { return alerts.judge(p.look()) == "" })
	write("alerts.txt", []byte(p.annotated()))
	links := eval[[]string](b, "[...document.querySelectorAll('#problems a')].map((a) => a.hash)")
	slices.Sort(links)
	for n, link := range slices.Compact(links) {
		eval[int](b, fmt.Sprintf("location.hash = %q, 0", link))
		b.until("document.querySelector('main .facts')")
		w.problems()
		kind, _, _ := strings.Cut(strings.TrimPrefix(link, "#/"), "/")
		write(fmt.Sprintf("page-%d-%s.png", n+1, kind), b.shot())
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	file, err := os.OpenFile(a.key(), os.O_APPEND|os.O_WRONLY, 0)
	must(err)
	_, err = fmt.Fprintf(file, "%s  %s\n", a.letters[i], faults[i].name)
	must(err)
	must(file.Close())
}

// browser is a Chromium of its own with a page of the width of a desktop.
type browser struct {
	t   *testing.T
	ctx context.Context
}

const pageWidth = 1280

func openBrowser(t *testing.T, url string) *browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal("there is no chromium: run make ui-deps")
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.WindowSize(pageWidth, 900))
	alloc, cancel := chromedp.NewExecAllocator(context.Background(), opts...)
	t.Cleanup(cancel)
	ctx, stop := chromedp.NewContext(alloc)
	t.Cleanup(stop)
	b := &browser{t, ctx}
	if err := chromedp.Do(ctx); err != nil { // it starts the browser, so it must have no limit
		t.Fatal(err)
	}
	b.do(chromedp.Navigate(url))
	return b
}

func (b *browser) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// run returns the result of an action.
func run[T any](b *browser, a chromedp.Action[T]) T {
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
func eval[T any](b *browser, script string) T {
	b.t.Helper()
	return run(b, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
}

// until waits until a script is true.
func (b *browser) until(script string) {
	b.t.Helper()
	redistest.Eventually(b.t, patience, script, func() bool { return eval[bool](b, "Boolean("+script+")") })
}

// shot returns a picture of the whole page as PNG. The page lays out only the rows that are seen, so the window becomes as
// high as the page.
func (b *browser) shot() []byte {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(pageWidth, 900))
	for range 2 {
		b.do(chromedp.EmulateViewport(pageWidth, eval[int64](b, "Math.ceil(document.body.getBoundingClientRect().height) + 20")))
		eval[int](b, "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))")
	}
	return run(b, chromedp.FullScreenshot(100))
}
