package quorum

import (
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// This file draws stamps from a [Timebase].

// Stamp draws a stamp for an acquire. It returns an error while no majority of clocks is known, and while a move
// settles.
func (t *Timebase) Stamp(now clock.Instant) (int64, error) {
	if err := t.settled(now); err != nil {
		return 0, err
	}
	t.everDrawn, t.lastDrawn = true, now
	return t.draw(now), nil
}

// Admission returns a stamp for an admission. The result within is the largest permitted difference between the node's
// clock and the stamp, a window at most. Admission returns the errors of Stamp. If the clocks are not known well
// enough, it returns an Unsettled with the field Off. Unlike Stamp, Admission ignores Raise: a high token must not
// change the beginning or the end of a quarantine.
//
// For an acquire, the stamp itself need not be right: a majority accepted it, and one node of any majority has a right
// clock. For an admission there is only one node, and its clock may be wrong. So the stamp must be right: its possible
// error plus within is two windows at most.
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

// off returns the largest possible difference between the stamps and a right clock. Each majority of nodes contains a
// right clock. So off takes the majority of clocks that differ least from the stamps, and returns the largest
// difference among them.
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

// settled returns nil if a stamp can be drawn, otherwise the reason. It adopts a move that has settled.
func (t *Timebase) settled(now clock.Instant) error {
	if t.moved && now.Sub(t.movedAt) >= t.settle {
		t.adopt(t.moving, now)
	}
	if !t.known {
		return t.unknown()
	}
	if t.Overdue(now) {
		return Unsettled{Unread: now.Sub(t.readAt)}
	}
	if t.moved {
		return Unsettled{Moved: time.Duration(t.moving-t.anchor) * time.Microsecond, Left: t.settle - now.Sub(t.movedAt)}
	}
	return nil
}

// Known reports whether the clocks of a majority are known.
func (t *Timebase) Known() bool { return t.known }

// unknown returns the reason why no majority of clocks is known. Too long round trips are one possible reason.
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
	return Unsettled{Few: known < t.need, Apart: known >= t.need}
}

// StampHeld draws a stamp for a renewal. While a move settles, renewals continue with the correction of the acquire.
func (t *Timebase) StampHeld(now clock.Instant) int64 {
	t.everDrawn, t.lastDrawn = true, now // a client that renews is not idle
	return t.draw(now)
}

func (t *Timebase) draw(now clock.Instant) int64 {
	t.lastStamp = max(t.base+now.Micros(), t.lastStamp+1)
	return t.lastStamp
}

// Raise makes later stamps higher than seen, a token that a node has seen. It ignores a token that is more than a
// window ahead of the stamps.
func (t *Timebase) Raise(seen int64, now clock.Instant) {
	if seen <= t.base+now.Micros()+t.window {
		t.lastStamp = max(t.lastStamp, seen)
	}
}

// StampAt converts an instant into stamp time. It draws no stamp.
func (t *Timebase) StampAt(i clock.Instant) int64 { return t.base + i.Micros() }

// Time returns the stamp time of now. Unlike Stamp, it draws no stamp. It returns the same errors as Stamp.
func (t *Timebase) Time(now clock.Instant) (int64, error) {
	if err := t.settled(now); err != nil {
		return 0, err
	}
	return t.StampAt(now), nil
}
