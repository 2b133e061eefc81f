package quorum

import (
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// Outcome is the decision that follows from the answers so far.
type Outcome uint8

// These are the outcomes.
const (
	Open   Outcome = iota // there is no decision yet
	Won                   // a majority granted, or agreed to a renewal
	Again                 // this stamp gets no majority; a higher stamp may get it
	Failed                // this attempt gets no majority
	Gone                  // for a renewal: a majority no longer has the lease
)

// maxRounds is the number of stamps that one attempt sends: the first stamp and two higher ones. Attempts of clients
// whose clocks differ by less than the window need one higher stamp. With more rounds the attempts would chase each
// other.
const maxRounds = 3

// Attempt is one attempt to acquire, under one owner. It sends one stamp to all nodes. If some nodes have seen a higher
// token, it sends a higher stamp to all nodes. Only grants of the current stamp count, because different tokens on
// different nodes make no lease.
//
// Attempt is not safe for concurrent use.
type Attempt struct {
	round   int
	chased  int32 // the number of rounds in a row that began only because nodes had seen a higher token
	decided bool
	ballots []ballot
}

// ballot is the knowledge of the attempt about one node.
type ballot struct {
	answer  nodescript.Answer // the node's answer to the current round
	pending int32             // the number of messages without an answer
	asked   bool              // the node gets the current round
	maybe   bool              // the node granted, or may have granted, in some round
}

// NewAttempt returns an attempt at n nodes. Begin starts its first round.
func NewAttempt(n int) Attempt { return Attempt{ballots: make([]ballot, n)} }

// Begin starts a round with a new stamp and returns the round's number. The caller then calls Ask for each node that
// gets the stamp. chase says that the only reason for the round is the outcome Again of the last round. Otherwise there
// is a new fact, and the count of rounds starts again.
func (a *Attempt) Begin(chase bool) int {
	a.round++
	a.chased++
	if !chase {
		a.chased = 1
	}
	a.decided = false
	for i := range a.ballots {
		b := &a.ballots[i]
		b.answer, b.asked = nodescript.Answer{}, false
	}
	return a.round
}

// Ask notes that a node gets the stamp of the current round. A node that does not get the stamp counts as silent, and
// never votes against the round.
func (a *Attempt) Ask(node int) {
	a.ballots[node].asked = true
	a.ballots[node].pending++
}

// Asked reports whether a node got the stamp of the current round.
func (a *Attempt) Asked(node int) bool { return a.ballots[node].asked }

// Granted reports whether a node granted the stamp of the current round.
func (a *Attempt) Granted(node int) bool { return a.Verdict(node) == nodescript.Granted }

// Answer takes a node's answer to the stamp of a round, and returns the outcome. It returns each outcome except Open
// once per round, and Open after that.
func (a *Attempt) Answer(node, round int, ans nodescript.Answer) Outcome {
	b := &a.ballots[node]
	b.pending--
	if ans.Verdict == nodescript.Granted || ans.MayHaveRun() {
		b.maybe = true
	}
	if round != a.round {
		return Open
	}
	if ans.Owner != "" {
		ans.Owner = a.same(ans.Owner)
	}
	b.answer = ans
	if a.decided {
		return Open
	}
	out := a.outcome()
	a.decided = out != Open
	return out
}

// End stops the decisions of the current round: Answer returns Open for all further answers.
func (a *Attempt) End() { a.decided = true }

// same returns an equal owner string from another node's answer, if there is one. These strings are a large part of the
// memory of a sleeping waiter, so equal strings share their memory.
func (a *Attempt) same(owner string) string {
	for i := range a.ballots {
		if known := a.ballots[i].answer.Owner; known == owner {
			return known
		}
	}
	return owner
}

func (a *Attempt) outcome() Outcome {
	granted, open, higher := 0, 0, 0
	for i := range a.ballots {
		switch a.Verdict(i) {
		case nodescript.Granted:
			granted++
		case nodescript.Unanswered:
			open++
		case nodescript.Stale, nodescript.OffClock:
			higher++
		}
	}
	need := Majority(len(a.ballots))
	switch {
	case granted >= need:
		return Won
	case granted+open >= need:
		return Open
	case granted+open+higher >= need && a.chased < maxRounds:
		return Again
	}
	return Failed
}

// Pending reports whether an answer of a node to any stamp is missing.
func (a *Attempt) Pending(node int) bool { return a.ballots[node].pending > 0 }

// Kept reports whether a node granted, or may have granted, in any round.
func (a *Attempt) Kept(node int) bool { return a.ballots[node].maybe }

// Touched reports whether a node may have a grant of this attempt: the node granted in some round, has not answered, or
// failed in a way that leaves this open.
func (a *Attempt) Touched(node int) bool { return a.Kept(node) || a.Pending(node) }

// Verdict returns the verdict of a node's answer to the current round.
func (a *Attempt) Verdict(node int) nodescript.Verdict { return a.ballots[node].answer.Verdict }

// Answers returns the answers to the current round, by node. The slice belongs to the caller.
func (a *Attempt) Answers() []nodescript.Answer {
	all := make([]nodescript.Answer, len(a.ballots))
	for i := range all {
		all[i] = a.ballots[i].answer
	}
	return all
}

// Waiting reports whether a node answered that other waiters are in its queue.
func (a *Attempt) Waiting() bool {
	for i := range a.ballots {
		if a.ballots[i].answer.Waiting {
			return true
		}
	}
	return false
}
