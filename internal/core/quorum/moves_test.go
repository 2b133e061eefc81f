package quorum

import (
	"errors"
	"testing"
	"time"
)

// ntpd slews a clock by 500 µs a second. Two clocks that ntpd sets right in opposite directions drift apart by a
// millisecond a second.
func TestClocksThatAreSetRightAreNoMove(t *testing.T) {
	for _, window := range []time.Duration{10 * time.Millisecond, w} {
		for _, maxTTL := range []time.Duration{8 * window, time.Hour} {
			tb, now := NewTimebase(3, window, maxTTL), at(time.Second)
			for range 5000 {
				for node := range 3 {
					tell(tb, node, time.Duration(now/1000), now)
				}
				for range 10 {
					s, err := tb.Stamp(now)
					if off := s - epoch - now.Micros() - now.Micros()/1000; err != nil || abs(off) > window.Microseconds()/4 {
						t.Fatalf("window %s, MaxTTL %s: after %s stamps are %d µs off; %v", window, maxTTL, time.Duration(now), off, err)
					}
					now = now.Add(ReadEvery(window) / 10)
				}
			}
		}
	}
}

// The drift of clocks that are being set right counts from the last reading. Otherwise the drift during a long MaxTTL
// would add up to more than a short lease, and the client would follow a leap at once.
func TestALeapIsAMoveHoweverLongTheClocksWereRight(t *testing.T) {
	tb := NewTimebase(1, w, 30*time.Minute)
	now := at(0)
	for now < at(29*time.Minute) {
		tell(tb, 0, 0, now)
		if _, err := tb.Stamp(now); err != nil {
			t.Fatal(err)
		}
		now = now.Add(ReadEvery(w))
	}
	tell(tb, 0, w+time.Second, now)
	var unsettled Unsettled
	if _, err := tb.Stamp(now); !errors.As(err, &unsettled) {
		t.Errorf("after a leap of %s: %v; want that it is waited for", w+time.Second, err)
	}
}

// Clients that follow a majority of jumping clocks at once could hold one lock twice. The clock model finds this with
// -calib.
func TestAMoveBeyondTheWindowIsAdoptedAfterMaxTTL(t *testing.T) {
	tb := NewTimebase(1, w, maxTTL)
	tell(tb, 0, 0, at(0))
	if _, err := tb.Stamp(at(0)); err != nil {
		t.Fatal(err)
	}
	now := at(time.Second)
	tell(tb, 0, time.Hour, now)
	var unsettled Unsettled
	if _, err := tb.Stamp(now); !errors.As(err, &unsettled) || unsettled.Left != maxTTL+w || unsettled.Moved != time.Hour {
		t.Fatalf("right after the move: %v (%+v)", err, unsettled)
	}
	if s := tb.StampHeld(now); abs(s-epoch-now.Micros()) > 1 {
		t.Errorf("a renewal's stamp followed the move: %d", s-epoch)
	}
	if _, err := tb.Stamp(now.Add(maxTTL + w - time.Millisecond)); err == nil {
		t.Error("adopted too early")
	}
	if s, err := tb.Stamp(now.Add(maxTTL + w)); err != nil || s < epoch+time.Hour.Microseconds() {
		t.Errorf("not adopted in time: %v", err)
	}
}

func TestABlipIsForgotten(t *testing.T) {
	tb := NewTimebase(1, w, maxTTL)
	tell(tb, 0, 0, at(0))
	tb.Stamp(at(0))
	tell(tb, 0, time.Hour, at(time.Second))
	tell(tb, 0, time.Millisecond, at(2*time.Second))
	if _, err := tb.Stamp(at(2 * time.Second)); err != nil {
		t.Errorf("after the clock was right again: %v", err)
	}
}

func TestSmallMovesDoNotAddUpToALargeOne(t *testing.T) {
	tb := NewTimebase(1, w, maxTTL)
	for i := range 8 {
		now := at(time.Duration(i) * 100 * time.Millisecond)
		tell(tb, 0, time.Duration(i)*w/2, now)
		_, err := tb.Stamp(now)
		if large := i > 2; large != (err != nil) {
			t.Fatalf("after %d moves by W/2: %v", i, err)
		}
	}
}

func TestAnIdleClientFollowsAtOnce(t *testing.T) {
	tb := NewTimebase(1, w, maxTTL)
	tell(tb, 0, 0, at(0))
	tb.Stamp(at(0))
	later := at(maxTTL + w)
	tell(tb, 0, time.Hour, later)
	if s, err := tb.Stamp(later); err != nil || s < epoch+time.Hour.Microseconds() {
		t.Errorf("a client that held nothing for MaxTTL + W: %v", err)
	}
}

// A client that drew a stamp within MaxTTL + W may hold a lease.
func TestAClientThatWasAtWorkDoesNotFollowAtOnce(t *testing.T) {
	tb := NewTimebase(1, w, maxTTL)
	tell(tb, 0, 0, at(0))
	tb.Stamp(at(0))
	later := at(maxTTL + w - 1)
	tell(tb, 0, time.Hour, later)
	if s, err := tb.Stamp(later); err == nil {
		t.Errorf("a client that acquired within MaxTTL + W follows a leap at once: %d", s)
	}
}

// A client that followed a leap goes back with the clocks. Otherwise the nodes would refuse each of its stamps for the
// duration of the leap.
func TestStampsGoBackWithTheClocks(t *testing.T) {
	tb := NewTimebase(1, w, maxTTL)
	tell(tb, 0, time.Hour, at(0))
	tb.Stamp(at(0))
	later := at(maxTTL + w)
	tell(tb, 0, 0, later)
	s, err := tb.Stamp(later)
	if off := s - epoch - later.Micros(); err != nil || off > w.Microseconds() {
		t.Errorf("an hour back, stamps are %d µs ahead, %v", off, err)
	}
}

// A client that only renews is not idle: it holds a lease.
func TestAClientThatOnlyRenewsWaitsBeforeItFollows(t *testing.T) {
	tb := NewTimebase(1, w, maxTTL)
	tell(tb, 0, 0, at(0))
	tb.Stamp(at(0))
	later := at(maxTTL + w)
	tb.StampHeld(later - 1)
	tell(tb, 0, time.Hour, later)
	if s, err := tb.Stamp(later); err == nil {
		t.Errorf("a client that renewed a lease a moment ago follows a leap at once: %d", s)
	}
}
