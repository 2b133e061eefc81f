package nodescript

import (
	"strconv"
	"strings"

	"github.com/holdfast-go/holdfast/internal/core/printable"
)

// An owner has the form label~client~ticket-random. The label is for people. Nodes send hand-offs to the client.
// Competing attempts compare their tickets. The random part makes the owner unique.

// NewOwner returns a new owner. ticket is the first stamp of its wait or attempt.
func NewOwner(label, client string, ticket int64, random []byte) string {
	b := make([]byte, 0, 128)
	b = append(append(append(append(b, label...), '~'), client...), '~')
	b = append(append(strconv.AppendInt(b, ticket, 36), '-'), random...)
	return string(b)
}

// readerTail ends the owner of every reader. So wherever an owner is stored, it also shows that it is a reader.
const readerTail = "~r"

// ReaderOwner turns an owner of [NewOwner] into the owner of a reader.
func ReaderOwner(owner string) string { return owner + readerTail }

// IsReader reports whether an owner belongs to a reader.
func IsReader(owner string) bool { return strings.HasSuffix(owner, readerTail) }

// Ticket returns the ticket in an owner, or false for a foreign owner.
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

// HasLeft reports whether [LeftOwner] made an owner: the lease has ended, and its client keeps the name taken.
func HasLeft(owner string) bool {
	owner = strings.TrimSuffix(owner, readerTail)
	return strings.Count(owner, "~") == 3 && strings.HasSuffix(owner, LeftOwner(""))
}

// ClientOf returns the client id in an owner, or "" for a foreign owner.
func ClientOf(owner string) string {
	_, rest, _ := strings.Cut(owner, "~")
	client, _, ok := strings.Cut(rest, "~")
	if !ok {
		return ""
	}
	return client
}

// LabelOf returns the label of an owner: the part before the first "~", unchanged. [Label] returns a form for
// messages.
func LabelOf(owner string) string {
	label, _, _ := strings.Cut(owner, "~")
	return label
}

// Label returns the label of an owner for messages to people. If no client can have made this label, Label returns the
// whole owner in quotes. A label with spaces, for example, could otherwise look like a part of the message.
func Label(owner string) string {
	label := LabelOf(owner)
	if label == "" || len(label) > 64 || strings.ContainsFunc(label, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '"' }) {
		return strconv.Quote(printable.Text(owner))
	}
	return label
}

// Handoff is a message from a node to a client. Usually it says that the node has reserved a name for Owner. If Wanted
// is set, Owner has a partial grant on the node, and the holder of a lease wants to repair its lease there.
type Handoff struct {
	Owner  string // the owner to which the message goes
	Seen   int64  // the highest token that the node has seen; if Wanted: the token of the partial grant
	Lock   Lock   // the lock that the message is about
	Wanted bool

	OfSlot bool // the message is about a slot, and Lock has the name of the semaphore
	Slot   int
}

// ParseHandoff reads a message from a client's inbox. It returns false if the message is not one of Holdfast.
func ParseHandoff(message string) (h Handoff, ok bool) {
	if len(message) <= digits {
		return h, false
	}
	seen, err := parseMicros(message[:digits])
	owner, of, _ := strings.Cut(message[digits:], "\n") // no owner of NewOwner contains a line break
	if err != nil || owner == "" || len(owner) > MostOwner || len(of) < 2 || of[0] < '0' || of[0] > '3' {
		return h, false
	}
	h = Handoff{Owner: owner, Seen: seen, Lock: Lock{Private: of[0]%2 == 0}, Wanted: of[0] >= '2'}
	if h.Lock.Name, h.Slot, h.OfSlot = slotOf(of[1:]); h.OfSlot {
		return h, h.Lock.Private // a slot has no plain key
	}
	h.Lock.Name, ok = nameOf(of[1:])
	return h, ok
}

// String returns the message as a node sends it.
func (h Handoff) String() string {
	what := byte('1')
	if h.Lock.Private {
		what = '0'
	}
	if h.Wanted {
		what += 2
	}
	key := RecordKey(h.Lock.Name)
	if h.OfSlot {
		key = SlotKey(h.Lock.Name, h.Slot)
	}
	return Micros(h.Seen) + h.Owner + "\n" + string(what) + key
}

// Inbox returns the channel on which a client receives the hand-offs to its owners.
func Inbox(client string) string { return "holdfast:inbox:" + client }
