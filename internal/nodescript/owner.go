package nodescript

import (
	"strconv"
	"strings"
)

// An owner is label~client~ticket-random: who, for people; which client, for hand-offs;
// since when it waits, for those who contend with it; and what makes it one of a kind.

// NewOwner makes an owner. ticket is the first stamp of its wait or attempt.
func NewOwner(label, client string, ticket int64, random []byte) string {
	b := make([]byte, 0, 128)
	b = append(append(append(append(b, label...), '~'), client...), '~')
	b = append(append(strconv.AppendInt(b, ticket, 36), '-'), random...)
	return string(b)
}

// Ticket is an owner's ticket; not ok for a foreign owner.
func Ticket(owner string) (int64, bool) {
	_, rest, ok := strings.Cut(owner, "~")
	_, rest, ok2 := strings.Cut(rest, "~")
	text, _, ok3 := strings.Cut(rest, "-")
	if !ok || !ok2 || !ok3 {
		return 0, false
	}
	t, err := strconv.ParseInt(text, 36, 64)
	return t, err == nil
}

// ParseHandoff reads the news of a hand-off: whose it is, and the highest token that the
// node has seen, which the owner's next stamp must exceed.
func ParseHandoff(message string) (owner string, seen int64, ok bool) {
	if len(message) <= digits {
		return "", 0, false
	}
	seen, err := parseMicros(message[:digits])
	return message[digits:], seen, err == nil
}

// Inbox is the channel on which a client hears of what is handed to its owners.
func Inbox(client string) string { return "holdfast:inbox:" + client }
