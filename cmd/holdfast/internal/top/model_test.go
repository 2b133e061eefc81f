package top

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/sample"
)

// busy returns a reading with three names.
func busy(waiters int) reading {
	now := time.Now()
	name := func(name, label string, waiters int, held time.Duration) sample.Name {
		return sample.Name{Key: name, Name: name, Slot: -1, Kind: "lock", Known: true, Waiters: waiters, Holders: []sample.Holder{
			{Label: label, Since: now.Add(-held).UnixMilli(), Until: now.Add(9 * time.Second).UnixMilli(), Fence: 1},
		}}
	}
	offset, trip := -1.5, 0.4
	return reading{&sample.State{
		At: now.UnixMilli(), NamesAt: now.UnixMilli(), Quorum: 2, Total: 3,
		Names: []sample.Name{name("alpha", "web-3/3", 0, time.Hour), name("beta", "web-1/1", waiters, time.Second), name("gamma", "web-2/2", 1, time.Minute)},
		Nodes: []sample.Node{
			{Addr: "redis://10.0.0.1", Votes: true, Reachable: true, Said: "votes", Offset: &offset, RoundTrip: &trip},
			{Addr: "redis://10.0.0.2", Said: "connection refused"}, {Addr: "redis://10.0.0.3", Reachable: true, Said: "quarantined for another 7s"},
		},
		Point: sample.Point{Holders: 3, Waiters: waiters + 1, HandOffs: 2.5, Voting: 1},
	}, now}
}

