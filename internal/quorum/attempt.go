package quorum

import (
	"github.com/holdfast-go/holdfast/internal/nodescript"
)

// Outcome is what the answers so far decide.
type Outcome uint8

// Outcomes.
const (
	Open   Outcome = iota // not decided yet
	Won                   // a majority
	Again                 // no majority with this stamp; a higher one may have it
	Failed                // no majority in this attempt
	Gone                  // renewal: a majority does not know the lease any more
)

// maxRounds is how many stamps one attempt sends: the first and two higher ones.
// Contenders whose clocks differ by less than the window need one; more would chase
// each other.
const maxRounds = 3

// Attempt is one attempt to acquire, under one owner: one stamp for all nodes, and a
// higher one for all nodes if some had seen a higher token. Only grants with the
// current stamp count: different tokens on different nodes make no lease.
//
// Not safe for concurrent use.
type Attempt struct {
	round   int
	chased  int // rounds begun only because nodes had seen a higher token
	ballots []ballot
	decided bool
}

// ballot is what is known of one node.
type ballot struct {
	answer  nodescript.Answer // of the current round
	pending int               // messages sent and not answered
	asked   bool              // of the current round
	maybe   bool              // it granted, or may have
}

// NewAttempt returns an attempt at n nodes; Begin starts its first round.
func NewAttempt(n int) Attempt { return Attempt{ballots: make([]ballot, n)} }

// Begin starts a round with a fresh stamp and returns its number; each node that gets the
// stamp is told by Ask. chase says that it follows another only because of its outcome
// Again; otherwise something new is known and the count starts anew.
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

// Ask notes that a node gets the stamp of the current round. Nodes that do not are as
// good as silent: the round is not decided against them.
func (a *Attempt) Ask(node int) {
	a.ballots[node].asked = true
	a.ballots[node].pending++
}

// Asked reports whether a node got the stamp of the current round.
func (a *Attempt) Asked(node int) bool { return a.ballots[node].asked }

// Granted reports whether a node granted the stamp of the current round.
func (a *Attempt) Granted(node int) bool { return a.Verdict(node) == nodescript.Granted }

// Answer takes a node's answer to the stamp of a round. After an outcome other than
// Open every further one is Open.
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

// End has no further answer of the current round decide anything.
func (a *Attempt) End() { a.decided = true }

// same returns the copy of an owner's name that another node's answer has: while a waiter
// sleeps they are a good part of what it takes.
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

// Pending reports whether an answer of a node is missing, to whatever stamp.
func (a *Attempt) Pending(node int) bool { return a.ballots[node].pending > 0 }

// Kept reports whether a node granted, or may have, in any round.
func (a *Attempt) Kept(node int) bool { return a.ballots[node].maybe }

// Touched reports whether a node may hold something of this attempt: it granted in
// any round, has not answered, or failed in a way that leaves it open.
func (a *Attempt) Touched(node int) bool { return a.Kept(node) || a.Pending(node) }

// Verdict is a node's answer of the current round, in one word.
func (a *Attempt) Verdict(node int) nodescript.Verdict { return a.ballots[node].answer.Verdict }

// Answers returns the answers of the current round, by node. The slice is the caller's.
func (a *Attempt) Answers() []nodescript.Answer {
	all := make([]nodescript.Answer, len(a.ballots))
	for i := range all {
		all[i] = a.ballots[i].answer
	}
	return all
}

// Waiting reports whether a node that granted told of others in its queue.
func (a *Attempt) Waiting() bool {
	for i := range a.ballots {
		if a.ballots[i].answer.Waiting {
			return true
		}
	}
	return false
}
