package quorum

import (
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// Renewal counts the answers to one renewal. If a majority says yes, the deadline moves. If a majority did not have
// the lease, the lease is lost. This includes nodes that only forgot it: another client may have had the lock in
// between.
//
// A node also says yes to a renewal that comes later than a window after its stamp. The client cannot know whether
// the renewal was late or the node's clock is ahead. If the clock is ahead, the node ends the lease too early. So the
// deadline is earlier by the excess: see Excess.
//
// Renewal is not safe for concurrent use.
type Renewal struct {
	n                     int
	stamp, window         int64 // in µs
	yes, forgot, answered int
	late                  []time.Duration // the excess of each late yes, sorted
	told                  Outcome
	counted               time.Duration // the excess that the last Won was told with
}

// NewRenewal returns a renewal at n nodes.
func NewRenewal(n int, window time.Duration) Renewal {
	return Renewal{n: n, window: window.Microseconds()}
}

// Stamped notes the stamp of the renewal, in µs. The caller draws it when the first node gets the renewal.
func (r *Renewal) Stamped(stamp int64) { r.stamp = stamp }

// Excess returns the time by which the deadline of this renewal is earlier than its stamp says. It is the largest
// excess in the majority of nodes with the smallest ones. The excess of a yes is the time by which the node's clock was
// more than a window ahead of the stamp. A yes with the excess e counts like a yes in the window for a stamp that is
// later by e and a TTL that is shorter by e. Excess is 0 until a majority said yes.
func (r *Renewal) Excess() time.Duration {
	onTime := r.yes - len(r.late)
	if need := Majority(r.n); r.yes >= need && onTime < need {
		return r.late[need-onTime-1]
	}
	return 0
}

// Answer counts one node's answer, and returns the outcome. It returns each outcome except Open only once, with two
// exceptions. Gone can follow another outcome. Example: of five nodes, two extend and one repairs, so the outcome is
// Won. Then the other two repair. Now three nodes did not have the lease, and the outcome is Gone. And Won is repeated
// when a further yes makes Excess smaller.
func (r *Renewal) Answer(ans nodescript.Answer) Outcome {
	r.answered++
	switch ans.Verdict {
	case nodescript.Extended:
		r.agrees(ans)
	case nodescript.Repaired:
		r.agrees(ans)
		r.forgot++
	case nodescript.Lost:
		r.forgot++
	}
	out := r.outcome()
	if better := out == Won && r.told == Won && r.Excess() < r.counted; !better && (out == r.told || r.told != Open && out != Gone) {
		return Open
	}
	r.told, r.counted = out, r.Excess()
	return out
}

// ExcessOf returns the excess of a yes, 0 for one that came in the window and for other answers.
func (r *Renewal) ExcessOf(ans nodescript.Answer) time.Duration {
	if ans.Time == 0 || ans.Verdict != nodescript.Extended && ans.Verdict != nodescript.Repaired {
		return 0
	}
	return time.Duration(max(ans.Time-r.stamp-r.window, 0)) * time.Microsecond
}

// agrees counts a yes.
func (r *Renewal) agrees(ans nodescript.Answer) {
	r.yes++
	if excess := r.ExcessOf(ans); excess > 0 {
		i, _ := slices.BinarySearch(r.late, excess)
		r.late = slices.Insert(r.late, i, excess)
	}
}

func (r *Renewal) outcome() Outcome {
	need, open := Majority(r.n), r.n-r.answered
	switch {
	case r.Gone():
		return Gone
	case r.yes >= need:
		return Won
	case r.yes+open >= need:
		return Open
	}
	return Failed
}

// Gone reports whether a majority did not have the lease.
func (r *Renewal) Gone() bool { return r.forgot >= Majority(r.n) }

// MayBeGone reports whether the missing answers could still complete a majority that did not have the lease. It
// returns false if no node has answered so far that it did not have the lease.
func (r *Renewal) MayBeGone() bool {
	need := Majority(r.n)
	return r.forgot > 0 && r.forgot < need && r.forgot+r.n-r.answered >= need
}