// after returns the model after some messages. A text is typed key by key.
func after(t *testing.T, m tea.Model, messages ...any) model {
	t.Helper()
	for _, msg := range messages {
		text, ok := msg.(string)
		if !ok {
			m, _ = m.Update(msg)
			continue
		}
		for _, r := range text {
			m, _ = m.Update(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
	return m.(model)
}

// shown returns the names in the picture, in their order.
func shown(m model) string {
	var names []string
	for line := range strings.Lines(ansi.Strip(m.draw())) {
		for _, name := range []string{"alpha", "beta", "gamma"} {
			if strings.HasPrefix(line, name+" ") {
				names = append(names, name)
			}
		}
	}
	return strings.Join(names, " ")
}

var size = tea.WindowSizeMsg{Width: 100, Height: 30}

func TestKeysSortAndFilter(t *testing.T) {
	enter, esc := tea.KeyPressMsg{Code: tea.KeyEnter}, tea.KeyPressMsg{Code: tea.KeyEscape}
	back := tea.KeyPressMsg{Code: tea.KeyBackspace}
	for what, c := range map[string]struct {
		keys []any
		want string
	}{
		"by waiters":      {nil, "beta gamma alpha"},
		"by name":         {[]any{"s"}, "alpha beta gamma"},
		"by name, back":   {[]any{"sr"}, "gamma beta alpha"},
		"by holder":       {[]any{"sss"}, "beta gamma alpha"},
		"by age":          {[]any{"ssss"}, "alpha gamma beta"},
		"round":           {[]any{"ssssss"}, "beta gamma alpha"},
		"before":          {[]any{"SS"}, "alpha gamma beta"},
		"with waiters":    {[]any{"w"}, "beta gamma"},
		"filter by name":  {[]any{"/ALP"}, "alpha"},
		"by a holder":     {[]any{"/web-2", enter}, "gamma"},
		"cleared":         {[]any{"/web-2", esc}, "beta gamma alpha"},
		"cleared later":   {[]any{"/web-2", enter, esc}, "beta gamma alpha"},
		"corrected":       {[]any{"/web-2", back, "1"}, "beta"},
		"typing is typed": {[]any{"/q"}, ""},
	} {
		m := after(t, model{}, append([]any{size, busy(5)}, c.keys...)...)
		if got := shown(m); got != c.want {
			t.Errorf("%s: %q, want %q in\n%s", what, got, c.want, ansi.Strip(m.draw()))
		}
	}
}

func TestAPauseKeepsThePicture(t *testing.T) {
	m := after(t, model{}, size, busy(5), "p", busy(77))
	if text := ansi.Strip(m.draw()); strings.Contains(text, "77") || !strings.Contains(text, "paused") {
		t.Errorf("during the pause:\n%s", text)
	}
	if text := ansi.Strip(after(t, m, "p").draw()); !strings.Contains(text, "77") {
		t.Errorf("after the pause:\n%s", text)
	}
}

func TestThePictureShowsNodesAndSums(t *testing.T) {
	text := ansi.Strip(after(t, model{}, size, busy(5)).draw())
	for _, want := range []string{
		"1 of 3 nodes vote", "names 3  holders 3  waiters 6  hand-offs seen 2.5/s", "● votes", "○ connection refused", "◐ quarantined for another 7s",
		"-1.5 ms", "0.4 ms", "1h00m", "▾WAITERS", "q end",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestThePictureFitsEveryTerminal(t *testing.T) {
	many := busy(5)
	for range 200 {
		many.state.Names = append(many.state.Names, many.state.Names[0])
	}
	for _, w := range []int{1, 5, 20, 39, 40, 80, 300} {
		for _, h := range []int{1, 2, 5, 10, 24, 100} {
			for _, keys := range []string{"", "G", "?", "/größe", "jjjkkk"} {
				m := after(t, model{}, tea.WindowSizeMsg{Width: w, Height: h}, many, keys, tea.KeyPressMsg{Code: tea.KeyPgDown})
				lines := strings.Split(m.draw(), "\n")
				if len(lines) > h {
					t.Errorf("%d×%d after %q: %d lines", w, h, keys, len(lines))
				}
				for _, line := range lines {
					if n := ansi.StringWidth(line); n > w {
						t.Errorf("%d×%d after %q: a line of %d cells: %q", w, h, keys, n, line)
					}
				}
			}
		}
	}
}

func TestKeysWithoutAReadingAreHarmless(t *testing.T) {
	m := after(t, model{}, "sSrwjkGgp?p/x")
	if !strings.Contains(m.draw(), "waiting for nodes") {
		t.Error(m.draw())
	}
}

// A pause before the first reading would show nothing for ever.
func TestAPauseBeforeTheFirstReadingIsNone(t *testing.T) {
	m := after(t, model{by: byName, width: 80, height: 24}, "p", busy(1))
	if got := shown(m); got != "alpha beta gamma" {
		t.Errorf("the picture shows %q:\n%s", got, m.draw())
	}
}

func TestThePictureShowsJobsThatNeedAttention(t *testing.T) {
	r := busy(5)
	at := r.state.At
	r.state.Jobs = []sample.Job{
		{Name: "backup", State: "done", Done: at - 8000_000, Overdue: at - 7200_000},
		{Name: "report", State: "failed", Failing: true, Failed: at - 300_000, Next: at + 60_500, Error: "exit status 3"},
		{Name: "sync", State: "done", Done: at - 2000, Next: at + 3500},
	}
	r.state.JobsTotal, r.state.JobsAt = 40, at
	r.state.Problems = []sample.Problem{{Level: "bad", Text: "job backup is overdue by 2 h"}}
	text := ansi.Strip(after(t, model{}, size, r).draw())
	for _, want := range []string{"backup", "overdue", "2h00m late", "report", "failed", "5m00s ago", "in 1m00s", "exit status 3", "and 37 more jobs", "! job backup is overdue by 2 h"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestThePictureSaysHowOldItIs(t *testing.T) {
	r := busy(5)
	r.came = r.came.Add(-40 * time.Second)
	text := ansi.Strip(after(t, model{}, size, r).draw())
	if !strings.Contains(text, "as of 40s ago") {
		t.Errorf("no age in\n%s", text)
	}
}

// Nodes that hang hold the first reading. The picture shows at once what is known.
func TestThePictureWaitsForNodes(t *testing.T) {
	now := time.Now()
	early := reading{&sample.State{At: now.UnixMilli(), Early: true, Quorum: 2, Nodes: []sample.Node{{Label: "redis://10.0.0.1", Said: sample.NoAnswerYet}}}, now}
	text := ansi.Strip(after(t, model{}, size, early).draw())
	for _, want := range []string{"waiting for nodes", "redis://10.0.0.1", "no answer yet", "not known yet"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "nobody") {
		t.Errorf("the picture states what nobody knows:\n%s", text)
	}
}

func TestAnOutageIsNoEmptySet(t *testing.T) {
	r := busy(5)
	r.state.Error, r.state.NamesAt = "too few nodes answer and vote", r.state.At-90_000
	for i := range r.state.Names {
		r.state.Names[i].Old = r.state.NamesAt
	}
	text := ansi.Strip(after(t, model{}, size, r).draw())
	for _, want := range []string{"not known; below as of 1m30s ago", "was web-1/1"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	r.state.Names, r.state.Total, r.state.NamesAt = nil, 0, 0
	if text := ansi.Strip(after(t, model{}, size, r).draw()); strings.Contains(text, "nobody") || !strings.Contains(text, "not known") {
		t.Errorf("an outage looks like an empty set:\n%s", text)
	}
}

// A terminal of 60 columns has the last and the next run of each job, too.
func TestANarrowPictureHasTheTimesOfJobs(t *testing.T) {
	r := busy(5)
	at := r.state.At
	r.state.Jobs = []sample.Job{{Name: "a-job-with-a-long-name-of-forty-characters", State: "done", Failing: true, Done: at - 200_000, Failed: at - 120_000, Next: at + 3600_500}}
	r.state.JobsTotal, r.state.JobsAt = 1, at
	text := ansi.Strip(after(t, model{}, tea.WindowSizeMsg{Width: 60, Height: 30}, r).draw())
	for _, want := range []string{" LAST ", " NEXT\n", "2m00s ago", "in 1h00m"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
