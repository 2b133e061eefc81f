package quorum

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// Step is the next action of a client before it can send calls to a node.
type Step uint8

// These are the steps.
const (
	Greet  Step = iota // send hello
	Admit              // send admit, with Challenge and with a stamp drawn now
	Send               // the node votes: send the calls
	Refuse             // the node does not vote for now: answer calls with Standing.Refusal
)

const (
	// refreshEvery is the pause between two refreshes of a node. A refresh reads the node's clock and extends the life
	// of the guard, which expires an hour after the last refresh.
	refreshEvery = 10 * time.Minute
	// mostChallenges is the number of challenges in a row that a client answers at once. A node that loses its memory
	// between two answers sends another challenge.
	mostChallenges = 3
)

// Standing is a client's knowledge about one node's right to vote. Its methods take events and return the next step.
//
// Standing is not safe for concurrent use.
type Standing struct {
	config  nodescript.Config
	scripts *nodescript.Scripts // the scripts for the last known incarnation; nil before the first hello
	loaded  bool                // the node has the scripts
	version string

	step      Step
	refusal   nodescript.Answer
	unreached bool          // the calls fail because the node did not answer
	until     clock.Instant // the end of a refusal, when the client asks the node again
	votes     clock.Instant // the end of a quarantine
	since     clock.Instant // the instant of the last admission or refresh
	admitted  clock.Instant // the instant of the last admission

	denial nodescript.Answer // the answer of a voting node whose server refuses writes; zero: none is known
	denied clock.Instant     // the instant of the last such answer

	challenge string // the challenge in the node's last answer to admit; "" if the node votes
	asked     int    // the number of challenges in a row
}

// NewStanding returns the standing of a node that the client has never met.
func NewStanding(c nodescript.Config) *Standing { return &Standing{config: c} }

// Next returns the next step at the instant now.
func (s *Standing) Next(now clock.Instant) Step {
	if s.step == Refuse && now >= s.until {
		s.step = Greet
	}
	return s.step
}

// Scripts returns the scripts for the node's incarnation, or nil before the first hello.
func (s *Standing) Scripts() *nodescript.Scripts { return s.scripts }

// GoesWithoutVote reports whether op can be sent although the node does not vote. Operations that give something back
// go to every node that answers, whatever the reason is why it does not vote. They do not go to a node that could not
// be reached a moment ago, because they would fail again.
func (s *Standing) GoesWithoutVote(op nodescript.Op) bool {
	return s.loaded && !(s.step == Refuse && s.unreached) && op.GivesBack()
}

// Loaded reports whether the last known incarnation has the scripts.
func (s *Standing) Loaded() bool { return s.loaded }

// HasScripts notes that the node has the scripts, although its answer to admit is not final.
func (s *Standing) HasScripts() { s.loaded = true }

// Refusal returns the answer to calls while the node does not vote.
func (s *Standing) Refusal(now clock.Instant) nodescript.Answer {
	a := s.refusal
	switch a.Verdict {
	case nodescript.Unanswered: // the client is greeting the node again and knows no reason yet
		a.Verdict = nodescript.NotAdmitted
	case nodescript.Quarantined:
		a.Left = max(s.votes.Sub(now), 0)
	}
	return a
}

// Vote returns the node's vote as a person should see it: Done if the node can grant a lock. Otherwise it is the
// refusal, or the error of a server that votes but refuses writes. Such a server still gets calls: it may renew and
// release leases, and its next grant shows that it accepts writes again.
func (s *Standing) Vote(now clock.Instant) nodescript.Answer {
	if s.Next(now) != Send {
		return s.Refusal(now)
	}
	if s.denial.Unwritable() {
		return s.denial
	}
	return nodescript.Answer{Verdict: nodescript.Done}
}

// Wrote handles the answer to an operation that writes. An answer that says that the server refuses writes counts until
// a later write succeeds. If only some writes succeed, as at the limit of the memory, it counts for a second more.
func (s *Standing) Wrote(now clock.Instant, a nodescript.Answer) {
	switch {
	case a.Unwritable():
		s.denial, s.denied = nodescript.Answer{Verdict: nodescript.Failed, Cause: a.Cause, Err: a.Err}, now
	case now.Sub(s.denied) < AskAgain:
	case a.Verdict == nodescript.Granted, a.Verdict == nodescript.Extended && s.denial.Cause != nodescript.MemoryFull:
		s.denial = nodescript.Answer{}
	}
}

// Challenge returns the challenge that the next admit must quote. A voucher for the node's present state quotes it,
// too. It is "" if the node votes or the client has not met it.
func (s *Standing) Challenge() string { return s.challenge }

// Quarantine returns the node's last answer about its quarantine, even while the client is asking the node again. It
// returns false if that quarantine has ended.
func (s *Standing) Quarantine(now clock.Instant) (a nodescript.Answer, ok bool) {
	if s.step == Send || s.refusal.Verdict != nodescript.Quarantined || s.votes <= now {
		return a, false
	}
	return s.Refusal(now), true
}

// Version returns the version of the last known server, or "" before the first hello.
func (s *Standing) Version() string { return s.version }

// Run returns the last known run id, or "" before the first hello.
func (s *Standing) Run() string {
	if s.scripts == nil {
		return ""
	}
	return s.scripts.Run
}

