package browser

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/sample"
	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/ui"
)

// operator notes the actions of the page.
type operator struct{ did chan string }

func (o operator) Unlock(_ context.Context, _ string, h ui.Taken) error {
	o.did <- fmt.Sprintf("unlock %+v", h)
	return nil
}

func (o operator) Job(_ context.Context, _, what, name, note string) error {
	o.did <- what + " " + name + " " + note
	return nil
}

// lookOnly has details of each name.
type lookOnly struct{}

func (lookOnly) Lock(_ context.Context, name string, _ int) (*sample.LockDetails, error) {
	l := lock(name, "web-1/1", 0)
	l.Holders[0].Fence = 1764460000123456 // microseconds since 1970, as tokens are
	return &sample.LockDetails{Name: name, Known: true, Holders: l.Holders, Nodes: []sample.NodeAnswer{{Addr: "redis://127.0.0.1:6379/0", Said: "held by web-1/1"}}}, nil
}

func (lookOnly) Job(_ context.Context, name string) (*sample.JobDetails, error) {
	at := time.Now().UnixMilli()
	d := &sample.JobDetails{Job: sample.Job{Name: name, State: "done", Done: at, Schedule: "every 1h", Host: "web-1/1"}, Runs: map[string]int{"done": 3},
		History: []sample.Run{{Tick: at, Started: at, Took: 1500, State: "done", Host: "web-1/1"}}, Audit: []sample.Action{{What: "pause", At: at, By: "ops/1", Note: "deploy"}}}
	switch name {
	case "asked":
		d.Asked = at - 40_000
	case "it's long":
		d.State, d.Started, d.Next, d.Took, d.Hangs = "running", at-250_000, at-190_000, -1, true
	case "gone":
		d.State, d.Host, d.Tick = "removed", "ops/1", at-5000
	}
	return d, nil
}

// login opens a page with actions, and enters the token.
func login(t *testing.T, s *sample.Sampler, o operator) *tab {
	t.Helper()
	server := httptest.NewTLSServer(ui.Handler(ui.Config{Sampler: s, Token: "correct horse battery", TLS: true, Details: lookOnly{}, Actions: o}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		s.Wait()
	})
	b := open(t, server.URL)
	b.until("document.activeElement.id === 'token'")
	b.do(chromedp.KeyEvent("correct horse battery" + kb.Enter))
	b.until("document.querySelector('.locks tbody tr')")
	return b
}

// expect fails the test if the page does not ask for an action.
func (o operator) expect(t *testing.T, want string) {
	t.Helper()
	select {
	case got := <-o.did:
		if got != want {
			t.Errorf("the page asked for %s, want %s", got, want)
		}
	case <-time.After(patience):
		t.Fatalf("the page does not ask for %s", want)
	}
}

// pushes presses a button by its text.
func (b *tab) pushes(text string) {
	b.t.Helper()
	button := fmt.Sprintf("[...document.querySelectorAll('button')].find((e) => e.textContent === %q && !e.disabled && e.checkVisibility())", text)
	b.until(button)
	eval[int](b, button+".click(), 0")
}

