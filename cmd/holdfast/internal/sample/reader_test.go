package sample

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/election"
	"github.com/holdfast-go/holdfast/holdfasttest"
	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/verdict"
)

// until reads until a reading fits.
func until(t *testing.T, r *Reader, what string, fits func(*State) bool) *State {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; {
		s := r.Read(t.Context())
		if fits(s) {
			return s
		}
		if time.Now().After(end) {
			t.Fatalf("no reading shows %s: %s", what, s.JSON())
		}
	}
}

func (s *State) named(name string) (all []Name) {
	for _, n := range s.Names {
		if n.Name == name {
			all = append(all, n)
		}
	}
	return all
}

func TestAReadingShowsAllKinds(t *testing.T) {
	nodes := holdfasttest.Start(t, 3)
	a := nodes.Client(t, holdfast.Config{Label: "web-1/1"})
	b := nodes.Client(t, holdfast.Config{Label: "web-2/2"})
	r := &Reader{Client: nodes.Client(t, holdfast.Config{})}
	ctx := t.Context()
	must := func(l *holdfast.Lease, err error) *holdfast.Lease {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	held := must(a.Mutex("held").Lock(ctx))
	must(a.Mutex("read").RLock(ctx))
	must(b.Mutex("read").RLock(ctx))
	for range 3 {
		must(a.Semaphore("slots", 3).Acquire(ctx))
	}
	for _, wait := range []func(context.Context) (*holdfast.Lease, error){b.Mutex("held").Lock, b.Semaphore("slots", 3).Acquire} {
		go func() { _, _ = wait(ctx) }()
	}
	go func() {
		_ = election.New(a, "leads").Run(ctx, func(ctx context.Context, term election.Term) error {
			for term.Publish(ctx, []byte("https://10.0.0.1")) != nil && ctx.Err() == nil { // a busy machine may answer too late
			}
			<-ctx.Done()
			return ctx.Err()
		})
	}()
	spec := job.Spec{Name: "report", Schedule: "every 1s", Logger: slog.New(slog.DiscardHandler)}
	go func() {
		_ = job.Run(ctx, a, spec, func(context.Context, job.Tick) error { return errors.New("exit status 3") })
	}()

	s := until(t, r, "all kinds", func(s *State) bool {
		return s.Error == "" && s.Point.Waiters == 2 && s.Point.Voting == 3 && len(s.Elections) == 1 && s.Elections[0].Value != "" && len(s.Jobs) == 1 && s.Jobs[0].State == "failed"
	})
	if n := s.named("held"); len(n) != 1 || n[0].Kind != "lock" || n[0].Holders[0].Label != "web-1/1" || n[0].Waiters != 1 || n[0].Waiting == 0 || n[0].Holders[0].Fence != held.Fence() {
		t.Errorf("held: %+v", n)
	}
	if n := s.named("read"); len(n) != 1 || n[0].Kind != "shared" || n[0].Readers != 2 {
		t.Errorf("read: %+v", n)
	}
	if n := s.named("slots"); len(n) != 3 || n[2].Slot != 2 || n[2].Kind != "semaphore" || n[1].Waiters != 1 {
		t.Errorf("slots: %+v", n)
	}
	if e := s.Elections[0]; e.Leader != "web-1/1" || e.Value != "https://10.0.0.1" || e.Term == 0 {
		t.Errorf("leads: %+v", e)
	}
	if j := s.Jobs[0]; j.Name != "report" || j.Host != "web-1/1" || j.Error != "exit status 3" || j.Next == 0 {
		t.Errorf("report: %+v", j)
	}
	if s.Quorum != 2 || s.Point.Voting != 3 || len(s.Nodes) != 3 || !s.Nodes[0].Votes || s.Nodes[0].Offset == nil {
		t.Errorf("nodes: %+v", s.Nodes)
	}
	if strings.Contains(string(s.JSON()), held.Owner()) {
		t.Error("the reading has the owner of a lease")
	}
	if err := held.Unlock(ctx); err != nil {
		t.Fatal(err)
	}
	until(t, r, "a hand-off", func(s *State) bool {
		n := s.named("held")
		return len(n) == 1 && len(n[0].Holders) == 1 && n[0].Holders[0].Label == "web-2/2" && s.Point.HandOffs > 0
	})
	nodes.Stop(0)
	nodes.Stop(1)
	s = until(t, r, "the outage", func(s *State) bool { return s.Error == tooFew && s.Point.Voting == 0 })
	if s.Point.Known || s.JobsError == "" || len(s.Jobs) != 1 || s.Nodes[0].Reachable || s.Nodes[0].Offset != nil || s.Nodes[0].Version != "" {
		t.Errorf("two of three nodes are down: %s", s.JSON())
	}
	if n := s.named("held"); len(n) != 1 || n[0].Old == 0 || s.NamesAt == 0 || s.NamesAt >= s.At {
		t.Errorf("the last known names are not marked with their time: %s", s.JSON())
	}
	if p := s.Problems; len(p) == 0 || p[0].Level != "bad" || !strings.Contains(p[0].Text, "of 3 nodes vote") || strings.Contains(string(s.JSON()), ": done") {
		t.Errorf("the problems of an outage: %+v", p)
	}
}

// Whoever knows the value of another library's key can release that lock.
func TestAReadingHidesTheValuesOfForeignKeys(t *testing.T) {
	nodes := holdfasttest.Start(t, 3)
	c := nodes.Client(t, holdfast.Config{})
	if err := c.Mutex("x").Do(t.Context(), func(context.Context) error { return nil }); err != nil {
		t.Fatal(err)
	}
	r := &Reader{Client: c}
	for i, n := range nodes.Open(t) {
		if err := n.(node.Commander).Do(t.Context(), "SET", "x", "secret", "PX", "60000").Err; err != nil {
			t.Fatal(err)
		}
		s := r.Read(t.Context()) // a majority has the key from the second node on, and the last one differs then
		if shown := strings.Contains(string(s.JSON()), foreign); shown != (i > 0) || strings.Contains(string(s.JSON()), "secret") {
			t.Errorf("%d nodes have a foreign key: %s", i+1, s.JSON())
		}
	}
}

func TestTextsOfNodesAreMadePrintable(t *testing.T) {
	nodes := holdfasttest.Start(t, 1)
	c := nodes.Client(t, holdfast.Config{})
	for _, name := range []string{"\x1b[2J", "a\u202eb", " x"} {
		if _, err := c.Mutex(name).Lock(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	s := (&Reader{Client: c}).Read(t.Context())
	if len(s.Names) != 3 {
		t.Fatalf("%+v", s.Names)
	}
	for _, n := range s.Names {
		for _, r := range n.Name {
			if !strconv.IsPrint(r) {
				t.Errorf("%q has %q", n.Name, r)
			}
		}
	}
}

// A server of a Redis Cluster announces any text as its host, and an operator may name a node set in any way.
func TestAddressesAreMadePrintable(t *testing.T) {
	const evil = "\x1b[2J\n"
	a := verdict.Answer{Node: "redis+cluster://" + evil + "/0", Master: evil + ":6379"}
	n, s := nodeOf(a), (&Reader{Cluster: evil, Options: admin.ListOptions{Pattern: evil}}).blank()
	for _, text := range []string{n.Addr, n.Label, n.Master, nodeAnswer(a).Addr, answerOf(a), s.Cluster, s.Pattern} {
		if strings.ContainsFunc(text, func(r rune) bool { return !strconv.IsPrint(r) }) || !strings.Contains(text, `\x1b[2J\n`) {
			t.Errorf("%q is shown as it is", text)
		}
	}
}

func TestOfManyNamesThoseThatNeedAttentionRemain(t *testing.T) {
	all := make([]Name, MostNames+500)
	for i := range all {
		all[i] = Name{Name: strconv.Itoa(10000 + i), Slot: -1, Known: true, Holders: []Holder{{Since: int64(5000 - i)}}}
	}
	all[100].Waiters, all[100].Waiting = 1, 70
	all[50].Waiters, all[50].Waiting = 3, 60
	all[7].Differ = "free"
	s := &State{}
	s.SetNames(all)
	kept := s.Names
	if len(kept) != MostNames || s.Locks != MostNames+500 || s.Semaphores != 0 {
		t.Fatalf("%d names, %d locks, %d semaphores", len(kept), s.Locks, s.Semaphores)
	}
	for i, want := range []string{"10007", "10050", "10100", strconv.Itoa(10_000 + MostNames + 499)} { // differs, waits longest, waits, is held longest
		if kept[i].Name != want {
			t.Errorf("name %d is %s, want %s", i, kept[i].Name, want)
		}
	}
}
