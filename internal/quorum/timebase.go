package quorum

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/clock"
)

// Timebase draws stamps: microseconds since the epoch by the clocks of a majority of
// the nodes, never repeated. The client's own wall clock is not used at all; its
// steady clock carries the stamps on between two readings of the nodes' clocks.
//
// A correction that moves by more than the window, and what clocks part by, is adopted
// only after a time in which nothing was stamped for an acquire: clients that follow a
// majority whose clocks jump could otherwise believe in two leases at once.
//
// Not safe for concurrent use.
type Timebase struct {
	need   int
	window int64         // µs
	settle time.Duration // MaxTTL + W

	samples []sample // per node, the latest
	base    int64    // stamp − steady clock, µs
	known   bool

	anchor     int64 // base some time ago; moves are measured from it
	anchorAt   clock.Instant
	slidAt     clock.Instant // when the anchor last followed clocks that are being set right
	moved      bool          // a correction waits to be adopted
	moving     int64
	movedAt    clock.Instant
	lastDrawn  clock.Instant
	everDrawn  bool
	lastStamp  int64
	maxSampled time.Duration
	readEvery  time.Duration
}

type sample struct {
	offset int64 // node's clock − steady clock, µs
	within int64 // by how much it may be wrong: half of what the answer took, and what clocks part by since
	at     clock.Instant
	known  bool
	slow   time.Duration // what the last answer took, if that was too long to tell anything
}

const (
	// parting is how much less two clocks usually part by than the time that passes: 100 µs a second.
	parting = 10_000
	// slewing is the same for clocks that are being set right: 1 ms a second. ntpd slews by half of that at most, so
	// two that it sets right in opposite directions part by so much.
	slewing = 1000
)

// after is s, and what a new reading adds: nothing if it is less exact and does not contradict it. A question
// that was long on its way moved a right clock out of the window of another, into that of a wrong one.
func (s sample) after(n sample) sample {
	within := s.within + n.at.Sub(s.at).Microseconds()/parting
	if s.known && within < n.within && abs(n.offset-s.offset) <= within+n.within {
		n.offset, n.within = s.offset, within
	}
	return n
}

// sampleKept is for how long a reading of a node's clock is used. Clocks of two
// machines part by some 50 µs a second: 60 ms in that time.
const sampleKept = 20 * time.Minute

// strayKept is for how long a reading is used that lies outside of the window around the stamps. A
// node that is right again is not asked for its clock: stamps please it. Kept for longer, readings of
// clocks that were wrong one after the other would look like a majority that moved. When a majority did
// move, one attempt meets them all.
const strayKept = time.Second

// ReadEvery is how often a client reads the clocks, whether it has anything to do or not: its own may not part from
// theirs by more than a quarter of the window, also while one is being set right.
func ReadEvery(window time.Duration) time.Duration { return min(refreshEvery, slewing*window/4) }

// LongestTrip is the longest round trip by which a node's clock can be read, and by which a stamp can reach the node
// inside its window. What is read is wrong by half of the difference of both ways, and the stamp is on its way for
// one of them: together that is half of the round trip, whichever way takes longer. What nodes' clocks differ by
// makes it less.
func LongestTrip(window time.Duration) time.Duration { return 2 * window }

// NewTimebase returns a timebase for n nodes.
func NewTimebase(n int, window, maxTTL time.Duration) *Timebase {
	return &Timebase{
		need: Majority(n), window: window.Microseconds(), settle: maxTTL + window,
		samples: make([]sample, n), maxSampled: LongestTrip(window), readEvery: ReadEvery(window),
	}
}

// Reading is what a node said of its clock, between sent and received.
type Reading struct {
	Node           int
	Time           int64 // µs; 0: nothing
	Sent, Received clock.Instant
}

// Read takes readings of nodes' clocks. One that took longer than LongestTrip says too little and is
// ignored, as is one that is older than what is known. Those that were made together are to be taken
// together: some of them alone may agree on something else.
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

// correct adopts what most readings agree on, or begins to wait.
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

// slid is the anchor where it follows what clocks part by that are being set right. That counts from the last reading: what
// piles up over MaxTTL would let a leap of all clocks pass for slewing, where leases are short and MaxTTL is long.
func (t *Timebase) slid(c int64, now clock.Instant) int64 {
	most := int64(0)
	if t.known && !t.moved {
		most = min(now.Sub(t.slidAt), 2*t.readEvery).Microseconds() / slewing
	}
	t.slidAt = now
	return t.anchor + max(-most, min(c-t.anchor, most))
}

// idle: what this client believes in was granted by other stamps, if anything, and is over.
func (t *Timebase) idle(now clock.Instant) bool {
	return !t.everDrawn || now.Sub(t.lastDrawn) >= t.settle
}

func (t *Timebase) adopt(c int64, now clock.Instant) {
	if c < t.base { // the clocks went back: stamps do not stay where they were ahead
		t.lastStamp = min(t.lastStamp, c+now.Micros())
	}
	t.known, t.base, t.anchor, t.anchorAt, t.moved = true, c, c, now, false
}

