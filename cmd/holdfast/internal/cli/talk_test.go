package cli

import (
	"bytes"
	"errors"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/async"
	"github.com/holdfast-go/holdfast/verdict"
)

// A warning that comes during a wait for a lock is printed after the wait, unless it has become untrue.
func TestWarningsOfAWaitAreSaidIfTheyStillHold(t *testing.T) {
	var out bytes.Buffer
	talk := newTalker(&out)
	h := talk.logger().Handler()
	warn := func(ago time.Duration, message, node string, votesIn time.Duration) {
		r := slog.NewRecord(time.Now().Add(-ago), slog.LevelWarn, message, 0)
		r.AddAttrs(slog.String("node", node))
		if votesIn > 0 {
			r.AddAttrs(slog.Duration("votes_in", votesIn))
		}
		if err := h.Handle(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	talk.hold()
	warn(11*time.Second, "node does not vote", "a", 10*time.Second)
	warn(11*time.Second, "node does not vote", "b", time.Minute)
	warn(11*time.Second, "node does not vote", "c", 0)
	warn(2*time.Second, "node does not vote", "d", 0)
	warn(time.Second, "node does not vote", "d", time.Millisecond) // replaces the previous one
	if talk.lines.Wait(async.Forever); out.Len() > 0 {
		t.Errorf("during the wait it said %q", out.String())
	}
	talk.resume()
	talk.lines.Wait(async.Forever)
	if want := "holdfast: node does not vote node=\"b\"\nholdfast: node does not vote node=\"c\"\n"; out.String() != want {
		t.Errorf("after the wait it said %q, want %q", out.String(), want)
	}
}

// The end of a warning about a node is printed if the warning was printed. The same fact is printed once until it
// changes.
func TestTheEndOfAPrintedWarningIsPrinted(t *testing.T) {
	const bad, good = "node does not vote", "node votes again"
	type record struct{ message, node, said string }
	for _, c := range []struct {
		what    string
		quiet   bool
		during  []record // records while the run waits for the lock
		records []record
		want    string
	}{
		{"a node that stops and comes back", false, nil, []record{{bad, "a", "full"}, {good, "a", ""}},
			"holdfast: node does not vote node=\"a\" said=\"full\"\nholdfast: node votes again node=\"a\"\n"},
		{"a node whose end nobody read about", false, nil, []record{{good, "a", ""}, {bad, "b", "full"}, {good, "a", ""}},
			"holdfast: node does not vote node=\"b\" said=\"full\"\n"},
		{"--quiet", true, nil, []record{{bad, "a", "full"}, {good, "a", ""}}, ""},
		{"the same fact, then another one", false, nil, []record{{bad, "a", "full"}, {bad, "b", "full"}, {bad, "b", "full"}, {bad, "a", "full"}, {bad, "a", "down"}},
			"holdfast: node does not vote node=\"a\" said=\"full\"\nholdfast: node does not vote node=\"b\" said=\"full\"\nholdfast: node does not vote node=\"a\" said=\"down\"\n"},
		{"the same fact again after its end", false, nil, []record{{bad, "a", "full"}, {good, "a", ""}, {bad, "a", "full"}},
			"holdfast: node does not vote node=\"a\" said=\"full\"\nholdfast: node votes again node=\"a\"\nholdfast: node does not vote node=\"a\" said=\"full\"\n"},
		{"a warning of a wait", false, []record{{bad, "a", "full"}, {bad, "b", "full"}, {good, "b", ""}}, []record{{bad, "a", "full"}, {good, "a", ""}, {good, "b", ""}},
			"holdfast: node does not vote node=\"a\" said=\"full\"\nholdfast: node votes again node=\"a\"\n"},
	} {
		var out bytes.Buffer
		talk := newTalker(&out)
		talk.quiet = c.quiet
		h := talk.logger().Handler()
		handle := func(records []record) {
			for _, say := range records {
				level := slog.LevelWarn
				if say.message == good {
					level = slog.LevelInfo
				}
				r := slog.NewRecord(time.Now(), level, say.message, 0)
				if r.AddAttrs(slog.String("node", say.node)); say.said != "" {
					r.AddAttrs(slog.String("said", say.said))
				}
				if err := h.Handle(t.Context(), r); err != nil {
					t.Fatal(err)
				}
			}
		}
		if c.during != nil {
			talk.hold()
			handle(c.during)
			talk.resume()
		}
		handle(c.records)
		if talk.lines.Wait(async.Forever); out.String() != c.want {
			t.Errorf("%s: got %q, want %q", c.what, out.String(), c.want)
		}
	}
}

// The nodes refuse all jobs of cron for the same reason. The reason is printed once a minute, and not once per job.
func TestJobsThatWaitForTheSameReasonPrintItOnce(t *testing.T) {
	var out bytes.Buffer
	talk := newTalker(&out)
	h := talk.logger().Handler()
	start := time.Now()
	for _, r := range []struct {
		job, reason string
		after       time.Duration
	}{
		{"a1", "full", 0}, {"a2", "full", time.Second}, {"a3", "down", time.Second}, {"a4", "full", 2 * time.Second}, {"a1", "full", 2 * time.Minute},
	} {
		record := slog.NewRecord(start.Add(r.after), slog.LevelWarn, "job waits for the nodes", 0)
		un := &holdfast.UnavailableError{Name: r.job, Nodes: []verdict.Answer{{Node: "n", Reason: verdict.ReasonFailed, Err: errors.New(r.reason)}}}
		record.AddAttrs(slog.String("job", r.job), slog.Any("error", un))
		if err := h.Handle(t.Context(), record); err != nil {
			t.Fatal(err)
		}
	}
	talk.lines.Wait(async.Forever)
	want := []string{`job waits for the nodes job="a1" error=.*full`, `job "a2" waits, too`, `job waits for the nodes job="a3" error=.*down`, `job "a4" waits, too`, `job waits for the nodes job="a1" error=.*full`}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for i, line := range lines {
		if len(lines) != len(want) || !regexp.MustCompile("^holdfast: "+want[i]).MatchString(line) {
			t.Fatalf("got %q, want %q", lines, want)
		}
	}
}
