package quorum

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/clock"
)

// Majority of n nodes, whether they answer or not.
func Majority(n int) int { return n/2 + 1 }

// Validity is how long, from the instant its stamp was drawn, an owner may believe
// in a lease of ttl. The margin of 4 W is tight: a stamp that a majority granted is
// within W of a right clock, and so within 1.5 W of the middle of these; so is the next
// owner's, which the window lets in W early at a node whose clock is wrong. A hundredth
// of ttl is for clocks that run at different rates, 2 ms for the timer that ends the
// belief, as in Redlock's drift.
// https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/
func Validity(ttl, window time.Duration) time.Duration {
	return ttl - 4*window - ttl/100 - 2*time.Millisecond
}

// Deadline is the instant at which an owner stops believing.
func Deadline(sent clock.Instant, ttl, window time.Duration) clock.Instant {
	return sent.Add(Validity(ttl, window))
}