// TestAnActionIsConfirmed takes a lock away, which needs the label of its holder, and pauses and runs a job.
func TestAnActionIsConfirmed(t *testing.T) {
	o := operator{make(chan string, 10)}
	s := &sample.Sampler{Every: 200 * time.Millisecond, Read: func(context.Context) *sample.State {
		r := reading(lock("orders/1", "web-1/1", 2))
		r.SetJobs([]sample.Job{{Name: "report", State: "done", Done: r.At - 5000, Next: r.At + 60_000}})
		return r
	}}
	b := login(t, s, o)
	b.visit("#/lock/orders%2F1", ".actions button")
	b.view("actions-lock", 360, "dark")
	b.view("actions-lock", 1280, "light")
	eval[int](b, "document.querySelector('.actions button').click(), 0")
	b.until("document.getElementById('unlock').open")
	b.axe("unlock")
	b.keep("unlock", run(b, chromedp.FullScreenshot(100)))
	b.do(chromedp.Focus("#typed"), chromedp.KeyEvent("web-1/2"))
	if !eval[bool](b, "document.querySelector('#unlock button[type=submit]').disabled") {
		t.Error("a wrong label can be confirmed")
	}
	b.do(chromedp.KeyEvent(kb.Backspace+"1"), chromedp.KeyEvent(kb.Enter))
	o.expect(t, "unlock {Name:orders/1 Slots:0 Slot:0 Label:web-1/1 Fence:1764460000123456}")
	b.until("document.querySelector('.actions [role=status]')?.textContent.includes('taken away from web-1/1')")
	b.visit("#/job/report", ".actions button")
	b.view("actions-job", 360, "light")
	b.view("actions-job", 1280, "dark")
	b.pushes("Run now…")
	b.until("document.getElementById('job-action').open")
	b.pushes("Cancel")
	b.pushes("Pause the job…")
	b.until("document.getElementById('job-action').open")
	b.axe("job-action")
	b.keep("job-action", run(b, chromedp.FullScreenshot(100)))
	b.do(chromedp.Focus("#note"), chromedp.KeyEvent("deploy 7"+kb.Enter))
	o.expect(t, "pause report deploy 7")
	b.pushes("Run now…")
	b.pushes("Run it now")
	o.expect(t, "run report ")
	b.until("document.querySelector('.actions [role=status]')?.textContent.includes('Asked.')")
	b.visit("#/job/asked", ".actions button")
	b.until("document.querySelector('.facts').textContent.includes('no machine has begun it yet')")
	b.pushes("Withdraw the request")
	o.expect(t, "cancel asked ")
	b.clean()
}

// TestTheSlotThatIsShownIsTaken takes one of two slots of a process.
func TestTheSlotThatIsShownIsTaken(t *testing.T) {
	o := operator{make(chan string, 10)}
	b := login(t, &sample.Sampler{Every: 200 * time.Millisecond, Read: func(context.Context) *sample.State {
		names := []sample.Name{lock("orders/1", "web-1/1", 0), lock("gpu", "web-1/1", 0), lock("gpu", "web-1/1", 0)}
		for slot := range 2 {
			n := &names[slot+1]
			n.Key, n.Slot, n.Kind, n.Holders[0].Fence = fmt.Sprint("gpu ", slot), slot, "semaphore", int64(70+slot)
		}
		return reading(names...)
	}}, o)
	b.visit("#/semaphore/gpu", ".actions button")
	b.pushes("Take slot 1 away from web-1/1…")
	b.do(chromedp.Focus("#typed"), chromedp.KeyEvent("web-1/1"+kb.Enter))
	o.expect(t, "unlock {Name:gpu Slots:2 Slot:1 Label:web-1/1 Fence:71}")
	b.clean()
}

// TestTheJobPageSaysWhatHolds shows a run that goes on past its next tick, and a job that an operator removed.
func TestTheJobPageSaysWhatHolds(t *testing.T) {
	b := login(t, &sample.Sampler{Every: 200 * time.Millisecond, Read: func(context.Context) *sample.State {
		return reading(lock("orders/1", "web-1/1", 0))
	}}, operator{make(chan string, 10)})
	b.visit("#/job/it's%20long", "main .notice")
	b.until(`document.querySelector('main .notice').textContent.includes("holdfast unlock 'it'\\''s long' --force")`)
	for _, text := range []string{"It has run for 4 min", "on web-1/1; its next tick was due at", "was due 3 min", "so far"} {
		b.until(fmt.Sprintf("document.querySelector('main').textContent.includes(%q)", text))
	}
	b.view("job-long", 1280, "light")
	b.view("job-long", 360, "dark")
	b.visit("#/job/gone", ".facts")
	b.until("[...document.querySelectorAll('.facts dt')].some((e) => e.textContent === 'Removed')")
	if facts := b.text(".facts"); !strings.Contains(facts, "by ops/1") || strings.Contains(facts, "on ops/1") {
		t.Errorf("the removal looks like a run: %s", facts)
	}
	b.clean()
}
