// Package clean makes what somebody else wrote fit for a terminal and a log. Whatever came from a node goes through it on
// its way to people: the words of a server, the label of another client's owner, what somebody stored. What programs
// get, such as HeldError.Owner and JSON, stays as it is.
package clean

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// most is how long a text is for people, in bytes.
const most = 1000

// Text returns s with what does more to a terminal than show itself, line breaks included, written as in a Go string.
// A very long text is cut off.
func Text(s string) string {
	cut := ""
	if len(s) > most {
		s, cut = strings.ToValidUTF8(s[:most], ""), "…"
	}
	if fits(s) {
		return s + cut
	}
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && size == 1 || !strconv.IsPrint(r) {
			q := strconv.Quote(s[:size])
			b.WriteString(q[1 : len(q)-1])
		} else {
			b.WriteString(s[:size])
		}
		s = s[size:]
	}
	return b.String() + cut
}

func fits(s string) bool {
	for i, r := range s {
		if !strconv.IsPrint(r) || r == utf8.RuneError && s[i] != "\uFFFD"[0] {
			return false
		}
	}
	return true
}

// Label returns the label of an owner, label~client~random, or all of it in quotes where no client can have called itself
// so: one with spaces could read like the rest of the sentence.
func Label(owner string) string {
	label, _, _ := strings.Cut(owner, "~")
	if label == "" || len(label) > 64 || strings.ContainsFunc(label, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '"' }) {
		return strconv.Quote(Text(owner))
	}
	return label
}
