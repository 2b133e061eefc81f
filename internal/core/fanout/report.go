package fanout

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// Report is a client's present knowledge of a node. It needs no question to the node.
type Report struct {
	// Last is the reason why the node does not vote, as VoteChanged got it last. Its verdict is Done if the node voted
	// when it was last asked, and Unanswered if this client has not asked for its vote yet.
	Last   nodescript.Answer
	Trip   time.Duration // the round trip of the last greeting or reading of the clock; 0 if it is unknown
	Parked int           // the number of releases and quits that the node could not get yet
}

// Report returns the client's present knowledge of a node.
func (f *Fanout) Report(node int) Report {
	v := f.voters[node]
	v.mu.Lock()
	r := Report{Last: v.why, Trip: v.trip}
	if v.announced == (refused{}) && v.greeted != 0 {
		r.Last.Verdict = nodescript.Done
	}
	v.mu.Unlock()
	p := &f.senders[node].parked
	p.mu.Lock()
	defer p.mu.Unlock()
	r.Parked = len(p.messages)
	return r
}

// Answered reports whether a node has ever answered this client. VoteChanged may call it.
func (f *Fanout) Answered(node int) bool { return f.voters[node].heard.Load() }

// noteTrip notes the round trip of a hello.
func (v *voter) noteTrip(took time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.trip = took
}
