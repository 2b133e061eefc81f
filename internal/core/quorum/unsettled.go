package quorum

import (
	"fmt"
	"time"
)

// Unsettled is the reason why no stamp can be drawn.
type Unsettled struct {
	Moved time.Duration // how far the clocks of a majority moved; 0: they did not move, or they are unknown
	Left  time.Duration // the time until the move settles

	Took   time.Duration // a majority takes at least this long to answer; 0: this is not the reason
	Off    time.Duration // stamps may be wrong by this much; 0: this is not the reason
	Unread time.Duration // the time since the last reading, if that is too long; 0: this is not the reason
	Window time.Duration // the window, if Took or Off is too large for it

	Few    bool // fewer than a majority of the clocks are known
	Apart  bool // a majority of the clocks is known, and they differ by more than the window
	Unkept bool // the clocks agree, and fewer than a majority of the nodes keep what a client writes
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
	case u.Few:
		return "this node answers; too few others answer"
	case u.Apart:
		return "this node answers; the nodes' clocks differ by more than the window"
	case u.Unkept:
		return "this node answers; too few others accept writes"
	case u.Moved == 0:
		return "this node answers; too few others answer and accept writes, or the clocks differ by more than the window"
	}
	return fmt.Sprintf("the clocks of a majority of the nodes moved by %+.1fs; they are trusted again in %s",
		u.Moved.Seconds(), u.Left.Round(100*time.Millisecond))
}
