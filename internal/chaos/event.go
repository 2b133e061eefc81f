//go:build linux

package chaos

import (
	"encoding/json"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Event is what a client process says, one line of JSON each.
type Event struct {
	At   int64 // ns of CLOCK_MONOTONIC
	What what

	Loop     int    `json:",omitempty"`
	Lease    int64  `json:",omitempty"` // counts the wishes of a process
	Name     string `json:",omitempty"`
	Token    int64  `json:",omitempty"`
	Deadline int64  `json:",omitempty"` // as At; 0: the lock does not say
	Lost     bool   `json:",omitempty"` // of over: not given back, but lost

	// Of over: which writes were acknowledged and which refused, by resource, and what they
	// wrote.
	Element string   `json:",omitempty"`
	Acked   []string `json:",omitempty"`
	Refused []string `json:",omitempty"`

	Since int64 `json:",omitempty"` // of stood, as At

	Notes map[string]int `json:",omitempty"` // what was refused since the last event
}

type what string

// What a client says.
const (
	wants what = "wants" // it begins to wait
	has   what = "has"   // it got the lock
	keeps what = "keeps" // its deadline has moved
	over  what = "over"  // it does not believe in the lock any more; said before it unlocks
	stops what = "stops" // it is about to stop itself
	stood what = "stood" // it got no processor for a while, until now
	idle  what = "idle"  // its loops have ended: it wants and holds nothing any more
	fault what = "fault" // the client itself failed

	// Of misfits, which may also have a lock.
	tried  what = "tried"  // it was refused as what it is
	unsure what = "unsure" // its attempt came to nothing, and that was not said
)

// Monotonic reads the clock of events.
func Monotonic() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(err) // no kernel lacks it
	}
	return ts.Nano()
}

// onMonotonic converts an instant of Go's clock. Its process may be stopped between two
// readings, so they are repeated until they lie close together.
func onMonotonic(t func() time.Time) int64 {
	for {
		before := Monotonic()
		left := time.Until(t())
		if Monotonic()-before < int64(200*time.Microsecond) {
			return before + int64(left)
		}
	}
}

// teller writes events to standard output.
type teller struct {
	mu    sync.Mutex
	notes map[string]int
}

func (t *teller) note(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.notes == nil {
		t.notes = map[string]int{}
	}
	t.notes[what]++
}

func (t *teller) tell(e Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e.At == 0 {
		e.At = Monotonic()
	}
	e.Notes, t.notes = t.notes, nil
	b, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	_, _ = os.Stdout.Write(append(b, '\n')) // one write: whoever is killed says all or nothing
}

// pulse tells of each stretch in which the process was kept waiting for a processor: by a busy machine, or one that
// stood still itself. Who does not run cannot be told of anything. It does not take part in the lock, so that it
// does not excuse what the lock does late by itself.
func (t *teller) pulse(until <-chan struct{}) {
	const nap, late = 50 * time.Millisecond, 30 * time.Millisecond
	for {
		before := Monotonic()
		select {
		case <-until:
			return
		case <-time.After(nap):
		}
		if now := Monotonic(); now-before > int64(nap+late) {
			t.tell(Event{What: stood, At: now, Since: before})
		}
	}
}
