// Package printable makes texts safe for terminals and logs. All texts from a node pass through it before people see
// them: messages of a server, labels of other clients' owners, and stored values. Values for programs, such as
// HeldError.Owner and JSON, stay as they are.
package printable

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// most is the length in bytes after which a text is cut.
const most = 1000

// Text returns s in a printable form. Characters that cannot be printed, and line breaks, are escaped as in a Go
// string. A very long text is cut.
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

// Quoted returns s as it is, or quoted as in a Go string if it has characters that control a terminal or hide others,
// or begins or ends with a space.
func Quoted(s string) string {
	if q := strconv.Quote(s); q != `"`+s+`"` || strings.TrimSpace(s) != s {
		return q
	}
	return s
}
