package nodescript

import (
	"fmt"
	"strconv"
	"time"
)

// Record is what a node keeps of one name: one string,
//
//	seen(16) T(16) expiry(16) waiting(1) leased(16) owner(…)
//
// so that a script reads it with one GET and compares its parts as strings.
type Record struct {
	Seen    int64  // the highest token ever seen, µs; a token must be above it
	Token   int64  // the owner's own token T, µs; 0 marks a claim: a reservation, not a grant
	Expiry  int64  // µs of stamp time; judged against the node's TIME
	Waiting bool   // somebody waits in the queue
	Leased  int64  // the highest token, but for the owner's own, that may have been a lease's, or its tombstone
	Owner   string // "" = free
}

// digits is the width of a time in a record; recordHead where its owner begins.
const (
	digits     = 16
	recordHead = 4*digits + 1
	recordFlag = 3 * digits

	// MostOwner is the longest owner in bytes: those of [NewOwner] are shorter, a foreign one is cut off. A longer
	// record is none: whatever a node answers has a bound, also where somebody else wrote what it quotes.
	MostOwner  = 256
	MostRecord = recordHead + MostOwner
)

// Times outlive their use by this much: a record stays at least 2 h after its lease or its
// release, the guard 1 h after its last refresh. The guard goes first, so a clock
// that leaps far enough to make Redis delete records deletes the guard too. Between
// the two goes [KeptKey], so max TTL + W must be below their difference.
const (
	RecordKept = 2 * time.Hour
	GuardKept  = time.Hour

	// Claim is how long a name that was handed to a waiter is reserved for it, at least: see [Config.Claim].
	Claim = time.Second
	// QueueKept is how long a queue outlives the last question of a waiter; each asks
	// again every second or so.
	QueueKept = time.Minute
)

// String returns the record as a node stores it.
func (r Record) String() string {
	return r.head() + Micros(r.Leased) + r.Owner
}

// head is what comes before the leased token.
func (r Record) head() string {
	var b [recordFlag + 1]byte
	for i, us := range [...]int64{r.Seen, r.Token, r.Expiry} {
		d := printed(us)
		copy(b[i*digits:], d[:])
	}
	b[recordFlag] = '0'
	if r.Waiting {
		b[recordFlag] = '1'
	}
	return string(b[:])
}

// ParseRecord reads what a node stores under a record key.
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
	if w := s[recordFlag]; w != '0' && w != '1' {
		return Record{}, fmt.Errorf("record with flag %q; want 0 or 1", w)
	}
	r.Waiting = s[recordFlag] == '1'
	if r.Expiry != 0 { // of a released one the owner's name may be left: writing over it would cost more
		r.Owner = s[recordHead:]
	}
	return r, nil
}

// Micros prints a time as 16 digits; a negative one as 0, a too large one as the largest.
func Micros(us int64) string {
	b := printed(us)
	return string(b[:])
}

// micros prints two times in one string.
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