// Greeted handles the answer to hello. twin is the address of another node of the list that leads to the same server,
// or "".
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
		s.refuse(now, AskAgain, nodescript.Answer{Verdict: nodescript.Duplicate, Evidence: &nodescript.Evidence{Value: twin}})
		return
	}
	if why, evidence := h.Unfit(); why != nodescript.NoCause {
		s.refuse(now, AskAgain, nodescript.Answer{Verdict: nodescript.Unfit, Cause: why, Evidence: evidence})
		return
	}
	s.step = Admit
}

// Unsettled notes that no stamp could be drawn for an admission. loaded says that the node has the scripts.
func (s *Standing) Unsettled(now clock.Instant, loaded bool, err error) {
	s.loaded = s.loaded || loaded
	s.refuse(now, AskSoon, nodescript.Answer{Verdict: nodescript.Failed, Err: err})
}

// NoMember notes that an admitted node's vote does not count. a contains the reason.
func (s *Standing) NoMember(now clock.Instant, a nodescript.Answer) {
	again := AskAgain
	switch a.Verdict {
	case nodescript.Failed:
		again = AskSoon
	case nodescript.Quarantined:
		s.votes, again = now.Add(a.Left), min(a.Left, AskAgain)
	}
	s.refuse(now, again, a)
}

// Split notes that the node's address leads to several servers.
func (s *Standing) Split(now clock.Instant) {
	s.refuse(now, AskAgain, nodescript.Answer{Verdict: nodescript.Unfit, Cause: nodescript.Several})
}

// Unproven notes that the client could not prove to which server the node's address leads.
func (s *Standing) Unproven(now clock.Instant, err error) { s.failed(now, err) }

// Doubt makes the client greet a voting node again, because another server may be behind the address.
func (s *Standing) Doubt() {
	if s.step == Send {
		s.step = Greet
	}
}

// Asked handles the answer to an admit that was sent while the node voted. It ignores an answer that does not show
// whether the node votes. The next calls will show it.
func (s *Standing) Asked(now clock.Instant, a nodescript.Answer) {
	if s.step == Send && a.Verdict == nodescript.Failed {
		s.Wrote(now, a)
	}
	if s.step == Send && a.Verdict != nodescript.Failed && a.Verdict != nodescript.OffClock {
		s.Admitted(now, a)
	}
}

// Admitted handles the answer to admit.
func (s *Standing) Admitted(now clock.Instant, a nodescript.Answer) {
	if s.step == Greet {
		return // Doubt was called before this answer came
	}
	// The driver loads the scripts only after an answer without an error.
	s.loaded = s.loaded || a.Verdict != nodescript.Failed && a.Verdict != nodescript.NotAdmitted
	if s.asked++; a.Verdict != nodescript.Challenged {
		s.asked = 0
	}
	switch a.Verdict {
	case nodescript.Done, nodescript.Challenged, nodescript.Quarantined, nodescript.Misconfigured:
		s.challenge = a.Names
	}
	switch a.Verdict {
	case nodescript.Done:
		s.step, s.since, s.admitted, s.denial = Send, now, now, nodescript.Answer{}
		if a.Unwritable() {
			s.denial, s.denied = nodescript.Answer{Verdict: nodescript.Failed, Cause: a.Cause, Err: a.Err}, now
		}
	case nodescript.Challenged:
		if s.step = Admit; s.asked >= mostChallenges {
			s.asked = 0
			s.refuse(now, AskSoon, a)
		}
	case nodescript.Quarantined:
		// The client asks again before the quarantine ends, because an operator may end it with a voucher.
		s.votes = now.Add(a.Left)
		s.refuse(now, min(a.Left, AskAgain), a)
	case nodescript.NotAdmitted: // the server restarted after hello
		s.refuse(now, 0, a)
	case nodescript.Failed:
		s.failed(now, a.Err)
	default:
		s.refuse(now, AskAgain, a)
	}
}

// Reconsider removes a refusal, so that the client asks the node again.
func (s *Standing) Reconsider() {
	if s.step == Refuse {
		s.step = Greet
	}
}

// Forgot notes that a voting node has lost its scripts or its guard.
func (s *Standing) Forgot() {
	s.step, s.loaded = Greet, false
}

// Broke notes that a call failed in such a way that another server may be behind the address. So the client greets the
// node again. Until then the scripts count as loaded, so that releases are still sent. If the server does not have
// them, it answers NOSCRIPT. If the client was already greeting the node, calls fail for a short time without another
// try.
func (s *Standing) Broke(now clock.Instant, err error) {
	switch s.step {
	case Send, Admit:
		s.step = Greet
	case Greet:
		s.failed(now, err)
	}
}

// Overdue notes that a call that left at the instant sent had no answer within the node timeout. The client greets the
// node again if it was admitted before the call left. A later greeting, or one under way, says more about the node than
// this call does. Otherwise each of several late answers would cost a greeting, or even a refusal.
func (s *Standing) Overdue(sent clock.Instant) {
	if s.step == Send && s.admitted <= sent {
		s.step = Greet
	}
}

// RefreshDue reports whether the guard of a voting node needs a refresh.
func (s *Standing) RefreshDue(now clock.Instant) bool {
	return s.step == Send && now.Sub(s.since) >= refreshEvery
}

// Refreshed notes the instant of a refresh. Call it after a failed refresh, too. Otherwise every call would repeat the
// refresh.
func (s *Standing) Refreshed(now clock.Instant) { s.since = now }
