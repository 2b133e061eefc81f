package bid

import "time"

const (
	// Gather is the time for which the first hand-off waits for the hand-offs of the other nodes, which the same
	// release sent. After that the bid asks all nodes.
	Gather = 20 * time.Millisecond
	// SplitDelay is the mean of the first pause after a split vote.
	SplitDelay = 4 * time.Millisecond
)

// Pause describes the pause before the next question to all nodes. The waiter draws its length.
type Pause struct {
	Most   time.Duration // the length, if none of the following applies
	Random bool          // the length is a random part of Most
	Alone  bool          // no hand-off will come, so the length is about Retry, and at most Most
	Retry  time.Duration
	About  time.Duration // the length is about this; 0: this does not apply
	Part   time.Duration // the bid has a partial grant, so the length is at most about this; 0: this does not apply
	Left   time.Duration // the pause ends soon after the holder's lease; 0: the end of the lease is unknown
}

// Length draws the length of the pause. draw returns a random duration below its argument. Length calls draw once for
// each random part.
func (p Pause) Length(draw func(below time.Duration) time.Duration) time.Duration {
	d := p.Most
	if p.Random {
		d = draw(p.Most)
	}
	if p.Alone {
		d = min(Jitter(p.Retry, draw), p.Most)
	}
	switch {
	case p.About > 0:
		d = Jitter(p.About, draw)
	case p.Part > 0:
		// If the waiter is cut off from some nodes, its partial grant may last. So this pause grows up to the pause of
		// other waiters.
		d = min(Jitter(p.Part, draw), AskEvery, d)
	}
	// The comparison comes before the addition, because a foreign key may never expire, and then the sum would
	// overflow.
	if p.Left > 0 && p.Left < d {
		d = p.Left + Jitter(Gather, draw)/2 // the random part spreads the waiters over several milliseconds
	}
	return d
}

// Jitter draws a duration between d/2 and 3d/2.
func Jitter(d time.Duration, draw func(below time.Duration) time.Duration) time.Duration {
	return d/2 + draw(d+1)
}
