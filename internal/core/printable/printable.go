// Package printable makes text from other sources safe for a terminal and a log. All text from a node passes through it on
// the way to people: a server's messages, the label of another client's owner, stored values. Values for programs, such
// as HeldError.Owner and JSON, do not change.
package printable

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// most is the length at which a text for people is cut off, in bytes.
const most = 1000

// Text returns s with its unprintable characters, line breaks included, escaped as in a Go string. It cuts off a very
// long text.
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
