package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/doctor"
	"github.com/holdfast-go/holdfast/verdict"
)

// This file prints the table of nodes. A row has the beginning of a long text, and the rest is below the table, once
// for all nodes that say the same.

const (
	nodesWidth = 100
	mostState  = 52 // the longest state in a row
)

func printNodes(out io.Writer, list []verdict.Answer) error {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "NODE\tSTATE\tCLOCK\tVERSION")
	var rests []string
	about := map[string][]string{} // the nodes of each rest
	for _, n := range list {
		state, rest := split(stateOf(n))
		if rest != "" {
			if about[rest] == nil {
				rests = append(rests, rest)
			}
			about[rest] = append(about[rest], n.Node)
		}
		offset := "?"
		if n.OffsetKnown {
			offset = fmt.Sprintf("%+.1fms", float64(n.Offset.Round(100*time.Microsecond).Microseconds())/1000)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", n.Node, state, offset, or(n.Version, "?"))
	}
	_ = w.Flush() // a strings.Builder takes all
	for _, rest := range rests {
		nodes := strings.Join(about[rest], ", ")
		if len(about[rest]) == len(list) && len(list) > 1 {
			nodes = "all nodes"
		}
		writeLines(&b, "", "  ", strings.Fields(nodes+": "+rest), nodesWidth)
	}
	_, err := io.WriteString(out, b.String())
	return printed(err)
}

// stateOf returns the state of a node in words.
func stateOf(n verdict.Answer) string {
	switch said := n.Said(); {
	case n.Votes():
		return "votes"
	case !n.Reachable():
		return "unreachable: " + said
	case n.VotesIn > 0:
		return said
	case doctor.BarOf(n) == doctor.UserBar:
		return "vote not known: " + said
	case doctor.BarOf(n) == doctor.SettingsBar:
		return said // it begins with "configuration differs"
	case n.Reason == verdict.ReasonUnsettled:
		return "no vote yet: " + said
	default:
		return "does not vote: " + said
	}
}

// split returns the beginning of a state, for a row, and the rest. It splits a long state at the end of a clause.
func split(state string) (begin, rest string) {
	if utf8.RuneCountInString(state) <= mostState {
		return state, ""
	}
	begin = state
	for _, end := range []string{"; ", ": ", ", so ", ", and ", ", which "} {
		head := state
		for len(head) > mostState {
			head = head[:max(strings.LastIndex(head, end), 0)]
		}
		if head != "" && (begin == state || len(head) > len(begin)) {
			begin, rest = head, strings.TrimLeft(state[len(head):], ";:, ")
		}
	}
	return begin, rest
}
