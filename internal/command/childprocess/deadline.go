//go:build unix

package childprocess

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// Other processes get a deadline as an instant of the host's clock and not as the remaining time. Nobody knows how long
// the message takes, nor for how long its sender or receiver freezes before it.

// noted is an instant by both clocks, from which a deadline is computed.
type noted struct {
	host clock.Instant
	at   time.Time
}

func note() noted { return noted{clock.Host(), time.Now()} }

// deadline returns until() as an instant of the host's clock. The result is never too late, whatever freezes meanwhile:
// the host's clock was read before until is called, so a pause between the two makes the result earlier.
//
// until must take into account a suspension of the host that was before n. So deadline waits until two lags have passed
// since n.
func (n noted) deadline(until func() time.Time) clock.Instant {
	time.Sleep(2*clock.Lag - time.Since(n.at))
	// A lost lease has the zero time. It is so long ago that the difference to it overflows.
	return n.host.Add(max(time.Until(until()), -time.Hour))
}
