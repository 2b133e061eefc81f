package gauges

import (
	"testing"
	"time"
)

func TestTheWorstStateOfANodeCounts(t *testing.T) {
	good := Node{Known: true, Up: true, Votes: true, Offset: time.Millisecond, OffsetKnown: true, RoundTrip: time.Second, Pending: 1}
	bad := Node{Known: true, Misfit: true, Offset: -2 * time.Millisecond, OffsetKnown: true, RoundTrip: time.Millisecond, Pending: 2}
	want := Node{Known: true, Misfit: true, Offset: -2 * time.Millisecond, OffsetKnown: true, RoundTrip: time.Second, Pending: 3}
	if a, b := good.worse(bad), bad.worse(good); a != want || b != want {
		t.Errorf("got %+v and %+v, want %+v", a, b, want)
	}
	if got := good.worse(Node{}); got != good {
		t.Errorf("an unknown state changes %+v to %+v", good, got)
	}
	if got := (Node{}).worse(good); got != good {
		t.Errorf("an unknown state hides %+v: %+v", good, got)
	}
}
