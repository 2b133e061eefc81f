package cli

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/sample"
	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/ui"
	"github.com/holdfast-go/holdfast/holdfasttest"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/job"
)

// lines is a writer whose text can be read meanwhile.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Each action of the page changes the lock or the job, and has a line on stderr, an event, and a place in the audit.
func TestActionsOfThePageAreAudited(t *testing.T) {
	t.Parallel()
	nodes := holdfasttest.Start(t, 3)
	web := nodes.Client(t, holdfast.Config{Label: "web-1/1"})
	out := new(lines)
	a := uiActions{newTalker(out), watched{new(sample.Sampler), nodes.Client(t, holdfast.Config{Label: "ui/1"})}}
	ctx := t.Context()
	lease, err := web.Mutex("orders \x1b").Lock(ctx)
	if err != nil {
		t.Fatal(err)
	}
	slot, err := web.Semaphore("gpu", 2).Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	orders := ui.Taken{Name: `"orders \x1b"`, Label: "web-1/1", Fence: lease.Fence()}
	other := orders
	other.Label = "web-2/2"
	if err := a.Unlock(ctx, "10.0.0.7", other); err == nil || lease.Context().Err() != nil {
		t.Fatalf("the lock of another holder: %v", err)
	}
	if err := a.Unlock(ctx, "10.0.0.7", orders); err != nil {
		t.Fatal(err)
	}
	if err := a.Unlock(ctx, "10.0.0.7", ui.Taken{Name: "gpu", Slots: 2, Slot: slot.Slot(), Label: "web-1/1", Fence: slot.Fence()}); err != nil {
		t.Fatal(err)
	}
	for what, l := range map[string]*holdfast.Lease{"lock": lease, "slot": slot} {
		select {
		case <-l.Context().Done():
			if cause := context.Cause(l.Context()); !errors.Is(cause, holdfast.ErrLost) {
				t.Errorf("the %s ended because of %v", what, cause)
			}
		case <-time.After(30 * time.Second):
			t.Errorf("the holder keeps the %s", what)
		}
	}

	spec := job.Spec{Name: "report", Schedule: "every 1s", Logger: slog.New(slog.DiscardHandler)}
	over, end := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = job.Run(over, web, spec, func(context.Context, job.Tick) error { return nil })
	}()
	defer func() { end(); <-ended }()
	redistest.Eventually(t, 30*time.Second, "the pause", func() bool { return a.Job(ctx, "10.0.0.7", "pause", "report", "deploy") == nil })
	last, err := job.Last(ctx, web, "report")
	if err != nil || last.Book.Paused == nil || last.Book.Audit[0].Note != "deploy (holdfast ui, from 10.0.0.7)" {
		t.Errorf("the paused job: %+v, %v", last, err)
	}
	if err := a.Job(ctx, "10.0.0.7", "run", "report", ""); !errors.Is(err, job.ErrPaused) {
		t.Errorf("a run of a paused job: %v", err)
	}
	if err := a.Job(ctx, "10.0.0.7", "resume", "report", ""); err != nil {
		t.Error(err)
	}
	if err := a.Job(ctx, "10.0.0.7", "pause", "none", ""); !errors.Is(err, job.ErrNeverRan) {
		t.Errorf("a pause of no job: %v", err)
	}
	redistest.Eventually(t, 30*time.Second, "the lines", func() bool { return strings.Count(out.String(), "audit: ") == 4 })
	for _, want := range []string{`a reader of the page at 10.0.0.7 took "orders \x1b" away from web-1/1`, "took gpu away from web-1/1", "asked to pause the job report", "asked to resume the job report"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if events := a.History(0).Events; len(events) != 4 || events[0].Name != `"orders \x1b"` || events[3].Kind != "job" {
		t.Errorf("events: %+v", events)
	}
}

