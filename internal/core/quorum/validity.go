package quorum

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// Majority returns the size of a majority of n configured nodes. Nodes that do not answer count, too.
func Majority(n int) int { return n/2 + 1 }

// Validity returns the time for which the holder may rely on a lease of ttl. It counts from the instant at which the
// stamp was drawn. If ttl is too short, the result is zero or negative. A renewal that came late is valid for a shorter
// time: see Renewal.Excess.
//
// The margin of 4 W cannot be smaller. A stamp that a majority granted differs from a right clock by W at most, and so
// from the middle of the right clocks by 1.5 W at most. The same holds for the stamp of the next owner. A node with a
// wrong clock may grant that stamp up to W too early. Together these are 4 W. The margin also contains 1 % of ttl, for
// clocks that run at different speeds, and 2 ms for the timer that ends the lease. Redlock's drift contains these two
// parts as well. https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/
func Validity(ttl, window time.Duration) time.Duration {
	return ttl - 4*window - ttl/100 - 2*time.Millisecond
}

// Deadline returns the instant at which the holder of a lease stops relying on it. sent is the instant at which the
// stamp was drawn.
func Deadline(sent clock.Instant, ttl, window time.Duration) clock.Instant {
	return sent.Add(Validity(ttl, window))
}
