package nodescript

import (
	"fmt"
	"strconv"
	"time"
)

// Record is the stored state of one name on a node. It is one string with these fields and lengths:
//
//	seen(16) T(16) expiry(16) flag(1) leased(16) owner(…)
//
// A script reads it with one GET, and compares its fields as strings. The flag is 1 if somebody waits, plus 2 if the
// name has readers, or had readers since the last lease of a writer: see [Readers]. A script refuses a record with any
// other flag. So a later version can use new flags, and can store more data in keys of its own.
type Record struct {
	Seen    int64  // the highest token of a writer that this node has seen, µs; a new token must be higher
	Token   int64  // the owner's token T, µs; 0 marks a claim, which is a reservation and not a grant
	Expiry  int64  // µs of stamp time; the node compares it with its own clock
	Waiting bool   // somebody waits in the queue
	Shared  bool   // the name has a hash with readers
	Leased  int64  // the highest token of an earlier writer that may have had a lease, or the tombstone of that lease
	Owner   string // "" if the name is free
}

// digits is the length of a time in a record. recordHead is the position of the owner.
const (
	digits     = 16
	recordHead = 4*digits + 1
	recordFlag = 3 * digits

	// MostOwner is the largest length of an owner in bytes. Owners of [NewOwner] are shorter, and longer foreign
	// owners are cut. A record with a longer owner is corrupt. So each answer of a node has a limited length, even if
	// it quotes a foreign value.
	MostOwner  = 256
	MostRecord = recordHead + MostOwner
)

// RecordKept and GuardKept are the times for which keys stay after their use. A record stays for at least 2 h after
// its lease or release. The guard stays for 1 h after its last refresh, and so expires first. If a leap of the clock
// makes Redis delete records, Redis deletes the guard, too, and the node stops voting. [KeptKey] expires between the
// two, so MaxTTL + W must be shorter than the difference.
const (
	RecordKept = 2 * time.Hour
	GuardKept  = time.Hour

	// Claim is the shortest time for which a claim reserves a name for a waiter: see [Config.Claim].
	Claim = time.Second
	// QueueKept is the time for which a queue stays after the last question of a waiter. Each waiter asks about once a
	// second.
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
	if r.Expiry != 0 { // a released record may still contain the owner, because it would cost more to overwrite it
		r.Owner = s[recordHead:]
	}
	return r, nil
}

// Micros returns a time in µs as 16 digits. It returns the nearest possible time if the time is negative or too large.
func Micros(us int64) string {
	b := printed(us)
	return string(b[:])
}

// micros returns two times as one string.
func micros(a, b int64) string {
	var both [2 * digits]byte
	first, second := printed(a), printed(b)
	copy(both[:], first[:])
	copy(both[digits:], second[:])
	return string(both[:])
}

func printed(us int64) (b [digits]byte) {
	const smallest, largest = 1_000_000_000_000_000, 9_999_999_999_999_999
	if smallest <= us && us <= largest { // the fast way, for all times of this century
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