// A process locks a name again and again under one label, and may have several slots. The page takes only the lease that
// it has shown.
func TestThePageTakesOnlyTheLeaseThatItShows(t *testing.T) {
	t.Parallel()
	nodes := holdfasttest.Start(t, 3)
	web := nodes.Client(t, holdfast.Config{Label: "web-1/1"})
	a := uiActions{newTalker(new(lines)), watched{new(sample.Sampler), nodes.Client(t, holdfast.Config{Label: "ui/1"})}}
	ctx := t.Context()
	must := func(l *holdfast.Lease, err error) *holdfast.Lease {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	first := must(web.Mutex("orders").Lock(ctx))
	shown := ui.Taken{Name: "orders", Label: "web-1/1", Fence: first.Fence()}
	if err := first.Unlock(ctx); err != nil {
		t.Fatal(err)
	}
	second := must(web.Mutex("orders").Lock(ctx))
	if err := a.Unlock(ctx, "10.0.0.7", shown); err == nil || !strings.Contains(err.Error(), "nothing was taken away") {
		t.Errorf("a lease that has ended: %v", err)
	}
	one, two := must(web.Semaphore("gpu", 3).Acquire(ctx)), must(web.Semaphore("gpu", 3).Acquire(ctx))
	if err := a.Unlock(ctx, "10.0.0.7", ui.Taken{Name: "gpu", Slots: 3, Slot: one.Slot(), Label: "web-1/1", Fence: one.Fence()}); err != nil {
		t.Fatal(err)
	}
	lock, err := web.Status(ctx, "orders")
	if err != nil || lock.Holder().Fence != second.Fence() {
		t.Errorf("the next lease: %+v, %v", lock, err)
	}
	gpu, err := web.Semaphore("gpu", 3).Status(ctx)
	if err != nil || len(gpu.Holders) != 1 || gpu.Holders[0].Slot != two.Slot() {
		t.Errorf("the other slot: %+v, %v", gpu, err)
	}
}

// A reader withdraws a request for a run that no machine has begun.
func TestThePageWithdrawsARequest(t *testing.T) {
	t.Parallel()
	nodes := holdfasttest.Start(t, 3)
	client, out := nodes.Client(t, holdfast.Config{Label: "ui/1"}), new(lines)
	a := uiActions{newTalker(out), watched{new(sample.Sampler), client}}
	ctx := t.Context()
	if err := a.Job(ctx, "10.0.0.7", "cancel", "report", ""); err == nil {
		t.Error("there is no request to withdraw")
	}
	for _, what := range []string{"run", "cancel"} {
		if err := a.Job(ctx, "10.0.0.7", what, "report", ""); err != nil {
			t.Fatal(err)
		}
	}
	if last, err := job.Last(ctx, client, "report"); err != nil || last.Book.Asked != nil {
		t.Errorf("the request stays: %+v, %v", last, err)
	}
	redistest.Eventually(t, 30*time.Second, "the line", func() bool {
		return strings.Contains(out.String(), "asked to withdraw the request for a run of the job report")
	})
}

// A request names a lock or a job in any form. Each action has one line on stderr, and the name in it is quoted.
func TestARequestForgesNoLineOfTheAudit(t *testing.T) {
	t.Parallel()
	nodes := holdfasttest.Start(t, 1)
	client, out := nodes.Client(t, holdfast.Config{Label: "ui/1"}), new(lines)
	a := uiActions{newTalker(out), watched{new(sample.Sampler), client}}
	const name, shown = "x\naudit: a reader of the page at 10.9.9.9 took payroll away", `"x\naudit: a reader of the page at 10.9.9.9 took payroll away"`
	ctx := t.Context()
	if err := a.Job(ctx, "10.0.0.7", "run", name, ""); err != nil {
		t.Fatal(err)
	}
	if err := a.Job(ctx, "10.0.0.7", "cancel", shown, ""); err != nil {
		t.Fatal(err)
	}
	lease, err := client.Mutex(name).Lock(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Unlock(ctx, "10.0.0.7", ui.Taken{Name: name, Label: "ui/1", Fence: lease.Fence()}); err != nil {
		t.Fatal(err)
	}
	redistest.Eventually(t, 30*time.Second, "three lines", func() bool { return strings.Count(out.String(), "a reader of the page at 10.0.0.7") == 3 })
	if n := strings.Count(out.String(), "\n"); n != 3 || strings.Count(out.String(), shown) != 3 {
		t.Errorf("three actions have %d lines:\n%s", n, out)
	}
	for _, e := range a.History(0).Events {
		if e.Name != shown || !strings.Contains(e.Text, shown) {
			t.Errorf("an event is about another name: %+v", e)
		}
	}
	for what, err := range map[string]error{
		"another holder": a.Unlock(ctx, "10.0.0.7", ui.Taken{Name: name, Label: "web\n1", Fence: 7}), "no such action": a.Job(ctx, "10.0.0.7", "x\ny", name, ""),
	} {
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
