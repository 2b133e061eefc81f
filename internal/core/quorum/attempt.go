package quorum

import (
	"slices"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// Outcome is the decision that follows from the answers so far.
type Outcome uint8

// These are the outcomes.
const (
	Open   Outcome = iota // there is no decision yet
	Won                   // a majority granted, or extended the lease
	Again                 // this stamp cannot get a majority, but a higher stamp may
	Failed                // this attempt cannot get a majority
	Gone                  // for a renewal: a majority of nodes did not have the lease
)

// maxRounds is the largest number of stamps that one attempt sends in a row: a first one and two higher ones. If the
// clocks of the clients differ by less than the window, one higher stamp is usually enough. With more rounds,
// competing attempts would raise their stamps above each other again and again.
const maxRounds = 3

// Attempt counts the answers to one attempt to acquire, for one owner. An attempt sends a stamp to the nodes. If some
// nodes have seen a higher token, it sends a higher stamp. Only grants of the current stamp count: a lease needs the
// same token on a majority of nodes.
//
// Attempt is not safe for concurrent use.
type Attempt struct {
	round   int
	chased  int32 // the number of rounds since the caller of Begin last had a new reason
	decided bool
	ballots []ballot
}

// ballot is an attempt's knowledge about one node.
type ballot struct {
	answer  nodescript.Answer // the node's answer to the current round
	pending int32             // the number of messages without an answer
	asked   bool              // the node gets the stamp of the current round
	maybe   bool              // the node granted, or may have granted, in some round
}

// NewAttempt returns an attempt at n nodes. Begin starts its first round.
func NewAttempt(n int) Attempt { return Attempt{ballots: make([]ballot, n)} }

// Begin starts a round with a new stamp, and returns the number of the round. The caller then calls Ask for each node
// that gets the stamp. chase says that the only reason for the round is the outcome Again. Otherwise the caller has
// learned something new, and the count of maxRounds starts again.
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

// Ask notes that a node gets the stamp of the current round. A node that does not get it counts as if its answer were
// still missing. So it never makes the round fail: see Waits.
func (a *Attempt) Ask(node int) {
	a.ballots[node].asked = true
	a.ballots[node].pending++
}

// Asked reports whether a node gets the stamp of the current round.
func (a *Attempt) Asked(node int) bool { return a.ballots[node].asked }

// Waits reports whether a node that got the stamp of the current round has not answered it. If no node has, and the
// round has no outcome, then it waits for nodes that were not asked.
func (a *Attempt) Waits() bool {
	return slices.ContainsFunc(a.ballots, func(b ballot) bool { return b.asked && b.answer.Verdict == nodescript.Unanswered })
}

// Granted reports whether a node granted the stamp of the current round.
func (a *Attempt) Granted(node int) bool { return a.Verdict(node) == nodescript.Granted }

// Answer counts a node's answer to a round, and returns the outcome of the current round. It returns an outcome other
// than Open only once per round.
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

// End ends the current round without an outcome: Answer returns Open from now on.
func (a *Attempt) End() { a.decided = true }

// same returns the equal owner string from another node's answer, if there is one. Equal strings then share their
// memory. They are a large part of the memory of a waiter that sleeps.
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

// Forget forgets all grants. The caller has given them back, and the next round is for another slot.
func (a *Attempt) Forget() {
	for i := range a.ballots {
		a.ballots[i].maybe = false
	}
}

// Pending reports whether an answer from a node is missing, in any round.
func (a *Attempt) Pending(node int) bool { return a.ballots[node].pending > 0 }

// Kept reports whether a node granted, or may have granted, in any round.
func (a *Attempt) Kept(node int) bool { return a.ballots[node].maybe }

// Touched reports whether a node may have a grant of this attempt. This is so if the node granted in some round, has
// not answered, or may have run a call that failed.
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
