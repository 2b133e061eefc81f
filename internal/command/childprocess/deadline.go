//go:build unix

package childprocess

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// Other processes get a deadline as an instant of the host's clock and not as the remaining time. A remaining time
// would be wrong, because the message may take any time, and its sender or receiver may freeze before the message.

// noted is one instant on both clocks. Deadlines are computed from it.
type noted struct {
	host clock.Instant
	at   time.Time
}

func note() noted { return noted{clock.Host(), time.Now()} }

// deadline returns until() as an instant of the host's clock. The result is never too late, even if a process freezes
// during the call. The host's clock was read before deadline calls until, so a pause between the two makes the result
// earlier.
//
// until must take into account a suspension of the host that happened before n. So deadline waits until two lags have
// passed since n.
func (n noted) deadline(until func() time.Time) clock.Instant {
	time.Sleep(2*clock.Lag - time.Since(n.at))
	// A lost lease has the zero time. That time is so long ago that the difference to it overflows.
	return n.host.Add(max(time.Until(until()), -time.Hour))
}
