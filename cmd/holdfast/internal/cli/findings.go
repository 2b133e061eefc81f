package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/doctor"
	"github.com/holdfast-go/holdfast/internal/core/printable"
)

// This file prints the findings of doctor. Lines are at most 80 columns wide, except lines with a command to type.

const (
	findingWidth = 80
	findingLeft  = "      "   // before the fix
	findingState = "        " // before a state that has lines of its own. So no word of it looks like a fix
)

// printFindings prints the results of checks of this number of nodes, and how many are not ok: all of them, or only the
// findings.
func printFindings(out io.Writer, results []doctor.Finding, nodes int, all bool) error {
	list := together(results, nodes)
	if !all {
		list = doctor.Findings(list)
	}
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
	if len(list) > 0 {
		row("", "CHECK", "NODE", "STATE")
	}
	for _, f := range list {
		row(f.Severity.String(), f.Check, or(f.Node, "all"), shown(f.State))
		if f.Fix != "" {
			writeWrapped(&b, findingLeft+"fix: ", findingLeft+"     ", unbroken(shown(f.Fix)))
		}
	}
	count := map[doctor.Severity]int{}
	for _, f := range list {
		count[f.Severity]++
	}
	fmt.Fprintf(&b, "%d bad, %d warn, %d note", count[doctor.Bad], count[doctor.Warn], count[doctor.Note])
	if !all {
		fmt.Fprintf(&b, "; %s without a finding (--all shows them)", printable.Count(without(results), "check"))
	}
	b.WriteByte('\n')
	_, err := io.WriteString(out, b.String())
	return printed(err)
}

// without returns the number of checks whose results are all ok.
func without(results []doctor.Finding) int {
	worst := map[string]doctor.Severity{}
	for _, f := range results {
		worst[f.Check] = max(worst[f.Check], f.Severity)
	}
	n := 0
	for _, s := range worst {
		if s == doctor.OK {
			n++
		}
	}
	return n
}

// writeWrapped writes words in lines of at most findingWidth.
func writeWrapped(b *strings.Builder, first, next string, words []string) {
	writeLines(b, first, next, words, findingWidth)
}

// writeLines writes words in lines of at most width, except a word that is longer. first begins the first line, and
// next the other lines.
func writeLines(b *strings.Builder, first, next string, words []string, width int) {
	line := first
	for i, w := range words {
		switch {
		case i == 0:
			line += w
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(w) > width:
			b.WriteString(line + "\n")
			line = next + w
		default:
			line += " " + w
		}
	}
	b.WriteString(line + "\n")
}

// unbroken splits a fix into words, and leaves each command line in one piece, so that it can be copied. It splits
// nothing in quotes: there may be names, and a part of a name must not have a line of its own.
func unbroken(fix string) (words []string) {
	for _, piece := range clauses(fix) {
		quoted := strings.ContainsAny(piece, "'\"")
		if quoted || strings.Contains(piece, "redis-cli ") || strings.Contains(piece, "holdfast ") || strings.Contains(piece, "chronyc ") {
			words = append(words, piece)
		} else {
			words = append(words, strings.Fields(piece)...)
		}
	}
	return words
}

// clauses splits a fix after each "; " and "&& " that is not in quotes. If a quote has no end, it does not split.
func clauses(fix string) (all []string) {
	var quote rune
	begin, before, escaped := 0, ' ', false
	for i, r := range fix {
		switch {
		case escaped:
			escaped = false
		case r == '\\' && quote != '\'':
			escaped = true
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'' && !unicode.IsLetter(before): // otherwise it is an apostrophe
			quote = r
		case r == ' ' && (before == ';' || strings.HasSuffix(fix[begin:i], "&&")):
			all, begin = append(all, fix[begin:i]), i+1
		}
		before = r
	}
	if quote != 0 {
		return []string{fix}
	}
	return append(all, fix[begin:])
}

// others stands for all nodes that a check could examine, if that is not every node.
const others = "others"

// together joins findings with the same text. Several nodes get one finding if all examined nodes are ok, or all have
// the same note. Several checks get one finding if they are not known for the same reason.
func together(all []doctor.Finding, nodes int) (out []doctor.Finding) {
	for i := 0; i < len(all); {
		end := i + 1
		for end < len(all) && all[end].Check == all[i].Check {
			end++
		}
		out, i = append(out, ofNodes(all[i:end], nodes)...), end
	}
	return ofChecks(out)
}

// ofNodes joins the findings of one check. A fix that names each node gets the word NODE.
func ofNodes(same []doctor.Finding, nodes int) []doctor.Finding {
	first := anyNode(same[0])
	if len(same) == 1 || slices.ContainsFunc(same, func(f doctor.Finding) bool {
		f = anyNode(f)
		return f.Node == "" || f.Severity > doctor.Note || f.Severity != first.Severity || f.State != first.State || f.Fix != first.Fix
	}) {
		return same
	}
	if first.Node = ""; len(same) < nodes {
		first.Node = others // the check could not examine some nodes
	}
	return []doctor.Finding{first}
}

// anyNode replaces the address of the finding's own node in its fix.
func anyNode(f doctor.Finding) doctor.Finding {
	if at := strings.LastIndex(f.Node, "/"); at > len("rediss://") {
		f.Fix = strings.ReplaceAll(f.Fix, f.Node[:at]+" ", "NODE ")
	}
	return f
}

// ofChecks joins checks that are not known for the same reason.
func ofChecks(all []doctor.Finding) (out []doctor.Finding) {
	type reason struct{ node, state, fix string }
	at, more := map[reason]int{}, map[int][]string{}
	for _, f := range all {
		key := reason{f.Node, f.State, f.Fix}
		if i, known := at[key]; known && f.Severity == doctor.Note && strings.HasPrefix(f.State, "not known") {
			more[i] = append(more[i], f.Check)
			continue
		}
		at[key] = len(out)
		out = append(out, f)
	}
	for i, checks := range more {
		out[i].State += " (the same for " + strings.Join(checks, ", ") + ")"
	}
	return out
}
