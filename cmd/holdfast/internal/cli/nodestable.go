package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/doctor"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/verdict"
)

// This file prints the table of nodes. A row has the beginning of a long text, and the rest is below the table, once
// for all nodes that say the same.

const (
	nodesWidth = 100
	mostState  = 52 // the longest state in a row
)

// printNodes prints the table. t is nil unless the nodes are shards of a Redis Cluster.
func printNodes(out io.Writer, list []verdict.Answer, t *node.Topology) error {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	if t == nil {
		fmt.Fprintln(w, "NODE\tSTATE\tCLOCK\tVERSION")
	} else {
		fmt.Fprintln(w, "SHARD\tMASTER\tSLOTS\tREPLICAS\tSTATE\tCLOCK\tVERSION")
	}
	var rests []string
	about := map[string][]string{} // the nodes of each rest
	for _, n := range list {
		state, rest := split(stateOf(n))
		if rest != "" {
			if about[rest] == nil {
				rests = append(rests, rest)
			}
			about[rest] = append(about[rest], label(n, t))
		}
		offset := "?"
		if n.OffsetKnown {
			offset = fmt.Sprintf("%+.1fms", float64(n.Offset.Round(100*time.Microsecond).Microseconds())/1000)
		}
		fmt.Fprintf(w, "%s\t%s%s\t%s\t%s\n", label(n, t), shardCells(n, t), state, offset, or(n.Version, "?"))
	}
	_ = w.Flush() // a strings.Builder takes all
	for _, rest := range rests {
		nodes := strings.Join(about[rest], ", ")
		if len(about[rest]) == len(list) && len(list) > 1 {
			nodes = "all nodes"
			if t != nil {
				nodes = "all shards"
			}
		}
		writeLines(&b, "", "  ", strings.Fields(nodes+": "+rest), nodesWidth)
	}
	_, err := io.WriteString(out, b.String())
	return printed(err)
}

// label returns the name of a node for a row: its address, or the end of the address of a shard.
func label(n verdict.Answer, t *node.Topology) string {
	if t == nil {
		return n.Node
	}
	return shardOnly(n.Node)
}

// shardOnly returns the name of a shard in its address.
func shardOnly(addr string) string { return addr[strings.LastIndexByte(addr, '/')+1:] }

// shardCells returns the cells of a row that only a shard has. Replicas that work count.
func shardCells(n verdict.Answer, t *node.Topology) string {
	if t == nil {
		return ""
	}
	slots, replicas := "?", "?"
	if s := shardOf(t, n.Node); s != nil {
		slots, replicas = strconv.Itoa(s.Slots), strconv.Itoa(len(working(s)))
	}
	return or(n.Master, "?") + "\t" + slots + "\t" + replicas + "\t"
}

// working returns the addresses of the replicas of a shard that a majority of the cluster calls neither fail nor fail?.
func working(s *node.Shard) []string {
	list := []string{}
	for _, r := range s.Replicas {
		if r.State == "" {
			list = append(list, r.Addr)
		}
	}
	return list
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
