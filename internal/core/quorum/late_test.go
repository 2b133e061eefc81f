package quorum

import (
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// A node says yes to a late renewal with its time. The client cannot tell a late request from a clock that is ahead, so
// the deadline is earlier by the excess. It counts the majority with the smallest ones.
func TestALateYesMakesTheDeadlineEarlier(t *testing.T) {
	const stamp = int64(1_800_000_000_000_000)
	yes := nodescript.Answer{Verdict: nodescript.Extended}
	late := func(d time.Duration) nodescript.Answer {
		return nodescript.Answer{Verdict: nodescript.Extended, Time: stamp + d.Microseconds()}
	}
	repaired := late(3 * time.Second)
	repaired.Verdict = nodescript.Repaired
	const w = 250 * time.Millisecond
	for name, tc := range map[string]struct {
		list []nodescript.Answer
		want []time.Duration // the excess at each outcome Won
	}{
		"in time":                         {[]nodescript.Answer{yes, yes, late(time.Second)}, []time.Duration{0}},
		"at the end of the window":        {[]nodescript.Answer{late(w), late(w), yes}, []time.Duration{0}},
		"a majority is late":              {[]nodescript.Answer{late(time.Second), late(2 * time.Second)}, []time.Duration{2*time.Second - w}},
		"the third is less late":          {[]nodescript.Answer{late(time.Second), late(2 * time.Second), late(1500 * time.Millisecond)}, []time.Duration{2*time.Second - w, 1500*time.Millisecond - w}},
		"the third is later":              {[]nodescript.Answer{late(time.Second), late(2 * time.Second), late(4 * time.Second)}, []time.Duration{2*time.Second - w}},
		"two of three are in time":        {[]nodescript.Answer{late(2 * time.Second), yes, yes}, []time.Duration{2*time.Second - w, 0}},
		"a late repair is a late yes":     {[]nodescript.Answer{repaired, yes}, []time.Duration{3*time.Second - w}},
		"the node's clock is behind":      {[]nodescript.Answer{late(-time.Second), late(-time.Second)}, []time.Duration{0}},
		"a time that no clock ever shows": {[]nodescript.Answer{late(200 * 365 * 24 * time.Hour), yes, yes}, []time.Duration{200*365*24*time.Hour - w, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			r := NewRenewal(3, w)
			r.Stamped(stamp)
			var got []time.Duration
			for _, a := range tc.list {
				if r.Answer(a) == Won {
					got = append(got, r.Excess())
				}
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("excess %v; want %v", got, tc.want)
			}
		})
	}
}
