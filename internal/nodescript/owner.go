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

// HasLeft reports whether an owner is one of [LeftOwner]: its client has ended the lease, and the name stays taken.
func HasLeft(owner string) bool {
	return strings.Count(owner, "~") == 3 && strings.HasSuffix(owner, LeftOwner(""))
}

// ClientOf is the client whose an owner is; "" of a foreign one.
func ClientOf(owner string) string {
	_, rest, _ := strings.Cut(owner, "~")
	client, _, ok := strings.Cut(rest, "~")
	if !ok {
		return ""
	}
	return client
}

// Handoff is the news of a hand-off. Where it is Wanted, it is the news of a holder that wants to repair its lease where
// Owner has a part of the name.
type Handoff struct {
	Owner  string // to whom
	Seen   int64  // the highest token that the node has seen, which the owner's next stamp must exceed; the token of the part
	Lock   Lock   // of what
	Wanted bool
}

// ParseHandoff reads the news of a hand-off.
func ParseHandoff(message string) (h Handoff, ok bool) {
	if len(message) <= digits {
		return h, false
	}
	seen, err := parseMicros(message[:digits])
	owner, of, _ := strings.Cut(message[digits:], "\n") // no owner of NewOwner has one
	if err != nil || owner == "" || len(owner) > MostOwner || len(of) < 2 || of[0] < '0' || of[0] > '3' {
		return h, false
	}
	name, ok := nameOf(of[1:])
	return Handoff{Owner: owner, Seen: seen, Lock: Lock{Name: name, Private: of[0]%2 == 0}, Wanted: of[0] >= '2'}, ok
}

// String is the news as a node tells them.
func (h Handoff) String() string {
	what := byte('1')
	if h.Lock.Private {
		what = '0'
	}
	if h.Wanted {
		what += 2
	}
	return Micros(h.Seen) + h.Owner + "\n" + string(what) + RecordKey(h.Lock.Name)
}

// Inbox is the channel on which a client hears of what is handed to its owners.
func Inbox(client string) string { return "holdfast:inbox:" + client }
