//go:build unix

package childprocess

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// Processes tell each other a deadline as an instant of the host's clock. A remaining time would be wrong: the message
// may take any time, or one of the processes may freeze before it sends or reads the message.

// noted is one instant on two clocks: the host's clock and Go's clock. Deadlines are computed from it.
type noted struct {
	host clock.Instant
	at   time.Time
}

func note() noted { return noted{clock.Host(), time.Now()} }

// deadline converts until() into an instant of the host's clock. The result may be too early, but never too late. The
// host's clock was read first. So if this process freezes before until is called, the result is earlier by the time of
// the freeze.
//
// until must already count a suspension of the host that happened before the instant n. The clock that until uses may
// be behind by one lag. So deadline waits until two lags have passed since n.
func (n noted) deadline(until func() time.Time) clock.Instant {
	time.Sleep(2*clock.Lag - time.Since(n.at))
	// A lost lease has the zero time as its deadline. That time is so long ago that the difference would overflow.
	return n.host.Add(max(time.Until(until()), -time.Hour))
}
