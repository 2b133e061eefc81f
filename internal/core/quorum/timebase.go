package quorum

import (
	"cmp"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// Timebase draws stamps. A stamp is the time in microseconds since the epoch, by the clocks of a majority of nodes.
// Timebase never draws the same stamp twice. It does not use the client's wall clock. Between two readings of the
// nodes' clocks, it adds the time that has passed on the client's steady clock.
//
// The left end of this line is the client's steady clock. The points n1 to n5 are the nodes' clocks. A point is as far
// to the right as its clock is ahead of the steady clock:
//
//	                 ┌── at most one window ──┐
//	──────┼──────────n2────n3──┼─────────n5────────────────n4────────n1──▶
//	steady clock          correction                     wrong clocks
//
// The largest group within a window is a majority, so n1 and n4 do not count. The correction is the middle of the
// group, and a stamp is the steady clock plus the correction. Each right clock is within half a window of it.
//
// A move is a change of the correction by more than the window, and by more than clocks usually drift. Timebase adopts
// a move only after it has drawn no stamp for an acquire for the time MaxTTL + W. Without this delay, a majority of
// clocks that jump forward could end a lease early on the nodes. The client could then get the same lock a second time
// while it relies on the first lease.
//
// Timebase is not safe for concurrent use.
type Timebase struct {
	need   int
	window int64         // W in µs
	settle time.Duration // MaxTTL + W, the time until a move settles

	samples []sample      // by node: the latest sample
	readAt  clock.Instant // when a majority was last read; set once the clocks of a majority are known
	base    int64         // stamp − steady clock, in µs: the correction
	known   bool

	anchor     int64 // the correction from which a move is measured
	anchorAt   clock.Instant
	slidAt     clock.Instant // when the anchor last followed clocks that are being set right
	moved      bool          // a move waits until it settles
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
	within int64 // the largest error of offset in µs: half of the round trip, and the drift since then
	at     clock.Instant
	known  bool
	slow   time.Duration // the round trip of the last answer, if it was too long for a reading
}

const (
	// parting is a divisor. In a time t, two clocks usually drift apart by less than t / parting, which is 100 µs in a
	// second.
	parting = 10_000
	// slewing is the same divisor while ntpd sets clocks right: 1 ms in a second. ntpd changes a clock by at most half
	// of that. If it changes two clocks in opposite directions, they drift apart by 1 ms in a second.
	slewing = 1000
)

// after returns the sample that replaces s after the new reading n. If n is less exact than s and agrees with s, the
// offset of s stays. Without this rule, one slow answer could move a right clock out of the group of right clocks and
// into the group of a wrong clock.
func (s sample) after(n sample) sample {
	within := s.within + n.at.Sub(s.at).Microseconds()/parting
	if s.known && within < n.within && abs(n.offset-s.offset) <= within+n.within {
		n.offset, n.within = s.offset, within
	}
	return n
}

// sampleKept is the time for which a reading of a node's clock is used. In this time the clocks of two machines drift
// apart by about 60 ms, at 50 µs in a second.
const sampleKept = 20 * time.Minute

// strayKept is the time for which a reading that differs from the stamps by more than a window is used. When such a
// clock is right again, the node accepts stamps, and so nothing makes the client read it again. If the reading stayed
// for long, several clocks that were wrong at different times would look like a majority that moved. If a majority
// really moves, one attempt meets all these clocks within a second.
const strayKept = time.Second

// ReadEvery returns the pause between two readings of the clocks. A client without work uses the same pause. In that
// time the client's clock must not drift from the nodes' clocks by more than a quarter of the window, even while a
// clock is being set right.
func ReadEvery(window time.Duration) time.Duration { return min(refreshEvery, slewing*window/4) }

// LongestTrip returns the longest round trip after which a node's clock still counts as read. It is the round trip
// that still lets a stamp reach the node inside its window. A reading is wrong by half of the difference between the
// two ways, and a stamp travels one way. Together these are always half of the round trip. If the nodes' clocks
// differ, the limit for a successful stamp is shorter.
func LongestTrip(window time.Duration) time.Duration { return 2 * window }

// NewTimebase returns a timebase for n nodes.
func NewTimebase(n int, window, maxTTL time.Duration) *Timebase {
	return &Timebase{
		need: Majority(n), window: window.Microseconds(), settle: maxTTL + window,
		samples: make([]sample, n), maxSampled: LongestTrip(window), readEvery: ReadEvery(window),
	}
}

// Reading is a node's clock at an unknown instant between Sent and Received.
type Reading struct {
	Node           int
	Time           int64 // in µs; 0: the answer has no time
	Sent, Received clock.Instant
}

// Read uses readings of the nodes' clocks. It ignores readings that took longer than LongestTrip, because they are too
// inexact, and readings that are older than the known ones. Readings that were made together must come in one call.
// Without the others, some of them could agree on another time.
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
		t.noteRead()
		t.correct(now)
	}
}

