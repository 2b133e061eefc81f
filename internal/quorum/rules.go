package quorum

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/clock"
)

// Majority of n nodes, whether they answer or not.
func Majority(n int) int { return n/2 + 1 }

// Validity is how long, from the instant its stamp was drawn, an owner may believe
// in a lease of ttl. Three of the 4 W are needed: the owner's stamp may be W off the
// middle of the right nodes' clocks, and so may the next owner's, which the window lets in
// W early at a node whose clock is wrong. The fourth is in reserve. A hundredth of ttl
// is for clocks that run at different rates, 2 ms for the timer that ends the belief, as
// in Redlock's drift.
// https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/
func Validity(ttl, window time.Duration) time.Duration {
	return ttl - 4*window - ttl/100 - 2*time.Millisecond
}

// Deadline is the instant at which an owner stops believing.
func Deadline(sent clock.Instant, ttl, window time.Duration) clock.Instant {
	return sent.Add(Validity(ttl, window))
}
