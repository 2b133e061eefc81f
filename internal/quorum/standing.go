package quorum

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/clock"
	"github.com/holdfast-go/holdfast/internal/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// Step is what is to be done next with a node before calls can be sent to it.
type Step uint8

// Steps.
const (
	Greet  Step = iota // ask hello
	Admit              // ask admit, with a stamp that a majority confirms
	Send               // it votes: send the calls
	Refuse             // it does not vote for now: answer the calls with Standing.Refusal
)

const (
	// refreshEvery keeps the guard (1 h) and the reading of the node's clock fresh.
	refreshEvery = 10 * time.Minute
	// askAgain is how long a refusal that only an operator can end is believed.
	askAgain = time.Second
	// askSoon is how long a failure to reach the node is: all that waited meanwhile is
	// answered for at once instead of trying, and timing out, one after the other.
	askSoon = 50 * time.Millisecond
)

// Standing is what a client knows of one node's right to vote.
//
// Not safe for concurrent use.
type Standing struct {
	config  nodescript.Config
	scripts *nodescript.Scripts // for the incarnation last met; nil before the first hello
	loaded  bool                // the node has them
	version string

	step    Step
	refusal nodescript.Answer
	until   clock.Instant // of a refusal: then the node is asked again
	votes   clock.Instant // of a quarantine: its end
	since   clock.Instant // of the last admission or refresh
}

// NewStanding returns the standing of a node never met.
func NewStanding(c nodescript.Config) *Standing { return &Standing{config: c} }

// Next returns the next step at now.
func (s *Standing) Next(now clock.Instant) Step {
	if s.step == Refuse && now >= s.until {
		s.step = Greet
	}
	return s.step
}

// Scripts are the scripts for the node's incarnation, nil before the first hello.
func (s *Standing) Scripts() *nodescript.Scripts { return s.scripts }

// PassesDoor reports whether op can be sent although the node does not vote: what gives
// back, late or to a quarantined node, still does. To one that was not reached a moment
// ago it would only cost another try.
func (s *Standing) PassesDoor(op nodescript.Op) bool {
	unreached := s.step == Refuse && s.refusal.Verdict == nodescript.Failed
	return s.loaded && !unreached && op.GivesBack()
}

// Refusal is the answer to calls while the node does not vote.
func (s *Standing) Refusal(now clock.Instant) nodescript.Answer {
	a := s.refusal
	switch a.Verdict {
	case nodescript.Unanswered: // never refused: it is being met, and what changed meanwhile is not known yet
		a.Verdict = nodescript.NotAdmitted
	case nodescript.Quarantined:
		a.Left = max(s.votes.Sub(now), 0)
	}
	return a
}

// Version and Run describe the incarnation last met; empty before the first hello.
func (s *Standing) Version() string { return s.version }

// Run is the run id last met.
func (s *Standing) Run() string {
	if s.scripts == nil {
		return ""
	}
	return s.scripts.Run
}

// Greeted takes the answer to hello. twin is the address of another node of the list
// that is the same server, or "".
func (s *Standing) Greeted(now clock.Instant, h nodescript.Hello, err error, twin string) {
	if err != nil {
		s.refuse(now, askSoon, nodescript.Answer{Verdict: nodescript.Failed, Err: err})
		return
	}
	if s.scripts == nil || s.scripts.Run != h.Run {
		s.scripts, s.loaded = nodescript.NewScripts(s.config, h.Run), false
	}
	s.version = h.Version
	if twin != "" {
		s.refuse(now, askAgain, nodescript.Answer{Verdict: nodescript.Duplicate, Detail: twin})
		return
	}
	if why := h.Unfit(); why != "" {
		s.refuse(now, askAgain, nodescript.Answer{Verdict: nodescript.Unfit, Detail: why})
		return
	}
	s.step = Admit
}

// Unsettled says that no stamp could be drawn for an admission.
func (s *Standing) Unsettled(now clock.Instant, err error) {
	s.refuse(now, askSoon, nodescript.Answer{Verdict: nodescript.Failed, Err: err})
}

// Admitted takes the answer to admit.
func (s *Standing) Admitted(now clock.Instant, a nodescript.Answer) {
	s.loaded = s.loaded || a.Verdict != nodescript.Failed
	switch a.Verdict {
	case nodescript.Done:
		s.step, s.since = Send, now
	case nodescript.Quarantined:
		// Asked again before its end: an operator may vouch for the node meanwhile.
		s.votes = now.Add(a.Left)
		s.refuse(now, min(a.Left, askAgain), a)
	case nodescript.NotAdmitted: // restarted since hello
		s.refuse(now, 0, a)
	case nodescript.Failed:
		s.refuse(now, askSoon, a)
	default:
		s.refuse(now, askAgain, a)
	}
}

// Forgot says that a node that voted does not know a script or its guard any more.
func (s *Standing) Forgot() {
	s.step, s.loaded = Greet, false
}

// Doubt says that a node that voted may not be what it was: it is met anew. Its scripts
// are taken for loaded until then, so that releases still go out; if they are not, the
// node says so.
func (s *Standing) Doubt() {
	if s.step == Send {
		s.step = Greet
	}
}

// Broke says that a call failed in a way that makes the node doubtful; of one that is
// in doubt already nothing more is expected for a moment.
func (s *Standing) Broke(now clock.Instant, err error) {
	switch s.step {
	case Send:
		s.Doubt()
	case Greet:
		s.refuse(now, askSoon, nodescript.Answer{Verdict: nodescript.Failed, Err: err})
	}
}

// RefreshDue reports whether the guard of a voting node is to be refreshed.
func (s *Standing) RefreshDue(now clock.Instant) bool {
	return s.step == Send && now.Sub(s.since) >= refreshEvery
}

// Refreshed notes the time of a refresh, also of one that failed: it is not repeated
// with every call.
func (s *Standing) Refreshed(now clock.Instant) { s.since = now }

// refuse answers for the node for d. Whatever its error says, the calls that get it were never sent.
func (s *Standing) refuse(now clock.Instant, d time.Duration, a nodescript.Answer) {
	a.Err = node.NotSent(a.Err)
	s.step, s.refusal, s.until = Refuse, a, now.Add(d)
}
