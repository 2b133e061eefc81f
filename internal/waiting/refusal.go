package waiting

import (
	"errors"
	"time"

	"github.com/holdfast-go/holdfast/internal/clock"
	"github.com/holdfast-go/holdfast/internal/nodescript"
	"github.com/holdfast-go/holdfast/internal/quorum"
)

// Kind is what a failed attempt means.
type Kind uint8

// Kinds.
const (
	Unavailable Kind = iota // too few nodes answered: nothing is known
	Held                    // somebody has it
	Contended               // nobody has it: contenders split the votes, or overtook each other
)

// Refusal is why an attempt failed.
type Refusal struct {
	Kind    Kind
	Answers []nodescript.Answer // by node
	Err     error               // why no stamp could be drawn, if that was it

	asked clock.Instant // when the nodes were; 0: not known
	doubt bool          // somebody has it if nodes say so that have not answered yet
	few   bool          // fewer than a majority had answered by then
	cut   bool          // its context ended when too few nodes had answered to tell anything
}

// refusal reads the answers of a failed attempt. ended says that its context ended
// before they decided anything.
func refusal(answers []nodescript.Answer, err error, ended bool) *Refusal {
	r := &Refusal{Answers: append([]nodescript.Answer(nil), answers...), Err: err}
	need := quorum.Majority(len(answers))
	free, held, owners := 0, 0, map[string]int{}
	unanswered, unknown, most := 0, 0, 0
	for _, a := range answers {
		switch a.Verdict {
		case nodescript.Held:
			held++
			owners[a.Owner]++
			most = max(most, owners[a.Owner])
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
	r.few = free+held < need
	r.cut = ended && r.few
	switch {
	case err != nil, free+held+unanswered < need, held == 0 && r.cut:
		r.Kind = Unavailable
	case most > 0 && most+unknown >= need:
		r.Kind, r.doubt = Held, most+unknown-unanswered < need
	case held > 0 && foreign(answers):
		// A foreign key says nothing of a quorum: whoever set it holds what it set.
		r.Kind = Held
	default:
		r.Kind = Contended
	}
	return r
}

// alone reports whether the round of all nodes has found a minority only, and all others have been given up.
// b.mu is held.
func (b *bid) alone() bool {
	few, all := b.few()
	return few && all
}

// few reports whether fewer nodes than a majority have answered the current round, and whether all others have been
// given up. b.mu is held.
func (b *bid) few() (few, all bool) {
	answered, all := 0, true
	for i := range b.fan.N() {
		switch b.votes.Verdict(i) {
		case nodescript.Unanswered:
			all = false
		case nodescript.Held, nodescript.Granted, nodescript.Stale:
			answered++
		}
	}
	return answered < quorum.Majority(b.fan.N()), all
}

// late makes r the refusal of an attempt whose majority of grants came after the
// lease they made was over.
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

// Holder is the owner that most nodes named, and the longest time left of its lease.
func (r *Refusal) Holder() (owner string, foreign bool, left time.Duration) {
	count := map[string]int{}
	for _, a := range r.Answers {
		if a.Verdict != nodescript.Held {
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

// Age is how long ago the nodes were asked, 0 if that is not known.
func (r *Refusal) Age(now clock.Instant) time.Duration {
	if r.asked == 0 {
		return 0
	}
	return max(now.Sub(r.asked), 0)
}

// Rank is how many wait before this waiter, as most nodes see it: the median of those in
// whose queue it stands. -1: in none.
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

// VotesIn is when enough quarantined nodes vote again to make a majority with those
// that answered; not ok if waiting for quarantines does not help.
func (r *Refusal) VotesIn() (time.Duration, bool) {
	var unsettled quorum.Unsettled
	if errors.As(r.Err, &unsettled) && unsettled.Left > 0 {
		return unsettled.Left, true
	}
	var quarantined []time.Duration
	could := 0
	for _, a := range r.Answers {
		switch a.Verdict {
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
