package nodescript

import (
	"fmt"
	"strconv"
	"time"
)

// Record is the data that a node stores for one name, as one string:
//
//	seen(16) T(16) expiry(16) flag(1) leased(16) owner(…)
//
// So a script reads it with one GET and compares its fields as strings. The flag is 1 if somebody waits, plus 2 if the
// name has readers, or had some since the last lease of a writer: see [Readers]. A script refuses a record with another
// flag. So later versions can mark their records, and can keep what they add under keys of their own.
type Record struct {
	Seen    int64  // the highest token of a writer ever seen, µs; a new token must exceed it
	Token   int64  // the owner's own token T, µs; 0 marks a claim: a reservation, not a grant
	Expiry  int64  // µs of stamp time; the node compares it with its TIME
	Waiting bool   // somebody waits in the queue
	Shared  bool   // the name has a hash of readers
	Leased  int64  // the highest token of a possible earlier lease of a writer, or its tombstone; not the owner's own
	Owner   string // "" if the name is free
}

// digits is the width of a time in a record. recordHead is the position of its owner.
const (
	digits     = 16
	recordHead = 4*digits + 1
	recordFlag = 3 * digits

	// MostOwner is the length of the longest owner in bytes. Owners of [NewOwner] are shorter, and longer foreign ones
	// are cut. A longer record counts as corrupt. So each answer of a node has a bound, even if it quotes a foreign
	// value.
	MostOwner  = 256
	MostRecord = recordHead + MostOwner
)

// RecordKept and GuardKept are the times for which keys outlive their use. A record stays at least 2 h after its lease
// or release, the guard 1 h after its last refresh. The guard expires first. So a clock leap that makes Redis delete
// records also deletes the guard. [KeptKey] expires between the two, so MaxTTL + W must be below their difference.
const (
	RecordKept = 2 * time.Hour
	GuardKept  = time.Hour

	// Claim is the shortest time for which a claim reserves a name for a waiter: see [Config.Claim].
	Claim = time.Second
	// QueueKept is how long a queue outlives the last question of a waiter. Each waiter asks about once a second.
	QueueKept = time.Minute
)

// String returns the record as a node stores it.
func (r Record) String() string {
	return r.head() + Micros(r.Leased) + r.Owner
}

// head returns the fields before leased.
func (r Record) head() string {
	var b [recordFlag + 1]byte
	for i, us := range [...]int64{r.Seen, r.Token, r.Expiry} {
		d := printed(us)
		copy(b[i*digits:], d[:])
	}
	b[recordFlag] = '0'
	if r.Waiting {
		b[recordFlag]++
	}
	if r.Shared {
		b[recordFlag] += 2
	}
	return string(b[:])
}

// ParseRecord reads a record from the value of its key.
func ParseRecord(s string) (r Record, err error) {
	if len(s) < recordHead {
		return r, fmt.Errorf("record of %d bytes; a record has at least %d", len(s), recordHead)
	}
	if len(s) > MostRecord {
		return r, fmt.Errorf("record of %d bytes or more; a record has at most %d", len(s), MostRecord)
	}
	for i, p := range []*int64{&r.Seen, &r.Token, &r.Expiry, &r.Leased} {
		at := i * digits
		if at >= recordFlag {
			at++
		}
		if *p, err = parseMicros(s[at : at+digits]); err != nil {
			return Record{}, err
		}
	}
	flag := s[recordFlag] - '0'
	if flag > 3 {
		return Record{}, fmt.Errorf("record with flag %q; want 0 to 3", s[recordFlag])
	}
	r.Waiting, r.Shared = flag&1 != 0, flag&2 != 0
	if r.Expiry != 0 { // a released record may still contain the owner, because overwriting it would cost more
		r.Owner = s[recordHead:]
	}
	return r, nil
}

// Micros returns a time as 16 digits. A negative time becomes 0, and a time that is too large becomes the largest one.
func Micros(us int64) string {
	b := printed(us)
	return string(b[:])
}

// micros returns two times in one string.
func micros(a, b int64) string {
	var both [2 * digits]byte
	first, second := printed(a), printed(b)
	copy(both[:], first[:])
	copy(both[digits:], second[:])
	return string(both[:])
}

func printed(us int64) (b [digits]byte) {
	const smallest, largest = 1_000_000_000_000_000, 9_999_999_999_999_999
	if smallest <= us && us <= largest { // every time of this century, and faster
		strconv.AppendInt(b[:0], us, 10)
		return b
	}
	us = min(max(us, 0), largest)
	for i := digits - 1; i >= 0; i-- {
		b[i] = byte('0' + us%10)
		us /= 10
	}
	return b
}

func parseMicros(s string) (int64, error) {
	if len(s) != digits {
		return 0, fmt.Errorf("time %q: want %d digits", s, digits)
	}
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil {
		return 0, fmt.Errorf("time %q: want %d digits", s, digits)
	}
	return int64(n), nil
}
