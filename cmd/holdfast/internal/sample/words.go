package sample

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/printable"
	"github.com/holdfast-go/holdfast/verdict"
)

// trimmed returns an error in words.
func trimmed(err error) string {
	switch {
	case errors.Is(err, holdfast.ErrUnavailable):
		return tooFew
	case errors.Is(err, context.DeadlineExceeded):
		return "the nodes did not answer within the time of one reading"
	}
	return printable.Text(strings.TrimPrefix(err.Error(), "holdfast: "))
}

// tooFew is the error of a reading without a majority. The nodes' own answers say why.
const tooFew = "too few nodes answer and vote"

// NoAnswerYet is what Node.Said has before the first answer of the node.
const NoAnswerYet = "no answer yet"

// clause returns the answer of a node about its vote in one clause, such as "connection refused". detail has the whole
// answer if that is longer.
func clause(a verdict.Answer) (text, detail string) {
	said := a.Said()
	switch a.Reason {
	case verdict.ReasonVotes:
		return said, ""
	case verdict.ReasonDone: // the node is sound, but it alone cannot decide
		return "answers, but the nodes' time is not known", ""
	case verdict.ReasonUnanswered:
		return "no answer", ""
	case verdict.ReasonRefused:
		text = "no server at this address (connection refused)"
	case verdict.ReasonTimedOut:
		text = "no answer in time"
	case verdict.ReasonDisconnected:
		text = "connection lost"
	case verdict.ReasonUnsettled:
		return strings.Replace(said, "this node answers; ", "answers, but ", 1), ""
	case verdict.ReasonUnwritable:
		text, _, _ = strings.Cut(said, ":")
	default:
		text, _, _ = strings.Cut(said, ";")
	}
	if detail = said; detail == text || a.Reason == verdict.ReasonRefused {
		detail = ""
	}
	return text, detail
}

// othersAnswer corrects the words of nodes that answer while too few others do: for a while after the others' last answer
// such a node says that they refuse writes.
func (s *State) othersAnswer() {
	reachable := 0
	for _, n := range s.Nodes {
		if n.Reachable {
			reachable++
		}
	}
	if s.sharded() || reachable >= s.Quorum {
		return
	}
	for i := range s.Nodes {
		s.Nodes[i].Said = strings.Replace(s.Nodes[i].Said, "too few others accept writes", "too few others answer", 1)
	}
}

// Span returns a time in ms in one unit: "40 s", "4 min", "2 h", "3 days".
func Span(ms int64) string {
	s := max(0, ms/1000)
	switch {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%d min", s/60)
	case s < 2*86400:
		return fmt.Sprintf("%d h", s/3600)
	}
	return fmt.Sprintf("%d days", s/86400)
}
