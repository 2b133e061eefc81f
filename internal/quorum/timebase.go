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
// A correction that moves by more than the window is adopted only after a time in
// which nothing was stamped for an acquire: clients that follow a majority whose
// clocks jump could otherwise believe in two leases at once.
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
	moved      bool // a correction waits to be adopted
	moving     int64
	movedAt    clock.Instant
	lastDrawn  clock.Instant
	everDrawn  bool
	lastStamp  int64
	maxSampled time.Duration
	readEvery  time.Duration
	agreedAt   clock.Instant // when readings last agreed
}

type sample struct {
	offset int64 // node's clock − steady clock, µs
	within int64 // by how much it may be wrong: half of what the answer took, and what clocks part by since
	at     clock.Instant
	known  bool
}

// parting is how much less two clocks part by than the time that passes: 100 µs a second.
const parting = 10_000

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

// ReadEvery is how often a client that has nothing to do reads the clocks: its own may not part from theirs by
// much before it draws a stamp. At most ten minutes, as long as a node that is used is not asked for its clock.
func ReadEvery(window time.Duration) time.Duration { return min(refreshEvery, parting*window/4) }

// NewTimebase returns a timebase for n nodes.
func NewTimebase(n int, window, maxTTL time.Duration) *Timebase {
	return &Timebase{
		need: Majority(n), window: window.Microseconds(), settle: maxTTL + window,
		samples: make([]sample, n), maxSampled: window, readEvery: ReadEvery(window),
	}
}

// Reading is what a node said of its clock, between sent and received.
type Reading struct {
	Node           int
	Time           int64 // µs; 0: nothing
	Sent, Received clock.Instant
}

// Read takes readings of nodes' clocks. One that took longer than the window says too little and is
// ignored, as is one that is older than what is known. Those that were made together are to be taken
// together: some of them alone may agree on something else.
func (t *Timebase) Read(now clock.Instant, readings ...Reading) {
	taken := false
	for _, r := range readings {
		known := t.samples[r.Node]
		if r.Received.Sub(r.Sent) > t.maxSampled || r.Time <= 0 || known.known && r.Received < known.at {
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
	t.agreedAt = now
	switch {
	case !t.known, t.idle(now):
		t.adopt(c, now)
	case abs(c-t.anchor) <= t.window:
		t.base, t.moved = c, false
		if now.Sub(t.anchorAt) >= t.settle {
			t.anchor, t.anchorAt = c, now
		}
	case !t.moved || abs(c-t.moving) > t.window:
		t.moved, t.moving, t.movedAt = true, c, now
	case now.Sub(t.movedAt) >= t.settle:
		t.adopt(c, now)
	}
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
func (t *Timebase) agreed(now clock.Instant) (middle int64, ok bool) {
	var buf [32]int64
	offsets := buf[:0]
	for _, s := range t.samples {
		kept := sampleKept
		if t.known && abs(s.offset-t.base) > t.window {
			kept = strayKept
		}
		if s.known && now.Sub(s.at) < kept {
			offsets = append(offsets, s.offset)
		}
	}
	slices.SortFunc(offsets, cmp.Compare[int64])
	most, least, first := 0, int64(0), 0
	for last := range offsets {
		for offsets[last]-offsets[first] > t.window {
			first++
		}
		n, m := last-first+1, (offsets[first]+offsets[last])/2
		far := offsets[last] - offsets[first]
		if t.known {
			far = abs(m - t.base)
		}
		if n > most || n == most && far < least {
			most, least, middle = n, far, m
		}
	}
	return middle, most >= t.need
}

// Stamp draws a stamp for an acquire or an admission. It fails while no majority of
// clocks is known, or while a new correction settles.
func (t *Timebase) Stamp(now clock.Instant) (int64, error) {
	if t.moved && now.Sub(t.movedAt) >= t.settle {
		t.adopt(t.moving, now)
	}
	if !t.known {
		return 0, Unsettled{}
	}
	if t.moved {
		return 0, Unsettled{Moved: time.Duration(t.moving-t.anchor) * time.Microsecond, Left: t.settle - now.Sub(t.movedAt)}
	}
	t.everDrawn, t.lastDrawn = true, now
	return t.draw(now), nil
}

// Known reports whether the clocks of a majority are known.
func (t *Timebase) Known() bool { return t.known }

// Unread is for how long the clocks need not be read, though the client has nothing to do; 0: they are to be
// read now. What is read before the next stamp is drawn is adopted at once; afterwards it would not be.
func (t *Timebase) Unread(now clock.Instant) time.Duration {
	return max(t.agreedAt.Add(t.readEvery).Sub(now), 0)
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
}

func (u Unsettled) Error() string {
	if u.Moved == 0 {
		return "it answers, but fewer than a majority of the nodes do, or their clocks differ by more than the window"
	}
	return fmt.Sprintf("the clocks of a majority of the nodes moved by %+.1fs; they are trusted again in %s",
		u.Moved.Seconds(), u.Left.Round(100*time.Millisecond))
}

func abs(x int64) int64 { return max(x, -x) }
