package cli

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/async"
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
