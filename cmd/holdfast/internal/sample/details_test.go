package sample

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// realClient returns a client of real servers.
func realClient(t *testing.T, servers []*redistest.Server, label string) *holdfast.Client {
	t.Helper()
	var urls []string
	for _, s := range servers {
		urls = append(urls, s.URL())
	}
	nodes, err := rueidisnode.Open(urls...)
	if err != nil {
		t.Fatal(err)
	}
	c, err := holdfast.New(holdfast.Config{Nodes: nodes, Label: label, Logger: slog.New(slog.DiscardHandler), NodeTimeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestDetailsOfLocksAndJobs(t *testing.T) {
	servers := redistest.StartN(t, 3)
	a, d := realClient(t, servers, "web-1/1"), &Details{Client: realClient(t, servers, "ui")}
	ctx := t.Context()
	lease, err := a.Mutex("orders \x1b").Lock(ctx)
	if err != nil {
		t.Fatal(err)
	}
	slot, err := a.Semaphore("gpu", 2).Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	l, err := d.Lock(ctx, `"orders \x1b"`, 0)
	if err != nil || !l.Known || len(l.Holders) != 1 || l.Holders[0].Label != "web-1/1" || l.Holders[0].Fence != lease.Fence() || len(l.Nodes) != 3 {
		t.Fatalf("%+v, %v", l, err)
	}
	held := 0
	for _, n := range l.Nodes {
		if n.Said == "held by web-1/1" && n.Fence == lease.Fence() && n.Until > 0 {
			held++
		}
	}
	if held < 2 {
		t.Errorf("%d nodes say who has the lock: %+v", held, l.Nodes)
	}
	if s, err := d.Lock(ctx, "gpu", 2); err != nil || !s.Known || len(s.Holders) != 1 || s.Holders[0].Fence != slot.Fence() || s.Nodes[0].Fence != 0 {
		t.Errorf("the semaphore: %+v, %v", s, err)
	}
	if f, err := d.Lock(ctx, "nothing", 0); err != nil || !f.Known || len(f.Holders) != 0 || f.Nodes[0].Said != "free" {
		t.Errorf("a free lock: %+v, %v", f, err)
	}
	if _, err := d.Lock(ctx, `"not quoted`, 0); err == nil {
		t.Error("a name that begins with a quotation mark and is not quoted is accepted")
	}

	code := 3
	over, end := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		spec := job.Spec{Name: "report", Schedule: "every 1s", Logger: slog.New(slog.DiscardHandler)}
		_ = job.Run(over, a, spec, func(ctx context.Context, _ job.Tick) error {
			job.SetResult(ctx, job.Result{Exit: &code, Output: "one\ntwo\x1b[2J\n"})
			return errors.New("exit status 3")
		})
	}()
	var j *JobDetails
	redistest.Eventually(t, 30*time.Second, "two runs", func() bool {
		j, err = d.Job(ctx, "report")
		return err == nil && j != nil && len(j.History) > 1
	})
	if r := j.History[1]; r.State != "failed" || *r.Exit != 3 || !strings.HasPrefix(r.Output, "one\ntwo\\x1b[2J") || r.Error != "exit status 3" || j.Runs["failed"] < 2 || !j.Failing {
		t.Errorf("the job: %+v", j)
	}
	redistest.Eventually(t, 30*time.Second, "a pause", func() bool { return job.Pause(ctx, a, "report", "for a test") == nil })
	if j, err = d.Job(ctx, "report"); err != nil || j.Paused != "web-1/1" || len(j.Audit) != 1 || j.Audit[0].Note != "for a test" || j.Overdue != 0 {
		t.Errorf("the paused job: %+v, %v", j, err)
	}
	end()
	<-ended
	if j, err := d.Job(ctx, "none"); j != nil || err != nil {
		t.Errorf("no job: %+v, %v", j, err)
	}
	servers[0].Kill()
	servers[1].Kill()
	if l, err := d.Lock(ctx, `"orders \x1b"`, 0); err != nil || l.Known || len(l.Holders) != 0 || l.Error != tooFew {
		t.Errorf("without a majority: %+v, %v", l, err)
	}
	if _, err := d.Job(ctx, "report"); err == nil || err.Error() != tooFew {
		t.Errorf("the job without a majority: %v", err)
	}
}

// TestHungNodesDoNotHoldTheFirstPicture freezes all servers before the first reading. Readers then learn at once which nodes
// there are, and nothing of the outage looks like an empty set.
func TestHungNodesDoNotHoldTheFirstPicture(t *testing.T) {
	servers := redistest.StartN(t, 3)
	c := realClient(t, servers, "ui")
	var urls []string
	for _, s := range servers {
		urls = append(urls, s.URL())
		s.Freeze()
		t.Cleanup(s.Thaw)
	}
	own, err := rueidisnode.Open(urls...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		for _, n := range own {
			n.Close()
		}
	}()
	var early []*State
	r := &Reader{Client: c, Nodes: own, Early: func(s *State) { early = append(early, s) }}
	s := r.Read(t.Context())
	if len(early) < 2 || len(early[0].Nodes) != 3 || early[0].Nodes[0].Said != NoAnswerYet || early[0].Problems[0].Text != "waiting for the nodes" {
		t.Fatalf("early readings: %s", early[0].JSON())
	}
	if e := early[1]; len(e.Nodes) != 3 || e.Nodes[0].Reachable || e.Nodes[0].Reason == "" || !e.Early {
		t.Errorf("the second early reading: %s", e.JSON())
	}
	if s.Error != tooFew || s.NamesAt != 0 || s.Point.Known || s.Early {
		t.Errorf("the whole reading: %s", s.JSON())
	}
}

// The first reading shows the names before it reads jobs and elections, which may take long.
func TestTheFirstReadingShowsTheNamesEarly(t *testing.T) {
	c := realClient(t, redistest.StartN(t, 1), "web-1/1")
	if _, err := c.Mutex("x").Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	var early []*State
	r := &Reader{Client: c, Early: func(s *State) { early = append(early, s) }}
	defer r.Close()
	s := r.Read(t.Context())
	if len(early) < 3 || early[2].NamesAt != early[2].At || len(early[2].Names) != 1 || !early[2].Early || early[1].NamesAt != 0 {
		t.Errorf("%d early readings, the last one is %s", len(early), early[len(early)-1].JSON())
	}
	for i, e := range early {
		if len(e.Problems) == 0 {
			t.Errorf("early reading %d has no problem, but not everything is known: %s", i, e.JSON())
		}
	}
	if s.Early || len(s.Names) != 1 {
		t.Errorf("the whole reading: %s", s.JSON())
	}
}