// agreed is the middle of the readings that agree: the most that lie within one window, as those of right
// clocks do; not ok if they are no majority. Each of them has half a window to spare. A lying minority may
// agree with some of the right ones, and make as many as all of these are: then those count that are
// closer to the stamps so far or, where there are none, to each other.
//
// Right clocks that need nearly all of the window may be read as further apart. So where no majority agrees, two
// readings may differ by what they may be wrong by, too.
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

// middle is that of the most of all, which are sorted, of which any two lie within a window, and blur times what they
// may be wrong by.
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

// Stamp draws a stamp for an acquire. It fails while no majority of clocks is known, or while a new correction settles.
func (t *Timebase) Stamp(now clock.Instant) (int64, error) {
	if err := t.settled(now); err != nil {
		return 0, err
	}
	t.everDrawn, t.lastDrawn = true, now
	return t.draw(now), nil
}

// Admission returns a stamp for an admission, and within: by how much the clock of the node may differ from it, a window
// at most. It fails as Stamp does, and with Unsettled.Off where the clocks are known too badly. Unlike Stamp it ignores
// Raise: nothing but time may move the begin or the end of a quarantine.
//
// A grant is right whatever its stamp, because a right node took it. An admission has one node, which may be wrong. So
// the stamp must be right itself: with what it may be off, within comes to two windows at most.
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

// off is by how much the stamps may differ from a right clock. One of any majority of nodes is right, and so is one of
// the majority that differs least.
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

// settled is why no stamp can be drawn, or nil. A correction that has settled is adopted.
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

// unknown says why no majority of clocks is known: perhaps those that are missing answered too late.
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

// Unread is for how long the clocks need not be read; 0: they are to be read now. It counts from when those of a
// majority were. What is read before the next stamp is drawn is adopted at once; afterwards it would not be.
func (t *Timebase) Unread(now clock.Instant) time.Duration {
	if !t.known {
		return 0
	}
	return max(t.readAt().Add(t.readEvery).Sub(now), 0)
}

// Overdue reports whether the clocks were not read for so long, as when the host was suspended, that they may have parted
// by a window. A stamp that was drawn before they are read again would keep the client from following them for MaxTTL + W.
func (t *Timebase) Overdue(now clock.Instant) bool {
	return t.known && now.Sub(t.readAt()).Microseconds() > slewing*t.window
}

// readAt is when the clocks of a majority had been read, the last time; some of a majority are known.
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

// StampHeld draws a stamp for what is held already: renewals go on by the clock the
// lease was acquired by, also while a new correction settles.
func (t *Timebase) StampHeld(now clock.Instant) int64 {
	t.everDrawn, t.lastDrawn = true, now // who renews is not idle
	return t.draw(now)
}

func (t *Timebase) draw(now clock.Instant) int64 {
	t.lastStamp = max(t.base+now.Micros(), t.lastStamp+1)
	return t.lastStamp
}

// Raise makes later stamps larger than seen, which a node reported; one that is more
// than a window ahead is not followed.
func (t *Timebase) Raise(seen int64, now clock.Instant) {
	if seen <= t.base+now.Micros()+t.window {
		t.lastStamp = max(t.lastStamp, seen)
	}
}

// StampAt is the stamp time of an instant; it draws nothing.
func (t *Timebase) StampAt(i clock.Instant) int64 { return t.base + i.Micros() }

// Offset is how far a node's clock is from the stamps, as last read; 0 where that is not known.
func (t *Timebase) Offset(node int) (offset time.Duration, known bool) {
	s := t.samples[node]
	if !s.known || !t.known {
		return 0, false
	}
	return time.Duration(s.offset-t.base) * time.Microsecond, true
}

// Unsettled is why no stamp can be drawn.
type Unsettled struct {
	Moved time.Duration // by how much the majority's clocks moved; 0: not known yet
	Left  time.Duration // until the move is adopted

	Took   time.Duration // a majority answers, but within this time only; 0: it does not
	Off    time.Duration // stamps may be off by so much, as read; 0: that is no reason
	Unread time.Duration // the clocks were not read for so long that they may have parted by a window; 0: that is no reason
	Window time.Duration // which is too long, or too much, for this window
}

func (u Unsettled) Error() string {
	switch {
	case u.Took > 0:
		return fmt.Sprintf("a majority of the nodes takes %s to answer; with Window = %s a round trip may take less than %s: "+
			"this machine, the nodes or the network are too busy, or far apart: then set a Window above %s for all clients",
			u.Took.Round(time.Millisecond), u.Window, LongestTrip(u.Window), (u.Took / 2).Round(time.Millisecond))
	case u.Off > 0:
		return fmt.Sprintf("the nodes' clocks are read as up to %s off the middle, half of a round trip included: too much for Window = %s; set a Window above %s for all clients, or set the clocks right",
			u.Off.Round(time.Millisecond), u.Window, u.Off.Round(time.Millisecond))
	case u.Unread > 0:
		return fmt.Sprintf("the nodes' clocks were last read %s ago, and are to be read again before a lock is taken", u.Unread.Round(time.Second))
	case u.Moved == 0:
		return "it answers, but fewer than a majority of the nodes do, or their clocks differ by more than the window"
	}
	return fmt.Sprintf("the clocks of a majority of the nodes moved by %+.1fs; they are trusted again in %s",
		u.Moved.Seconds(), u.Left.Round(100*time.Millisecond))
}

func abs(x int64) int64 { return max(x, -x) }
