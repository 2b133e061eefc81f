package sample

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestEventsOfTwoReadings(t *testing.T) {
	for what, c := range map[string]struct {
		before, after func(*State)
		want          string
	}{
		"nothing": {nil, nil, ""},
		"a node stops voting": {nil, func(s *State) {
			s.Nodes[0].Votes, s.Nodes[0].Reason, s.Nodes[0].Said = false, "refused", "connection refused"
		}, "bad node redis://a/0: node a stopped voting: connection refused"},
		"a node votes again": {func(s *State) {
			s.Nodes[0].Votes, s.Nodes[0].Reason, s.voted = false, "quarantined", map[string]bool{"redis://a/0": true}
		}, nil, "good node redis://a/0: node a votes again"},
		"a new node votes": {func(s *State) {
			s.Nodes[0].Votes, s.Nodes[0].Reason, s.voted = false, "quarantined", map[string]bool{"redis://b/0": true}
		}, nil, "good node redis://a/0: node a votes"},
		"too few nodes": {nil, func(s *State) { s.Point.Voting = 1 }, "bad  : too few nodes vote: 1 of 3"},
		"a job fails": {nil, func(s *State) {
			s.SetJobs([]Job{{Name: "report", State: "failed", Failing: true, Failed: 9, Error: "exit status 3"}})
		}, "bad job report: job report failed: exit status 3"},
		"a job fails again": {
			func(s *State) { s.SetJobs([]Job{{Name: "report", State: "failed", Failing: true, Failed: 9}}) },
			func(s *State) { s.SetJobs([]Job{{Name: "report", State: "crashed", Failing: true, Failed: 10}}) }, "bad job report: job report crashed",
		},
		"a job is done again": {func(s *State) { s.SetJobs([]Job{{Name: "report", Failing: true, Failed: 9}}) }, nil, "good job report: job report is done again"},
		"a job is overdue":    {nil, func(s *State) { s.SetJobs([]Job{{Name: "report", State: "done", Overdue: 5}}) }, "bad job report: job report is overdue"},
		"a job is paused":     {nil, func(s *State) { s.SetJobs([]Job{{Name: "report", State: "done", Paused: "ops/7"}}) }, "warn job report: job report was paused by ops/7"},
		"a long wait": {nil, func(s *State) {
			s.Names[0].Waiters, s.Names[0].Waiting = 2, s.At-longWait-1
		}, "warn lock x: 2 waiters for x since 30 s, held by web-1/1"},
		"a long wait goes on": {
			func(s *State) { s.Names[0].Waiters, s.Names[0].Waiting = 2, s.At-longWait-1 },
			func(s *State) { s.Names[0].Waiters, s.Names[0].Waiting = 3, s.At-longWait-5 }, "",
		},
		"a leader goes": {
			func(s *State) { s.Elections = []Election{{Name: "e", Leader: "web-1/1", Term: 4}} },
			func(s *State) { s.Elections = []Election{{Name: "e"}} }, "bad election e: e has no leader",
		},
	} {
		before, after := whole(), whole()
		if c.before != nil {
			c.before(before)
		}
		if c.after != nil {
			c.after(after)
		}
		var got []string
		for _, e := range happened(before, after) {
			if got = append(got, e.Level+" "+e.Kind+" "+e.Name+": "+e.Text); e.At != after.At {
				t.Errorf("%s: the event has the time %d", what, e.At)
			}
		}
		if all := strings.Join(got, "\n"); all != c.want {
			t.Errorf("%s:\n got %s\nwant %s", what, all, c.want)
		}
	}
}

func TestTheDiaryIsBoundedByKind(t *testing.T) {
	var d diary
	d.add(Event{Kind: "node", Text: "first"})
	for i := range 10 * MostEvents {
		d.add(Event{Kind: "lock", Text: strconv.Itoa(i)})
	}
	all := d.after(0)
	if len(all) != MostEvents+1 || all[0].Text != "first" || !slices.IsSortedFunc(all, func(a, b Event) int { return int(a.Seq) - int(b.Seq) }) {
		t.Errorf("%d events, the first is %+v", len(all), all[0])
	}
	if got := d.after(d.seq - 3); len(got) != 3 || len(d.after(d.seq)) != 0 {
		t.Errorf("after the last but three: %+v", got)
	}
}

func TestARepeatedEventIsCounted(t *testing.T) {
	var d diary
	for i := range int64(5) {
		d.add(Event{Kind: "job", Name: "a", Text: "failed", At: i}, Event{Kind: "job", Name: "b", Text: "failed", At: i})
	}
	d.add(Event{Kind: "job", Name: "a", Text: "done again"}, Event{Kind: "job", Name: "a", Text: "failed"})
	all := d.after(0)
	if len(all) != 4 || all[0].Name != "a" || all[0].Times != 5 || all[0].At != 4 || all[0].Replaces != 7 || all[3].Times != 1 {
		t.Errorf("%+v", all)
	}
}

func TestMinutesHaveTheWorst(t *testing.T) {
	var p past
	for i := range int64(3 * MostMinutes * 60) { // three days, a reading a second
		p.add(Point{At: 60_000_000 + i*1000, Known: i%60 != 7, Waiters: int(i % 60), Voting: 3 - int(i%60/59)})
	}
	h := p.copy()
	if len(h.Minutes) != MostMinutes || len(h.Recent) != MostPoints || h.Since != 60_000_000 {
		t.Fatalf("%d minutes, %d recent points, since %d", len(h.Minutes), len(h.Recent), h.Since)
	}
	if m := h.Minutes[5]; m.Waiters != 59 || m.Voting != 2 || !m.Known {
		t.Errorf("a minute is %+v", m)
	}
}
