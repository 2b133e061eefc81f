//go:build linux

package chaos

import (
	"encoding/json"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Event is one report of a client process, as one line of JSON.
type Event struct {
	At   int64 // in ns of CLOCK_MONOTONIC
	What what

	Loop     int    `json:",omitempty"`
	Lease    int64  `json:",omitempty"` // the number of the wish in its process
	Name     string `json:",omitempty"`
	Token    int64  `json:",omitempty"`
	Deadline int64  `json:",omitempty"` // in the same unit as At; 0: the lock gives no deadline
	Shared   bool   `json:",omitempty"` // the client is a reader
	Lost     bool   `json:",omitempty"` // for over: the lock was lost, not released

	// These fields belong to the event over. Element is what the client wrote. Acked has the resources that
	// acknowledged this write, and Refused those that refused it.
	Element string   `json:",omitempty"`
	Acked   []string `json:",omitempty"`
	Refused []string `json:",omitempty"`

	Since int64 `json:",omitempty"` // for stood, in the same unit as At

	Notes map[string]int `json:",omitempty"` // the refusals since the last event
}

type what string

// These are the reports of a client.
const (
	wants what = "wants" // the client begins to wait
	asks  what = "asks"  // a call of the client has failed, and the client calls again
	has   what = "has"   // the client got the lock
	keeps what = "keeps" // the client's deadline moved
	over  what = "over"  // the client no longer relies on the lock; it reports this before it unlocks
	stops what = "stops" // the client will stop itself now
	stood what = "stood" // the client got no processor for a while, until now
	idle  what = "idle"  // the client's loops have ended: it no longer wants or holds anything
	fault what = "fault" // the client itself failed

	// These reports come from misfits: clients that the nodes must refuse. A misfit that gets the lock reports the
	// event has.
	tried  what = "tried"  // the nodes refused the client for the right reason
	unsure what = "unsure" // the client's attempt failed for another reason
)

// Monotonic returns the time of CLOCK_MONOTONIC, the clock of events.
func Monotonic() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(err) // every kernel has this clock
	}
	return ts.Nano()
}

// onMonotonic converts an instant of Go's clock into CLOCK_MONOTONIC. It reads both clocks. The process may be stopped
// between the two readings, so onMonotonic repeats them until they are close together.
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
	_, _ = os.Stdout.Write(append(b, '\n')) // one write call, so that a killed process reports all or nothing
}

// pulse reports each time in which the process waited for a processor, because the machine was busy or paused. A
// process that does not run cannot learn of a loss. pulse uses no part of the lock, so it never excuses a delay that
// the lock itself causes.
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
