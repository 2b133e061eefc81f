package browser

import (
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/sample"
	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/ui"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// ward is a page of real servers.
type ward struct {
	*tab
	servers []*redistest.Server
	client  *holdfast.Client
}

// newWard starts three servers and the page of them.
func newWard(t *testing.T) *ward {
	t.Helper()
	w := &ward{servers: redistest.StartN(t, 3)}
	var urls []string
	for _, s := range w.servers {
		urls = append(urls, s.URL())
	}
	nodes := func() []node.Node {
		all, err := rueidisnode.Open(urls...)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	w.client = w.open(t, nodes(), "web-1/4711")
	s := &sample.Sampler{Every: 500 * time.Millisecond, Idle: time.Second}
	own := nodes()
	looker := w.open(t, nodes(), "ui")
	r := &sample.Reader{Client: looker, Nodes: own, Early: s.Early}
	s.Read = r.Read
	ctx, stop := context.WithCancel(context.Background())
	s.Keep(ctx)
	server := httptest.NewServer(ui.Handler(ui.Config{Sampler: s, Local: true, Details: &sample.Details{Client: looker}}))
	t.Cleanup(func() {
		stop()
		server.CloseClientConnections()
		server.Close()
		s.Wait()
		r.Close()
		for _, n := range own {
			n.Close()
		}
	})
	w.tab = open(t, server.URL)
	return w
}

func (w *ward) open(t *testing.T, nodes []node.Node, label string) *holdfast.Client {
	t.Helper()
	c, err := holdfast.New(holdfast.Config{Nodes: nodes, Label: label, Logger: slog.New(slog.DiscardHandler), NodeTimeout: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// says waits until an element has a text.
func (w *ward) says(selector, text string) {
	w.t.Helper()
	w.until("document.querySelector(" + strconv.Quote(selector) + ")?.textContent.includes(" + strconv.Quote(text) + ")")
}

// never fails the test if the page has a text.
func (w *ward) never(texts ...string) {
	w.t.Helper()
	all := w.text("main")
	for _, text := range texts {
		if strings.Contains(all, text) {
			w.t.Errorf("the page says %q: %s", text, all)
		}
	}
}

// TestThePageInAnIncident follows a node set from its first start to the loss of its majority.
func TestThePageInAnIncident(t *testing.T) {
	w := newWard(t)
	w.says("header", "3 of 3 nodes vote")
	w.says("#problems", "Nothing needs attention")
	w.says("#locks", "Nobody has a lock")
	w.says("#jobs", "No job has run yet.")
	w.views("first-start")

	lease, err := w.client.Mutex("orders/1042").Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer lease.Unlock(context.Background())
	code := 3
	w.run(t, "nightly-report", func(ctx context.Context, _ job.Tick) error {
		job.SetResult(ctx, job.Result{Exit: &code, Output: "reading 14 tables\nERROR: relation \"orders\" does not exist\n"})
		return errors.New("exit status 3")
	})
	w.run(t, "sync", func(context.Context, job.Tick) error { return nil })
	w.visit("#/", "#problems .bad")
	w.says("#problems", "job nightly-report failed")
	w.views("job-failed")
	w.visit("#/jobs", ".jobs tbody tr")
	if first := w.text(".jobs tbody td.name"); !strings.HasPrefix(first, "nightly-report") {
		t.Errorf("the first job is %s", first)
	}
	w.views("jobs")
	w.visit("#/job/nightly-report", ".runs li")
	w.says(".runs", "exit status 3")
	w.views("job")
	w.visit("#/lock/orders%2F1042", ".answers tbody tr")
	w.says(".holders", "web-1/4711")
	w.says(".answers", "held by web-1/4711")
	w.views("lock")

	w.servers[2].MustDo(t, "CONFIG", "SET", "maxmemory", "500kb")
	w.visit("#/", "#problems")
	w.says("#problems", "does not vote: its memory is full (OOM)")
	w.views("full-memory")
	w.visit("#/node/"+strings.TrimPrefix(w.servers[2].URL(), "redis://"), ".facts")
	w.says(".facts", "its memory is full (OOM)") // the address as the page shows it
	w.visit("#/nodes", ".nodes tbody tr")
	if first := w.text(".nodes tbody td.said"); !strings.Contains(first, "memory is full") {
		t.Errorf("the first node says %s", first)
	}
	w.views("nodes")

	w.servers[0].Kill()
	w.servers[2].Kill()
	w.says("header", "1 of 3 nodes votes")
	w.says("header", "locks not known")
	w.says("header", "Freeze the page")
	w.visit("#/", "#problems .bad")
	w.says("#problems", "1 of 3 nodes votes: no lock can be taken or renewed")
	w.says("#problems", "the locks are not known since")
	w.says("#locks", "was web-1/4711")
	w.says("#events", "stopped voting")
	w.never("Nobody has a lock", "Nothing needs attention", "dial tcp", ": done")
	w.views("no-majority")
	w.visit("#/locks", "main .notice")
	w.says("main", "The locks are not known now")
	w.views("no-majority-locks")
	w.visit("#/nodes", ".nodes tbody tr")
	w.until("[...document.querySelectorAll('.nodes tbody tr')].filter((e) => e.querySelectorAll('td.none').length === 3).length === 2") // no clock, round trip and version
	eval[int](w.tab, "document.querySelector('.nodes tbody a').click(), 0")
	w.says("main", "does not vote")
	w.says("#events", "stopped voting")
	w.views("node")
	w.clean()
}

// run runs a job once per second until the end of the test, and waits for its first run.
func (w *ward) run(t *testing.T, name string, f func(context.Context, job.Tick) error) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	over, began := make(chan struct{}), make(chan struct{}, 1)
	go func() {
		defer close(over)
		_ = job.Run(ctx, w.client, job.Spec{Name: name, Schedule: "every 1s", Logger: slog.New(slog.DiscardHandler)}, func(ctx context.Context, tick job.Tick) error {
			defer func() {
				select {
				case began <- struct{}{}:
				default:
				}
			}()
			return f(ctx, tick)
		})
	}()
	t.Cleanup(func() { stop(); <-over })
	select {
	case <-began:
	case <-time.After(patience):
		t.Fatalf("the job %s does not run", name)
	}
}
