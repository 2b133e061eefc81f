package browser

import (
	"context"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/sample"
	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/ui"
)

// operator notes the actions of the page.
type operator struct{ did chan string }

func (o operator) Unlock(_ context.Context, _, name string, slots int, label string) error {
	o.did <- "unlock " + name + " " + strconv.Itoa(slots) + " " + label
	return nil
}

func (o operator) Job(_ context.Context, _, what, name string) error {
	o.did <- what + " " + name
	return nil
}

// lookOnly has details of each name.
type lookOnly struct{}

func (lookOnly) Lock(_ context.Context, name string, _ int) (*sample.LockDetails, error) {
	l := lock(name, "web-1/1", 0)
	return &sample.LockDetails{Name: name, Known: true, Holders: l.Holders, Nodes: []sample.NodeAnswer{{Addr: "redis://127.0.0.1:6379/0", Said: "held by web-1/1"}}}, nil
}

func (lookOnly) Job(_ context.Context, name string) (*sample.JobDetails, error) {
	at := time.Now().UnixMilli()
	return &sample.JobDetails{Job: sample.Job{Name: name, State: "done", Done: at, Schedule: "every 1h", Host: "web-1/1"}, Runs: map[string]int{"done": 3},
		History: []sample.Run{{Tick: at, Started: at, Took: 1500, State: "done", Host: "web-1/1"}}, Audit: []sample.Action{{What: "pause", At: at, By: "ops/1", Note: "deploy"}}}, nil
}

// TestAnActionIsConfirmed takes a lock away, which needs the label of its holder, and pauses and runs a job.
func TestAnActionIsConfirmed(t *testing.T) {
	o := operator{make(chan string, 10)}
	s := &sample.Sampler{Every: 200 * time.Millisecond, Read: func(context.Context) *sample.State {
		r := reading(lock("orders/1", "web-1/1", 2))
		r.SetJobs([]sample.Job{{Name: "report", State: "done", Done: r.At - 5000, Next: r.At + 60_000}})
		return r
	}}
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
	expect := func(want string) {
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
	expect("unlock orders/1 0 web-1/1")
	b.until("document.querySelector('.actions [role=status]')?.textContent.includes('taken away from web-1/1')")
	b.visit("#/job/report", ".actions button")
	b.view("actions-job", 360, "light")
	b.view("actions-job", 1280, "dark")
	eval[int](b, "document.querySelector('.actions button:nth-child(1)').click(), 0")
	expect("run report")
	b.until("document.querySelector('.actions [role=status]')?.textContent.includes('will run it now')")
	eval[int](b, "document.querySelector('.actions button:nth-child(2)').click(), 0")
	expect("pause report")
	b.clean()
}
