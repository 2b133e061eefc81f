package bid

import "time"

const (
	// Gather is the time for which a bid waits, after the first hand-off, for the hand-offs of the other nodes. One
	// release causes them all. After that time, the bid asks all nodes.
	Gather = 20 * time.Millisecond
	// SplitDelay is the mean of the first pause after a split vote.
	SplitDelay = 4 * time.Millisecond
)

// Pause describes the pause before the next question to all nodes. The waiter draws its random length with Length.
type Pause struct {
	Most   time.Duration // the length if none of the fields below applies
	Random bool          // the length is a random part of Most, instead of Most
	Alone  bool          // no node will send a hand-off, so the length is about Retry, and at most Most
	Retry  time.Duration // used if Alone is set
	About  time.Duration // the length is about this; 0: not set
	Part   time.Duration // the bid has a partial grant, so the length is at most about this; 0: not set
	Left   time.Duration // the remaining time of the holder's lease; the pause ends soon after it; 0: unknown
}

// Length draws the length of the pause. draw returns a random duration that is less than its argument. Length calls
// draw once for each random part.
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
		// Part grows with the age of the partial grant. So a waiter that is cut off from some nodes, and keeps its
		// partial grant for long, does not ask more often than other waiters.
		d = min(Jitter(p.Part, draw), AskEvery, d)
	}
	// Compare before the addition. A foreign key may never expire, and the sum would then overflow.
	if p.Left > 0 && p.Left < d {
		d = p.Left + Jitter(Gather, draw)/2 // the random part spreads the waiters over several milliseconds
	}
	return d
}

// Jitter draws a duration between d/2 and 3d/2.
func Jitter(d time.Duration, draw func(below time.Duration) time.Duration) time.Duration {
	return d/2 + draw(d+1)
}
