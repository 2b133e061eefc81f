package fanout

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
	"github.com/holdfast-go/holdfast/node"
)

// A new client does not know the nodes' clocks for some milliseconds. It announces that only after a second.
func TestUnknownClocksAreToldWhenTheyLast(t *testing.T) {
	unknown := failed(node.NotSent(quorum.Unsettled{}))
	inexact := nodescript.Answer{Verdict: nodescript.OffClock, Cause: nodescript.Inexact, Evidence: &nodescript.Evidence{Off: 1}}
	var s spell
	for i, c := range []struct {
		at    time.Duration
		a     nodescript.Answer
		brief bool
	}{
		{time.Minute, unknown, true},
		{time.Minute + 900*time.Millisecond, unknown, true},
		{time.Minute + time.Second, unknown, false}, // the spell has lasted a second
		{time.Minute + 2*time.Second, inexact, false},
		{time.Minute + 10*time.Second, unknown, true}, // another spell begins after a pause
		{time.Minute + 10*time.Second, nodescript.Answer{Verdict: nodescript.Quarantined}, false},
		{time.Minute + 11*time.Second, unknown, true},
		// A node whose own clock is off does not belong to a spell.
		{time.Minute + 11*time.Second, nodescript.Answer{Verdict: nodescript.OffClock}, false},
	} {
		if brief := s.brief(clock.Instant(c.at), c.a); brief != c.brief {
			t.Errorf("%d: after %s, %v is brief: %v; want %v", i, c.at, c.a.Verdict, brief, c.brief)
		}
	}
}
