package nodescript

import (
	"testing"
	"time"
)

// A report waits for a node that hangs for up to 17/8 of a window: see report in package fanout. The next report must
// come later. Otherwise there is a moment at which no vote counts.
func TestAReportEndsBeforeTheNextOne(t *testing.T) {
	for window := time.Millisecond; window <= time.Minute; window = window*3/2 + 1 {
		for _, ttls := range []time.Duration{8, 16, 40, 1000} {
			c := Config{N: 5, MaxTTL: ttls * window, Window: window}
			if c.ReportEvery() <= window*17/8 {
				t.Errorf("W = %s, MaxTTL = %s: a report every %s, and it takes up to %s", c.Window, c.MaxTTL, c.ReportEvery(), window*17/8)
			}
		}
	}
}
