package sample

import (
	"slices"
	"strings"
	"testing"
)

// whole returns a State in which everything is known and nothing is wrong.
func whole() *State {
	const at = 1_000_000_000
	s := &State{At: at, NamesAt: at, JobsAt: at, Quorum: 2, Point: Point{At: at, Known: true, Voting: 3}}
	for _, addr := range []string{"redis://a/0", "redis://b/0", "redis://c/0"} {
		s.Nodes = append(s.Nodes, Node{Addr: addr, Label: addr, Votes: true, Reachable: true, Reason: "votes", Said: "votes"})
	}
	s.Names = []Name{{Name: "x", Slot: -1, Known: true, Holders: []Holder{{Label: "web-1/1", Since: 5}}}}
	s.SetJobs([]Job{{Name: "report", State: "done", Done: at - 1000, Next: at + 1000}})
	return s
}

func texts(s *State) (all []string) {
	s.problems()
	for _, p := range s.Problems {
		all = append(all, p.Level+": "+p.Text)
	}
	return all
}

func TestProblemsAreInWords(t *testing.T) {
	for what, c := range map[string]struct {
		change func(*State)
		want   []string
	}{
		"nothing": {func(*State) {}, nil},
		"a node is down": {func(s *State) {
			s.Nodes[1] = Node{Addr: "redis://b/0", Label: "redis://b/0", Reason: "refused", Said: "connection refused"}
		}, []string{"bad: 2 of 3 nodes vote: if one more fails, no lock can be taken", "bad: node b does not vote: connection refused"}},
		"one of five nodes is down": {func(s *State) {
			s.Quorum, s.Nodes = 3, append(s.Nodes, s.Nodes[0], Node{Label: "redis://e", Reason: "refused", Said: "connection refused"})
		}, []string{"warn: 4 of 5 nodes vote", "warn: node e does not vote: connection refused"}},
		"no majority": {func(s *State) {
			s.Nodes[0].Votes, s.Nodes[0].Said, s.Nodes[1].Votes, s.Nodes[1].Said = false, "timed out", false, "timed out"
			s.Error, s.NamesAt, s.JobsError, s.JobsAt = tooFew, s.At-120_000, tooFew, 0
		}, []string{
			"bad: 1 of 3 nodes votes: no lock can be taken or renewed", "bad: node a does not vote: timed out", "bad: node b does not vote: timed out",
			"bad: the locks are not known since 2 min: " + tooFew, "bad: the jobs are not known: " + tooFew,
		}},
		"the memory of most nodes is full": {func(s *State) {
			for i := range 2 {
				s.Nodes[i].Votes, s.Nodes[i].Said, s.Nodes[i].full = false, "its memory is full (OOM)", true
			}
		}, []string{
			"bad: 1 of 3 nodes votes: no lock can be taken; renewals and releases still work",
			"bad: node a does not vote: its memory is full (OOM)", "bad: node b does not vote: its memory is full (OOM)",
		}},
		"jobs": {func(s *State) {
			s.SetJobs([]Job{
				{Name: "sleeps", Paused: "ops/1"}, {Name: "late", State: "done", Overdue: s.At - 7_200_000},
				{Name: "again", State: "running", Failing: true, Failed: s.At - 60_000, Error: "old"},
				{Name: "bad", State: "failed", Failing: true, Failed: s.At - 300_000, Error: "exit status 3"},
				{Name: "dead", State: "crashed", Failing: true, Failed: s.At - 400_000},
			})
		}, []string{
			"bad: job again failed 1 min ago, and runs again", "bad: job bad failed 5 min ago: exit status 3", "bad: job dead crashed 6 min ago",
			"bad: job late is overdue by 2 h", "warn: job sleeps is paused by ops/1",
		}},
		"waits": {func(s *State) {
			s.Names = []Name{
				{Name: "short", Slot: -1, Known: true, Waiters: 3, Waiting: s.At - 5000},
				{Name: "z", Slot: -1, Known: true, Waiters: 12, Waiting: s.At - 240_000}, {Name: "gpu", Slot: 0, Known: true, Waiters: 2, Waiting: s.At - 700_000},
				{Name: "gpu", Slot: 1, Known: true, Waiters: 2, Waiting: s.At - 700_000}, {Name: "old", Slot: -1, Old: 7, Known: true, Waiters: 2, Waiting: 5},
				{Name: "boss", Slot: -1, Kind: "election", Known: true, Waiters: 2, Waiting: 5}, {Name: "nightly", Slot: -1, Kind: "job", Known: true, Waiters: 2, Waiting: 5},
			}
		}, []string{"bad: 2 waiters for gpu since 11 min", "warn: 12 waiters for z since 4 min"}},
		"not known": {func(s *State) {
			s.Names[0].Known, s.JobsAt = false, 0
			s.Elections = []Election{{Name: "e", Error: "bad value"}, {Name: "f"}}
		}, []string{"bad: election f has no leader", "warn: the jobs are not known yet", "warn: the leader of e is not known: bad value", "warn: the holder of x is not known"}},
		"first start": {func(s *State) {
			s.Early, s.NamesAt, s.JobsAt, s.Nodes = true, 0, 0, []Node{{Said: NoAnswerYet}}
		}, []string{"warn: waiting for the nodes"}},
		"the nodes have answered": {func(s *State) {
			s.Early, s.NamesAt, s.JobsAt = true, 0, 0
		}, []string{"warn: the locks are not known yet", "warn: the jobs are not known yet"}},
	} {
		s := whole()
		c.change(s)
		if got := texts(s); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %s\nwant %s", what, strings.Join(got, "\n     "), strings.Join(c.want, "\n     "))
		}
	}
}

func TestManyProblemsAreCounted(t *testing.T) {
	s := whole()
	jobs := make([]Job, 5000)
	for i := range jobs {
		jobs[i] = Job{Name: "x", State: "failed", Failing: true, Failed: int64(i + 1)}
	}
	s.SetJobs(jobs)
	if got := texts(s); len(got) != mostProblems || s.MoreProblems != 5000-mostProblems || len(s.Jobs) != MostNames || s.JobsTotal != 5000 {
		t.Errorf("%d problems and %d more, %d of %d jobs", len(got), s.MoreProblems, len(s.Jobs), s.JobsTotal)
	}
	if s.Jobs[0].Failed != 5000 {
		t.Errorf("the first job failed at %d, and not the latest one", s.Jobs[0].Failed)
	}
	if f := s.FindJobs("X"); len(f.Items) != MostNames || f.Fits != 5000 {
		t.Errorf("%d of %d jobs are found", len(f.Items), f.Fits)
	}
}

// A node that alone answers says for a while that the others refuse writes. They do not answer.
func TestSilentNodesAreCalledSilent(t *testing.T) {
	for reachable, want := range map[bool]string{false: "answers, but too few others answer", true: "answers, but too few others accept writes"} {
		s := whole()
		s.Nodes[0].Votes, s.Nodes[0].Said = false, "answers, but too few others accept writes"
		for i := 1; i < 3; i++ {
			s.Nodes[i].Votes, s.Nodes[i].Reachable = false, reachable
		}
		if s.othersAnswer(); s.Nodes[0].Said != want {
			t.Errorf("the others reachable %t: %s", reachable, s.Nodes[0].Said)
		}
	}
}
