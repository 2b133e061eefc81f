package nodescript

import (
	"strconv"
	"strings"

	"github.com/holdfast-go/holdfast/internal/core/printable"
)

// An owner is label~client~ticket-random. People read the label. Hand-offs need the client. Competing attempts compare
// tickets. The random part makes the owner unique.

// NewOwner returns a new owner. ticket is the first stamp of its wait or attempt.
func NewOwner(label, client string, ticket int64, random []byte) string {
	b := make([]byte, 0, 128)
	b = append(append(append(append(b, label...), '~'), client...), '~')
	b = append(append(strconv.AppendInt(b, ticket, 36), '-'), random...)
	return string(b)
}

// readerTail ends the owner of a reader. So each place that stores an owner also tells its mode.
const readerTail = "~r"

// ReaderOwner returns the owner of a reader for an owner of [NewOwner].
func ReaderOwner(owner string) string { return owner + readerTail }

// IsReader reports whether an owner is a reader's.
func IsReader(owner string) bool { return strings.HasSuffix(owner, readerTail) }

// Ticket returns the ticket of an owner. It returns false for a foreign owner.
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

// HasLeft reports whether an owner was made by [LeftOwner]: its client has ended the lease, and the name stays taken.
func HasLeft(owner string) bool {
	owner = strings.TrimSuffix(owner, readerTail)
	return strings.Count(owner, "~") == 3 && strings.HasSuffix(owner, LeftOwner(""))
}

// ClientOf returns the client id of an owner, "" if it is foreign.
func ClientOf(owner string) string {
	_, rest, _ := strings.Cut(owner, "~")
	client, _, ok := strings.Cut(rest, "~")
	if !ok {
		return ""
	}
	return client
}

// LabelOf returns the label of an owner unchanged: the part before the first "~". [Label] returns it in a form for
// people.
func LabelOf(owner string) string {
	label, _, _ := strings.Cut(owner, "~")
	return label
}

// Label returns the label of an owner for people. If no client can have this label, it returns the whole owner in
// quotes. A label with spaces, for example, could look like the rest of the sentence.
func Label(owner string) string {
	label := LabelOf(owner)
	if label == "" || len(label) > 64 || strings.ContainsFunc(label, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '"' }) {
		return strconv.Quote(printable.Text(owner))
	}
	return label
}

// Handoff is the message of a hand-off. If Wanted is set, it is the message that a holder wants the place of Owner's
// partial grant, to repair its lease there.
type Handoff struct {
	Owner  string // the owner that gets it
	Seen   int64  // the node's highest token seen: the next stamp must exceed it; if Wanted, the partial grant's token
	Lock   Lock   // the lock that it is about
	Wanted bool

	OfSlot bool // it is about a slot of a semaphore, and Lock has the semaphore's name
	Slot   int
}

// ParseHandoff reads the message of a hand-off.
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

// Inbox returns the channel on which a client hears of hand-offs to its owners.
func Inbox(client string) string { return "holdfast:inbox:" + client }
