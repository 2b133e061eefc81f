package renewal

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// The error of a loss contains the answer of each node: its answer to the release, or to the renewals that did not win
// before the deadline.
func TestALossSaysWhatEachNodeSaid(t *testing.T) {
	for _, c := range []struct {
		says  string
		after []time.Duration
		gone  bool
		want  []nodescript.Verdict
	}{
		{"ERR", []time.Duration{0, time.Millisecond, time.Millisecond}, true, []nodescript.Verdict{nodescript.Extended, nodescript.Repaired, nodescript.Repaired}},
		{"LLE", []time.Duration{0, 0, time.Millisecond}, true, []nodescript.Verdict{nodescript.Lost, nodescript.Lost, nodescript.Unanswered}},
		{"EEL", []time.Duration{0, time.Hour, 0}, false, []nodescript.Verdict{nodescript.Extended, nodescript.Failed, nodescript.Lost}},
	} {
		var says []string
		for _, letter := range c.says {
			if letter == 'L' {
				says = append(says, "Llother")
			} else {
				says = append(says, string(letter))
			}
		}
		voters(t, says, c.after, func(e *Lease) {
			<-e.Context().Done()
			var lost *LostError
			if err := context.Cause(e.Context()); !errors.As(err, &lost) || !errors.Is(err, ErrLost) || lost.Gone != c.gone {
				t.Fatalf("%s: the lease ended with %#v; want gone=%v", c.says, err, c.gone)
			}
			for i, a := range lost.Answers {
				if a.Verdict != c.want[i] {
					t.Errorf("%s: node %d is quoted with %+v; want verdict %d", c.says, i, a, c.want[i])
				}
				if a.Verdict == nodescript.Lost && a.Owner != "other" {
					t.Errorf("%s: node %d names %q as who has it now; want other", c.says, i, a.Owner)
				}
			}
		})
	}
}
