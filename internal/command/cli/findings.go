package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/internal/command/doctor"
)

// This file prints the findings of doctor. Lines are at most 80 columns wide, except lines with a command to type.

const (
	findingWidth = 80
	findingLeft  = "      "   // before the fix
	findingState = "        " // before a state that has lines of its own. So no word of it looks like a fix
)

// printFindings prints the findings about this number of nodes, and how many are not ok.
func printFindings(out io.Writer, all []doctor.Finding, nodes int) error {
	list := together(all, nodes)
	check, place := 0, 0
	for _, f := range list {
		check, place = max(check, len(f.Check)), max(place, utf8.RuneCountInString(or(f.Node, "all")))
	}
	var b strings.Builder
	row := func(severity, name, node, state string) {
		begin := fmt.Sprintf("%-4s  %-*s  %-*s  ", severity, check, name, place, node)
		if utf8.RuneCountInString(begin+state) <= findingWidth {
			b.WriteString(begin + state + "\n")
			return
		}
		b.WriteString(strings.TrimRight(begin, " ") + "\n")
		writeWrapped(&b, findingState, findingState, strings.Fields(state))
	}
	row("", "CHECK", "NODE", "STATE")
	for _, f := range list {
		row(f.Severity.String(), f.Check, or(f.Node, "all"), shown(f.State))
		if f.Fix != "" {
			writeWrapped(&b, findingLeft+"fix: ", findingLeft+"     ", unbroken(shown(f.Fix)))
		}
	}
	count := map[doctor.Severity]int{}
	for _, f := range all {
		count[f.Severity]++
	}
	fmt.Fprintf(&b, "%d bad, %d warn, %d note\n", count[doctor.Bad], count[doctor.Warn], count[doctor.Note])
	_, err := io.WriteString(out, b.String())
	return printed(err)
}

// writeWrapped writes words in lines of at most findingWidth, except a word that is longer. first begins the first line,
// and next the other lines.
func writeWrapped(b *strings.Builder, first, next string, words []string) {
	line := first
	for i, w := range words {
		switch {
		case i == 0:
			line += w
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(w) > findingWidth:
			b.WriteString(line + "\n")
			line = next + w
		default:
			line += " " + w
		}
	}
	b.WriteString(line + "\n")
}

// unbroken splits a fix into words, and leaves each command line in one piece, so that it can be copied. A fix with
// quotes is one piece: in quotes there may be names, and a part of a name must not have a line of its own.
func unbroken(fix string) (words []string) {
	if strings.ContainsAny(fix, "'\"") {
		return []string{fix}
	}
	for piece := range strings.SplitSeq(strings.NewReplacer("; ", ";\n", "&& ", "&&\n").Replace(fix), "\n") {
		if strings.Contains(piece, "redis-cli ") || strings.Contains(piece, "holdfast ") || strings.Contains(piece, "chronyc ") {
			words = append(words, piece)
		} else {
			words = append(words, strings.Fields(piece)...)
		}
	}
	return words
}

// others stands for all nodes that a check could examine, if that is not every node.
const others = "others"

// together joins the findings of a check that are ok on all examined nodes and have the same text into one finding.
func together(all []doctor.Finding, nodes int) (out []doctor.Finding) {
	for i := 0; i < len(all); {
		end := i + 1
		for end < len(all) && all[end].Check == all[i].Check {
			end++
		}
		same := all[i:end]
		if len(same) > 1 && !slices.ContainsFunc(same, func(f doctor.Finding) bool { return f.Severity != doctor.OK || f.State != same[0].State }) {
			one := same[0]
			if one.Node = ""; len(same) < nodes {
				one.Node = others // the check could not examine some nodes
			}
			same = []doctor.Finding{one}
		}
		out, i = append(out, same...), end
	}
	return out
}
