package quorum

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// Majority returns the size of a majority of n nodes, whether they answer or not.
func Majority(n int) int { return n/2 + 1 }

// Validity returns the time for which an owner may rely on a lease of ttl. It counts from the instant at which the
// stamp was drawn. The result is not positive if ttl is too short.
//
// The margin of 4 W is tight. A stamp that a majority granted is within W of a right clock, and so within 1.5 W of the
// middle of the right clocks. The same applies to the next owner's stamp. A node with a wrong clock may grant that
// stamp up to W too early. The margin also contains 1 % of ttl, for clocks that run at different rates, and 2 ms for
// the timer that ends the lease. Redlock's drift has both of these parts.
// https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/
func Validity(ttl, window time.Duration) time.Duration {
	return ttl - 4*window - ttl/100 - 2*time.Millisecond
}

// Deadline returns the instant at which the owner of a lease stops relying on it. sent is the instant at which its
// stamp was drawn.
func Deadline(sent clock.Instant, ttl, window time.Duration) clock.Instant {
	return sent.Add(Validity(ttl, window))
}
