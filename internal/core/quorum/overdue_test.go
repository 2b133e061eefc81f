package quorum

import (
	"errors"
	"testing"
	"time"
)

// A host sleeps for an hour, and its clock drifts from the nodes' clocks by more than a window. If the client drew a
// stamp before a reading, it would count as at work. A client at work does not follow a move for MaxTTL + W.
func TestClocksThatWereNotReadForLongAreReadBeforeAStamp(t *testing.T) {
	tb := NewTimebase(3, w, maxTTL)
	for node := range 3 {
		tell(tb, node, 0, at(0))
	}
	if _, err := tb.Stamp(at(0)); err != nil {
		t.Fatal(err)
	}
	if _, err := tb.Stamp(at(1000 * w)); err != nil {
		t.Errorf("before they can have parted by a window: %v", err)
	}
	woke := at(time.Hour)
	tell(tb, 2, 0, woke) // one node is no majority
	var unsettled Unsettled
	if _, err := tb.Stamp(woke); !errors.As(err, &unsettled) || unsettled.Unread != time.Hour {
		t.Fatalf("after an hour: %v", err)
	}
	if _, _, err := tb.Admission(woke); !errors.As(err, &unsettled) || unsettled.Unread != time.Hour {
		t.Errorf("for an admission, after an hour: %v", err)
	}
	for node := range 3 {
		tell(tb, node, 2*w, woke)
	}
	if s, err := tb.Stamp(woke); err != nil || s < epoch+woke.Micros()+(2*w).Microseconds()-1 {
		t.Errorf("when they were read: %d, %v", s-epoch, err)
	}
}
