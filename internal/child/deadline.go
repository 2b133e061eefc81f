//go:build unix

package child

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/clock"
)

// A deadline goes to other processes as an instant of the host's clock, and not as the time that is left: nobody knows
// how long the message takes, or how long its sender or receiver stands still before it.

// noted is an instant from which a deadline is reckoned.
type noted struct {
	host clock.Instant
	at   time.Time
}

func note() noted { return noted{clock.Host(), time.Now()} }

// deadline returns until() as an instant of the host's clock: not later than it is, whatever stands still meanwhile.
// The host's clock was read before until is asked, so a pause between the two makes the deadline earlier.
// until must know of a suspension of the host that was before n, so there are two lags between.
func (n noted) deadline(until func() time.Time) clock.Instant {
	time.Sleep(2*clock.Lag - time.Since(n.at))
	// A lease that was lost has the zero time: so far back that the difference to it overflows.
	return n.host.Add(max(time.Until(until()), -time.Hour))
}
