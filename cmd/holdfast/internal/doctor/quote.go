package doctor

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// The texts that these functions quote come from the nodes. Anybody who can write to a node chooses them, and the
// reader of a finding types its fix. So no part of such a text may be a command.

// plainWord matches texts that need no quotes in a shell.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./~-]+$`)

// Word quotes a text as one word of a shell, for a hint.
func Word(s string) string { return shell(s) }

// shell quotes a text as one word of a shell. Bytes that cannot be printed are escaped as in $'…', which most shells
// know.
func shell(s string) string {
	quoted := strconv.Quote(s)
	inner := quoted[1 : len(quoted)-1]
	switch escaped := strings.ReplaceAll(strings.ReplaceAll(inner, `\"`, `"`), `\\`, `\`); {
	case plainWord.MatchString(s) && s[0] != '~' && s[0] != '=':
		return s
	case escaped == s:
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return "$'" + strings.ReplaceAll(inner, "'", `\'`) + "'"
}

// redisText quotes a text as one word for the prompt of redis-cli.
func redisText(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
