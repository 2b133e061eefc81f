package quorum

import (
	"cmp"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// Timebase draws stamps: microseconds since the epoch by the clocks of a majority of the nodes. It never draws a stamp
// twice. It does not use the client's wall clock at all. The client's steady clock continues the stamps between two
// readings of the nodes' clocks.
//
// A move is a change of the correction by more than the window, and by more than clocks usually drift apart. Timebase
// adopts a move only after a time (MaxTTL + W) in which it drew no stamp for an acquire. Otherwise a client that
// follows a majority of jumping clocks could have two leases at once.
//
// Timebase is not safe for concurrent use.
type Timebase struct {
	need   int
	window int64         // W, in µs
	settle time.Duration // MaxTTL + W, the time until a move settles

	samples []sample // by node: the latest sample
	base    int64    // stamp − steady clock, in µs
	known   bool

	anchor     int64 // an earlier base, from which a move is measured
	anchorAt   clock.Instant
	slidAt     clock.Instant // the instant at which the anchor last followed clocks that are being set right
	moved      bool          // a correction waits until it settles
	moving     int64
	movedAt    clock.Instant
	lastDrawn  clock.Instant
	everDrawn  bool
	lastStamp  int64
	maxSampled time.Duration
	readEvery  time.Duration
}

type sample struct {
	offset int64 // node's clock − steady clock, in µs
	within int64 // the largest error of offset, in µs: half of the round trip, and the drift of the clocks since
	at     clock.Instant
	known  bool
	slow   time.Duration // the round trip of the last answer, if it was too long for a reading
}

const (
	// parting divides a duration. Two clocks usually drift apart by less than the quotient: 100 µs a second.
	parting = 10_000
	// slewing is the same divisor for clocks that are being set right: 1 ms a second. ntpd slews a clock by at most
	// half of that. So two clocks that ntpd sets right in opposite directions drift apart by 1 ms a second.
	slewing = 1000
)

// after returns the sample that replaces s after the new reading n. If n is less exact than s and does not contradict
// s, the offset of s stays. Without this rule a question that took long could move a right clock out of another clock's
// window, and into the window of a wrong clock.
func (s sample) after(n sample) sample {
	within := s.within + n.at.Sub(s.at).Microseconds()/parting
	if s.known && within < n.within && abs(n.offset-s.offset) <= within+n.within {
		n.offset, n.within = s.offset, within
	}
	return n
}

// sampleKept is the time for which a reading of a node's clock is used. The clocks of two machines drift apart by some
// 50 µs a second, which is 60 ms in that time.
const sampleKept = 20 * time.Minute

// strayKept is the time for which a reading outside the window around the stamps is used. A node whose clock is right
// again accepts the stamps, so no call reads its clock again. If Timebase kept such a reading for longer, clocks that
// were wrong one after the other would look like a majority that moved. If a majority really moved, one attempt meets
// all of it.
const strayKept = time.Second

// ReadEvery returns the pause between two readings of the clocks. It is the same for a client without work. The
// client's clock must not drift from the nodes' clocks by more than a quarter of the window, even while a clock is
// being set right.
func ReadEvery(window time.Duration) time.Duration { return min(refreshEvery, slewing*window/4) }

// LongestTrip returns the longest round trip that still allows a reading of a node's clock, and a stamp that reaches
// the node inside its window. A reading is wrong by half of the difference between the two ways, and the stamp travels
// one way. Together these are half of the round trip, no matter which way takes longer. Differences between the nodes'
// clocks shorten the limit.
func LongestTrip(window time.Duration) time.Duration { return 2 * window }

// NewTimebase returns a timebase for n nodes.
func NewTimebase(n int, window, maxTTL time.Duration) *Timebase {
	return &Timebase{
		need: Majority(n), window: window.Microseconds(), settle: maxTTL + window,
		samples: make([]sample, n), maxSampled: LongestTrip(window), readEvery: ReadEvery(window),
	}
}

// Reading is a node's answer about its clock, between Sent and Received.
type Reading struct {
	Node           int
	Time           int64 // in µs; 0: the node did not tell its time
	Sent, Received clock.Instant
}

// Read takes readings of nodes' clocks. It ignores a reading that took longer than LongestTrip, because such a reading
// is too inexact. It also ignores a reading that is older than the known one. The caller must pass readings that were
// made together in one call, because some of them alone might agree on another time.
func (t *Timebase) Read(now clock.Instant, readings ...Reading) {
	taken := false
	for _, r := range readings {
		known := t.samples[r.Node]
		if r.Time <= 0 || known.known && r.Received < known.at {
			continue
		}
		if took := r.Received.Sub(r.Sent); took > t.maxSampled {
			t.samples[r.Node].slow = took
			continue
		}
		middle := (r.Sent.Micros() + r.Received.Micros()) / 2
		within := (r.Received.Sub(r.Sent).Microseconds() + 1) / 2
		t.samples[r.Node] = known.after(sample{offset: r.Time - middle, within: within, at: r.Received, known: true})
		taken = true
	}
	if taken {
		t.correct(now)
	}
}

// correct adopts the correction on which most readings agree, or begins to wait until it settles.
func (t *Timebase) correct(now clock.Instant) {
	c, ok := t.agreed(now)
	if !ok {
		return
	}
	slid := t.slid(c, now)
	switch {
	case !t.known, t.idle(now):
		t.adopt(c, now)
	case abs(c-slid) <= t.window:
		t.base, t.anchor, t.moved = c, slid, false
		if now.Sub(t.anchorAt) >= t.settle {
			t.anchor, t.anchorAt = c, now
		}
	case !t.moved || abs(c-t.moving) > t.window:
		t.moved, t.moving, t.movedAt = true, c, now
	case now.Sub(t.movedAt) >= t.settle:
		t.adopt(c, now)
	}
}

// slid returns the anchor after it has followed clocks that are being set right. The anchor may follow only for the
// time since the last reading. Counted over MaxTTL, it could follow much further. With short leases and a long MaxTTL,
// a leap of all clocks would then look like slewing.
func (t *Timebase) slid(c int64, now clock.Instant) int64 {
	most := int64(0)
	if t.known && !t.moved {
		most = min(now.Sub(t.slidAt), 2*t.readEvery).Microseconds() / slewing
	}
	t.slidAt = now
	return t.anchor + max(-most, min(c-t.anchor, most))
}

// idle reports whether the last stamp is so old that all leases with stamps of this client have ended.
func (t *Timebase) idle(now clock.Instant) bool {
	return !t.everDrawn || now.Sub(t.lastDrawn) >= t.settle
}

func (t *Timebase) adopt(c int64, now clock.Instant) {
	if c < t.base { // the clocks went back, so the last stamp must not stay ahead of them
		t.lastStamp = min(t.lastStamp, c+now.Micros())
	}
	t.known, t.base, t.anchor, t.anchorAt, t.moved = true, c, c, now, false
}

// agreed returns the middle of the readings that agree. They are the largest group within one window, because the
// clocks of right nodes are within one window. It returns false if that group is not a majority. Stamps from the middle
// leave each clock of the group half a window to spare.
//
// A wrong minority may agree with some of the right clocks, and make a group of the same size as the right group. Then
// the group closer to the stamps so far counts. Without earlier stamps, the group whose readings are closer to each
// other counts.
//
// Readings of right clocks that need nearly all of the window may be further apart than the clocks. So if no majority
// agrees, two readings may also differ by their uncertainty.
func (t *Timebase) agreed(now clock.Instant) (middle int64, ok bool) {
	var buf [32]sample
	all := buf[:0]
	for _, s := range t.samples {
		kept := sampleKept
		if t.known && abs(s.offset-t.base) > t.window {
			kept = strayKept
		}
		if s.known && now.Sub(s.at) < kept {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b sample) int { return cmp.Compare(a.offset, b.offset) })
	if middle, ok = t.middle(all, 0); !ok {
		middle, ok = t.middle(all, 1)
	}
	return middle, ok
}

// middle returns the middle of the largest group of all. Any two readings of the group differ by a window at most, plus
// blur times their uncertainty. all must be sorted.
func (t *Timebase) middle(all []sample, blur int64) (middle int64, ok bool) {
	most, least := 0, int64(0)
	for last := range all {
		first := 0
		for all[last].offset-all[first].offset > t.window+blur*(all[last].within+all[first].within) {
			first++
		}
		n, m := last-first+1, (all[first].offset+all[last].offset)/2
		far := all[last].offset - all[first].offset
		if t.known {
			far = abs(m - t.base)
		}
		if n > most || n == most && far < least {
			most, least, middle = n, far, m
		}
	}
	return middle, most >= t.need
}

// Stamp draws a stamp for an acquire. It returns an error while no majority of clocks is known, or while a move
// settles.
func (t *Timebase) Stamp(now clock.Instant) (int64, error) {
	if err := t.settled(now); err != nil {
		return 0, err
	}
	t.everDrawn, t.lastDrawn = true, now
	return t.draw(now), nil
}

// Admission returns a stamp for an admission. within is the largest permitted distance of the node's clock from the
// stamp, a window at most. Admission returns the errors of Stamp, and an Unsettled with Off if the clocks are not known
// well enough. Unlike Stamp, Admission ignores Raise, because only time may move the beginning or the end of a
// quarantine.
//
// The stamp of an acquire need not be right, because one right node of the majority accepted it. An admission has only
// one node, and that node may be wrong. So the stamp itself must be right: its possible error plus within is two
// windows at most.
func (t *Timebase) Admission(now clock.Instant) (stamp int64, within time.Duration, err error) {
	if err := t.settled(now); err != nil {
		return 0, 0, err
	}
	window, off := time.Duration(t.window)*time.Microsecond, t.off(now)
	if within = min(window, 2*window-off); within <= 0 {
		return 0, 0, Unsettled{Off: off, Window: window}
	}
	t.everDrawn, t.lastDrawn = true, now
	return t.StampAt(now), within, nil
}

// off returns the largest distance of the stamps from a right clock. Any majority of nodes has a right clock, and so
// has the majority that differs least from the stamps.
func (t *Timebase) off(now clock.Instant) time.Duration {
	var buf [32]int64
	all := buf[:0]
	for _, s := range t.samples {
		if s.known {
			all = append(all, abs(s.offset-t.base)+s.within+now.Sub(s.at).Microseconds()/parting)
		}
	}
	slices.Sort(all)
	return time.Duration(all[t.need-1]) * time.Microsecond
}

// settled returns the reason why no stamp can be drawn, nil if there is none. It adopts a move that has settled.
func (t *Timebase) settled(now clock.Instant) error {
	if t.moved && now.Sub(t.movedAt) >= t.settle {
		t.adopt(t.moving, now)
	}
	if !t.known {
		return t.unknown()
	}
	if t.Overdue(now) {
		return Unsettled{Unread: now.Sub(t.readAt())}
	}
	if t.moved {
		return Unsettled{Moved: time.Duration(t.moving-t.anchor) * time.Microsecond, Left: t.settle - now.Sub(t.movedAt)}
	}
	return nil
}

// Known reports whether the clocks of a majority are known.
func (t *Timebase) Known() bool { return t.known }

// unknown returns the reason why no majority of clocks is known. The reason may be that nodes answered too late.
func (t *Timebase) unknown() Unsettled {
	var slow []time.Duration
	known := 0
	for _, s := range t.samples {
		switch {
		case s.known:
			known++
		case s.slow > 0:
			slow = append(slow, s.slow)
		}
	}
	if missing := t.need - known; missing > 0 && missing <= len(slow) {
		slices.Sort(slow)
		return Unsettled{Took: slow[missing-1], Window: time.Duration(t.window) * time.Microsecond}
	}
	return Unsettled{}
}

// Unread returns the time until the clocks must be read again, 0 for now. It counts from the last reading of a
// majority. A correction that is read before the client draws its next stamp is adopted at once. A correction that is
// read after that stamp may have to settle.
func (t *Timebase) Unread(now clock.Instant) time.Duration {
	if !t.known {
		return 0
	}
	return max(t.readAt().Add(t.readEvery).Sub(now), 0)
}

// Overdue reports whether the last reading is so old that the clocks may since have drifted apart by a window. This
// happens after a suspension of the host. The client must then read the clocks before it draws a stamp. If it drew the
// stamp first, it could not adopt a new correction for MaxTTL + W.
func (t *Timebase) Overdue(now clock.Instant) bool {
	return t.known && now.Sub(t.readAt()).Microseconds() > slewing*t.window
}

// readAt returns the instant at which the clocks of a majority were last read. The caller must know that a majority is
// known.
func (t *Timebase) readAt() clock.Instant {
	var buf [32]clock.Instant
	at := buf[:0]
	for _, s := range t.samples {
		if s.known {
			at = append(at, s.at)
		}
	}
	slices.Sort(at)
	return at[len(at)-t.need]
}

// StampHeld draws a stamp for a renewal. Renewals continue with the correction of the acquire, even while a move
// settles.
func (t *Timebase) StampHeld(now clock.Instant) int64 {
	t.everDrawn, t.lastDrawn = true, now // a client that renews is not idle
	return t.draw(now)
}

func (t *Timebase) draw(now clock.Instant) int64 {
	t.lastStamp = max(t.base+now.Micros(), t.lastStamp+1)
	return t.lastStamp
}

// Raise makes later stamps larger than seen, which a node reported. It ignores a value that is more than a window
// ahead.
func (t *Timebase) Raise(seen int64, now clock.Instant) {
	if seen <= t.base+now.Micros()+t.window {
		t.lastStamp = max(t.lastStamp, seen)
	}
}

// StampAt returns the stamp time of an instant. It draws no stamp.
func (t *Timebase) StampAt(i clock.Instant) int64 { return t.base + i.Micros() }

// Offset returns the distance of a node's clock from the stamps at the last reading. It returns 0 and false if the
// distance is unknown.
func (t *Timebase) Offset(node int) (offset time.Duration, known bool) {
	s := t.samples[node]
	if !s.known || !t.known {
		return 0, false
	}
	return time.Duration(s.offset-t.base) * time.Microsecond, true
}

func abs(x int64) int64 { return max(x, -x) }
