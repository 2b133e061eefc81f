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
	Admit              // ask admit, with Challenge and a stamp that a majority confirms, drawn now
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
	// mostChallenges in a row are answered at once: a node may lose its memory between two.
	mostChallenges = 3
)

// Standing is what a client knows of one node's right to vote.
//
// Not safe for concurrent use.
type Standing struct {
	config  nodescript.Config
	scripts *nodescript.Scripts // for the incarnation last met; nil before the first hello
	loaded  bool                // the node has them
	version string

	step      Step
	refusal   nodescript.Answer
	unreached bool          // of a refusal: the node did not answer
	until     clock.Instant // of a refusal: then the node is asked again
	votes     clock.Instant // of a quarantine: its end
	since     clock.Instant // of the last admission or refresh

	challenge string // what the node answered to admit last; "" if it votes
	asked     int    // challenges in a row
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
// back is sent to every node that answers, whatever keeps that from voting. To one that was
// not reached a moment ago it would only cost another try.
func (s *Standing) PassesDoor(op nodescript.Op) bool {
	return s.loaded && !(s.step == Refuse && s.unreached) && op.GivesBack()
}

// Loaded reports whether the node of the incarnation last met has the scripts.
func (s *Standing) Loaded() bool { return s.loaded }

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

// Challenge is what the next admit has to carry, and what an operator's voucher for the node as it is known names. It is
// "" where the node votes, or was not met.
func (s *Standing) Challenge() string { return s.challenge }

// Quarantine returns what the node said of its quarantine when it was last asked, while that lasts: also while it is
// being asked again.
func (s *Standing) Quarantine(now clock.Instant) (a nodescript.Answer, ok bool) {
	if s.step == Send || s.refusal.Verdict != nodescript.Quarantined || s.votes <= now {
		return a, false
	}
	return s.Refusal(now), true
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
		s.failed(now, err)
		return
	}
	if s.scripts == nil || s.scripts.Run != h.Run {
		s.scripts, s.loaded = nodescript.NewScripts(s.config, h.Run), false
	}
	s.version = h.Version
	if twin != "" {
		s.refuse(now, askAgain, nodescript.Answer{Verdict: nodescript.Duplicate, Evidence: &nodescript.Evidence{Value: twin}})
		return
	}
	if why, evidence := h.Unfit(); why != nodescript.NoCause {
		s.refuse(now, askAgain, nodescript.Answer{Verdict: nodescript.Unfit, Cause: why, Evidence: evidence})
		return
	}
	s.step = Admit
}

// Unsettled says that no stamp could be drawn for an admission; loaded, that the node has
// the scripts all the same.
func (s *Standing) Unsettled(now clock.Instant, loaded bool, err error) {
	s.loaded = s.loaded || loaded
	s.refuse(now, askSoon, nodescript.Answer{Verdict: nodescript.Failed, Err: err})
}

// NoMember says why the vote of a node that was admitted does not count.
func (s *Standing) NoMember(now clock.Instant, a nodescript.Answer) {
	again := askAgain
	switch a.Verdict {
	case nodescript.Failed:
		again = askSoon
	case nodescript.Quarantined:
		s.votes, again = now.Add(a.Left), min(a.Left, askAgain)
	}
	s.refuse(now, again, a)
}

// Doubt has a node that votes met anew: its server may be none of the node set's.
func (s *Standing) Doubt() {
	if s.step == Send {
		s.step = Greet
	}
}

// Asked takes the answer to admit of a node that was asked while it voted. An answer that
// says nothing of its right to vote takes that away from nobody: calls find out by themselves.
func (s *Standing) Asked(now clock.Instant, a nodescript.Answer) {
	if s.step == Send && a.Verdict != nodescript.Failed && a.Verdict != nodescript.OffClock {
		s.Admitted(now, a)
	}
}

// Admitted takes the answer to admit.
func (s *Standing) Admitted(now clock.Instant, a nodescript.Answer) {
	if s.step == Greet {
		return // somebody came to doubt the node while it was asked
	}
	s.loaded = s.loaded || a.Verdict != nodescript.Failed && a.Verdict != nodescript.NotAdmitted // no scripts follow an error
	if s.asked++; a.Verdict != nodescript.Challenged {
		s.asked = 0
	}
	switch a.Verdict {
	case nodescript.Done, nodescript.Challenged, nodescript.Quarantined, nodescript.Misconfigured:
		s.challenge = a.Names
	}
	switch a.Verdict {
	case nodescript.Done:
		s.step, s.since = Send, now
	case nodescript.Challenged:
		if s.step = Admit; s.asked >= mostChallenges {
			s.asked = 0
			s.refuse(now, askSoon, a)
		}
	case nodescript.Quarantined:
		// Asked again before its end: an operator may vouch for the node meanwhile.
		s.votes = now.Add(a.Left)
		s.refuse(now, min(a.Left, askAgain), a)
	case nodescript.NotAdmitted: // restarted since hello
		s.refuse(now, 0, a)
	case nodescript.Failed:
		s.failed(now, a.Err)
	default:
		s.refuse(now, askAgain, a)
	}
}

// Reconsider has a node asked anew that was refused.
func (s *Standing) Reconsider() {
	if s.step == Refuse {
		s.step = Greet
	}
}

// Forgot says that a node that voted does not know a script or its guard any more.
func (s *Standing) Forgot() {
	s.step, s.loaded = Greet, false
}

// Broke says that a call failed in a way that makes the node doubtful: it may not be what
// it was, and is met anew. Its scripts are taken for loaded until then, so that releases
// still go out; if they are not, the node says so. Of a node that is in doubt already
// nothing more is expected for a moment.
func (s *Standing) Broke(now clock.Instant, err error) {
	switch s.step {
	case Send, Admit:
		s.step = Greet
	case Greet:
		s.failed(now, err)
	}
}

// RefreshDue reports whether the guard of a voting node is to be refreshed.
func (s *Standing) RefreshDue(now clock.Instant) bool {
	return s.step == Send && now.Sub(s.since) >= refreshEvery
}

// Refreshed notes the time of a refresh, also of one that failed: it is not repeated
// with every call.
func (s *Standing) Refreshed(now clock.Instant) { s.since = now }

// failed answers for a node that was not reached, or that answered with an error of its server.
func (s *Standing) failed(now clock.Instant, err error) {
	s.refuse(now, askSoon, nodescript.Answer{Verdict: nodescript.Failed, Err: err})
	s.unreached = node.Code(err) == ""
}

// refuse answers for the node for d. Whatever its error says, the calls that get it were never sent.
func (s *Standing) refuse(now clock.Instant, d time.Duration, a nodescript.Answer) {
	a.Err = node.NotSent(a.Err)
	s.step, s.refusal, s.unreached, s.until = Refuse, a, false, now.Add(d)
}