// correct adopts the correction on which most readings agree. If that correction is a move, correct starts to wait
// until the move settles.
func (t *Timebase) correct(now clock.Instant) {
	c, ok := t.agreed(now)
	if !ok {
		return
	}
	slid := t.movedAnchor(c, now)
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

// movedAnchor returns the anchor after it has followed clocks that are being set right. It may follow only by as much
// as clocks can be set right since the last reading. If it could use the whole time of MaxTTL, a leap of all clocks
// would look like clocks that are being set right, and no move would be noticed.
func (t *Timebase) movedAnchor(c int64, now clock.Instant) int64 {
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
	if c < t.base { // the clocks went back, and the last stamp must not stay ahead of them
		t.lastStamp = min(t.lastStamp, c+now.Micros())
	}
	t.known, t.base, t.anchor, t.anchorAt, t.moved = true, c, c, now, false
}

// agreed returns the middle of the largest group of readings that differ from each other by one window at most. Right
// clocks form such a group. It returns false if the group is not a majority. Stamps from the middle of the group
// differ from each of its clocks by half a window at most.
//
// A minority of wrong clocks may form a group with some right clocks, and that group may be as large as the right one.
// Then agreed takes the group that is closer to the earlier stamps. Without earlier stamps it takes the narrower
// group.
//
// Right clocks may differ by nearly the whole window, and the error of the readings may then exceed it. So if no
// majority agrees, agreed tries once more and adds the possible errors of two readings to the window.
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

// middle returns the middle of the largest group in all. Any two readings in a group differ by one window at most. If
// blur is 1, their possible errors are added to the window. all must be sorted.
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

// Unread returns the time until the clocks must be read again, or 0 if they must be read now. It counts from the last
// reading of a majority. The client reads the clocks also while it has no work, so that it finds a move before it
// draws its next stamp. It can then adopt the move at once. After a stamp, it would have to wait until the move
// settles.
func (t *Timebase) Unread(now clock.Instant) time.Duration {
	if !t.known {
		return 0
	}
	return max(t.readAt.Add(t.readEvery).Sub(now), 0)
}

// Overdue reports whether the last reading is so old that the clocks may have drifted apart by a window since then.
// This happens after a suspension of the host. The client must then read the clocks before it draws a stamp. Otherwise
// a stamp could be wrong, and the client could not adopt a new correction for MaxTTL + W.
func (t *Timebase) Overdue(now clock.Instant) bool {
	return t.known && now.Sub(t.readAt).Microseconds() > slewing*t.window
}

// noteRead sets readAt. Each stamp needs readAt, so it is computed only when a reading changes it.
func (t *Timebase) noteRead() {
	var buf [32]clock.Instant
	at := buf[:0]
	for _, s := range t.samples {
		if s.known {
			at = append(at, s.at)
		}
	}
	if len(at) >= t.need {
		slices.Sort(at)
		t.readAt = at[len(at)-t.need]
	}
}

// Offset returns the difference between a node's clock and the stamps at the last reading. It returns 0 and false if
// that difference is unknown.
func (t *Timebase) Offset(node int) (offset time.Duration, known bool) {
	s := t.samples[node]
	if !s.known || !t.known {
		return 0, false
	}
	return time.Duration(s.offset-t.base) * time.Microsecond, true
}

// Outdated reports whether old readings alone may put a node's clock more than a window off the stamps. The nodes were
// read at different times, and meanwhile the client's clock drifted: see slewing. A new reading of all nodes shows
// whether the node's clock is wrong.
func (t *Timebase) Outdated(node int, now clock.Instant) bool {
	s, drift := t.samples[node], int64(0)
	if !s.known || !t.known {
		return false
	}
	for _, o := range t.samples {
		if o.known && abs(o.offset-t.base) <= t.window {
			drift = max(drift, o.within+s.within+now.Sub(o.at).Microseconds()/slewing)
		}
	}
	return abs(s.offset-t.base) <= t.window+drift
}

func abs(x int64) int64 { return max(x, -x) }
