package bid

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
)

// Kind is the meaning of a failed attempt.
type Kind uint8

// These are the kinds.
const (
	Unavailable Kind = iota // too few nodes answered, so nothing is known
	Held                    // another owner has the name
	Contended               // no owner has the name: attempts split the votes or overtook each other
)

// Refusal is the reason why an attempt failed.
type Refusal struct {
	Kind    Kind
	Answers []nodescript.Answer // the nodes' answers, by node
	Err     error               // the reason why no stamp could be drawn; nil: a stamp was drawn

	Asked clock.Instant // the instant of the question; 0: unknown
	Doubt bool          // missing answers may still change Held into another kind
	Few   bool          // fewer nodes than a majority had answered
	Cut   bool          // the wait ended before enough nodes had answered, so nothing is known

	Waited bool // the call waited for the lock, and has given up
}

// Refuse returns the meaning of a failed attempt's answers. ended says that the wait ended before the answers decided
// the attempt.
func Refuse(answers []nodescript.Answer, err error, ended bool) *Refusal {
	r := &Refusal{Answers: append([]nodescript.Answer(nil), answers...), Err: err}
	need := quorum.Majority(len(answers))
	free, held, full, owners := 0, 0, 0, map[string]int{}
	unanswered, unknown, most := 0, 0, 0
	for _, a := range answers {
		switch a.Verdict {
		case nodescript.Held:
			held++
			switch {
			case a.Full:
				full++
				most = max(most, full)
			case a.Offered: // the node offers the bid another slot, so this answer names no holder
			default:
				who := a.Owner
				if nodescript.IsReader(who) {
					who = "" // nodes may name different readers, which hold the name together
				}
				owners[who]++
				most = max(most, owners[who])
			}
		case nodescript.Granted, nodescript.Stale:
			free++
		case nodescript.Unanswered:
			unanswered++
			unknown++
		case nodescript.Failed:
			if a.MayHaveRun() {
				unknown++
			}
		}
	}
	r.Few = free+held < need
	r.Cut = ended && r.Few
	switch {
	case err != nil, free+held+unanswered < need, held == 0 && r.Cut:
		r.Kind = Unavailable
	case most > 0 && most+unknown >= need:
		r.Kind, r.Doubt = Held, most+unknown-unanswered < need
	case held > 0 && foreign(answers):
		// A foreign lock may be on one node only. That node grants the name to nobody else. So one foreign key is
		// enough for Held.
		r.Kind = Held
	default:
		r.Kind = Contended
	}
	return r
}

// Refused returns the reason why the current round has no majority. cut says that the wait ended before the answers
// decided the round.
func (m *Machine) Refused(cut bool) *Refusal {
	r := Refuse(m.votes.Answers(), m.err, cut && m.state == open)
	if r.Asked = m.sent; m.state == won {
		r.late()
	}
	return r
}

// alone reports whether only a minority of nodes answered a round with all nodes, and the calls to all other nodes
// failed.
func (m *Machine) alone() bool {
	few, all := m.few()
	return few && all
}

// few reports whether only a minority of nodes answered the current round. all reports whether the calls to all other
// nodes failed, so that no further answer can come.
func (m *Machine) few() (few, all bool) {
	answered, all := 0, true
	for i := range m.N {
		switch m.votes.Verdict(i) {
		case nodescript.Unanswered:
			all = false
		case nodescript.Held, nodescript.Granted, nodescript.Stale:
			answered++
		}
	}
	return answered < quorum.Majority(m.N), all
}

// late changes r into the refusal of an attempt whose majority of grants came after the deadline of its lease.
func (r *Refusal) late() {
	r.Kind = Unavailable
	for i := range r.Answers {
		if r.Answers[i].Verdict == nodescript.Granted {
			r.Answers[i].Cause = nodescript.TooLate
		}
	}
}

func foreign(answers []nodescript.Answer) bool {
	for _, a := range answers {
		if a.Verdict == nodescript.Held && a.Foreign {
			return true
		}
	}
	return false
}

// Holder returns the owner that most nodes named, whether it is foreign, and the longest remaining time of its lease.
func (r *Refusal) Holder() (owner string, foreign bool, left time.Duration) {
	count := map[string]int{}
	for _, a := range r.Answers {
		if a.Verdict != nodescript.Held || a.Offered { // a node that offers a slot names no holder to wait for
			continue
		}
		count[a.Owner]++
		switch {
		case count[a.Owner] > count[owner] || a.Owner == owner || owner == "" && left == 0:
			if a.Owner != owner {
				left = 0
			}
			owner, foreign, left = a.Owner, a.Foreign, max(left, a.Left)
		}
	}
	return owner, foreign, left
}

// Readers returns the readers that hold the name, as the node with the longest list of readers answered. It returns
// nil if the name is not held by readers.
func (r *Refusal) Readers() (most *nodescript.Evidence) {
	if owner, _, _ := r.Holder(); !nodescript.IsReader(owner) {
		return nil
	}
	for _, a := range r.Answers {
		if a.Verdict == nodescript.Held && a.Evidence != nil && (most == nil || a.Evidence.Readers > most.Readers) {
			most = a.Evidence
		}
	}
	return most
}

// Age returns the time since the nodes were asked, or 0 if that instant is unknown.
func (r *Refusal) Age(now clock.Instant) time.Duration {
	if r.Asked == 0 {
		return 0
	}
	return max(now.Sub(r.Asked), 0)
}

// Rank returns the number of waiters before this waiter. It is the median over the nodes that have the waiter in their
// queue, or -1 if no node has it there.
func (r *Refusal) Rank() int {
	var ranks []int
	for _, a := range r.Answers {
		if a.Verdict == nodescript.Held && a.Rank >= 0 {
			ranks = append(ranks, a.Rank)
		}
	}
	if len(ranks) == 0 {
		return -1
	}
	return nth(ranks, (len(ranks)+1)/2)
}

// VotesIn returns the time after which enough quarantines have ended for a majority to vote. It returns false if a
// majority cannot vote even then. votes reports whether a node votes as far as the client knows: a round may be decided
// before such a node has answered.
func (r *Refusal) VotesIn(votes func(node int) bool) (time.Duration, bool) {
	var unsettled quorum.Unsettled
	if errors.As(r.Err, &unsettled) && unsettled.Left > 0 {
		return unsettled.Left, true
	}
	var quarantined []time.Duration
	could := 0
	for i, a := range r.Answers {
		switch a.Verdict {
		case nodescript.Unanswered:
			if votes(i) {
				could++
			}
		case nodescript.Quarantined:
			quarantined = append(quarantined, a.Left)
		case nodescript.Granted, nodescript.Held, nodescript.Stale:
			could++
		}
	}
	missing := quorum.Majority(len(r.Answers)) - could
	if missing <= 0 || missing > len(quarantined) {
		return 0, false
	}
	return nth(quarantined, missing), true
}

// nth returns the nth smallest value of s, counted from 1. It sorts s.
func nth[T cmp.Ordered](s []T, n int) T {
	slices.Sort(s)
	return s[n-1]
}
