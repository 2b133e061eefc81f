package nodescript

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxName is the largest length of a name in bytes, including the prefix.
const MaxName = 1024

// These keys of a node belong to no name.
const (
	GuardKey     = "holdfast:node"           // exists only while the node votes
	AdmissionKey = "holdfast:node:admission" // the state of the node's admission: why it votes, or why it does not
	KeptKey      = "holdfast:node:kept"      // expires later than the guard; while it exists, no leap of the clock has deleted records
	PeersKey     = "holdfast:node:peers"     // the servers that are members of the node set
	TrustKey     = "holdfast:node:trust"     // the challenge or mark that a voucher names, and the configuration of the voucher's client
)

const (
	reserved    = "holdfast:node"
	recordTail  = ":holdfast"
	queueExtra  = ":queue"
	queueTail   = recordTail + queueExtra
	readExtra   = ":readers"
	readTail    = recordTail + readExtra
	forceExtra  = ":forced"
	forceTail   = recordTail + forceExtra
	taggedExtra = ":" // distinguishes "{x}" from "x": both would have "{x}:holdfast"
)

// RecordKey returns the key of name's record. Redis Cluster must store this key and the plain key in the same hash
// slot. Both have the same tag: if name has a {tag}, the record key has this tag. Otherwise the whole name becomes the
// tag of the record key.
func RecordKey(name string) string {
	if tagged(name) {
		return name + taggedExtra + recordTail
	}
	return "{" + name + "}" + recordTail
}

// Lock is a name with the settings that decide which keys its calls use.
type Lock struct {
	Name    string
	Private bool // the lock has no plain key

	made  []string // the keys; nil: each call makes them anew
	times Times
}

// NewLock returns a lock whose calls share their keys. Calls with the TTL of times also share the text of that TTL.
func NewLock(name string, private bool, times Times) Lock {
	l := Lock{Name: name, Private: private, times: times}
	l.made = l.keys()
	return l
}

// keys returns the key of the record and, unless the lock is private, the plain key. The plain key is the name itself.
func (l Lock) keys() []string {
	switch {
	case l.made != nil:
		return l.made
	case l.Private:
		return []string{RecordKey(l.Name)}
	}
	return []string{RecordKey(l.Name), l.Name}
}

// nameOf returns the name whose record has this key, or false.
func nameOf(key string) (name string, ok bool) {
	name, ok = strings.CutSuffix(key, recordTail)
	if !ok {
		return "", false
	}
	if tag, ok := strings.CutSuffix(name, taggedExtra); ok && RecordKey(tag) == key {
		name = tag
	} else {
		name = strings.TrimSuffix(strings.TrimPrefix(name, "{"), "}")
	}
	return name, RecordKey(name) == key && CheckName(name) == nil
}

// NameOfValue returns the name whose value has this key, or false.
func NameOfValue(key string) (name string, ok bool) {
	return nameOf(strings.TrimSuffix(key, valueExtra))
}

// QueueKey returns the key of the queue that belongs to a record.
func QueueKey(record string) string { return record + queueExtra }

// slotsHead returns the first part of all keys of a semaphore. The keys end like a record or its queue, so no name of
// a lock can be equal to one of them. The first part makes them different from the keys of locks.
func slotsHead(name string) string { return strings.TrimSuffix(RecordKey(name), recordTail[1:]) }

// SlotKey returns the key of the record of a semaphore's slot.
func SlotKey(name string, slot int) string { return slotsHead(name) + strconv.Itoa(slot) + recordTail }

// SlotsQueueKey returns the key of the queue that all slots of a semaphore share.
func SlotsQueueKey(name string) string { return slotsHead(name) + slotsQueue }

// slotsQueue ends the key of a semaphore's queue. The scripts depend on its length.
const slotsQueue = "slots" + queueTail

// OwnerOfMember returns the owner in a member of a queue. In the queue of a semaphore, a member begins with a number.
func OwnerOfMember(queue, member string) string {
	if strings.HasSuffix(queue, slotsQueue) && len(member) > slotDigits {
		return member[slotDigits:]
	}
	return member
}

// slotOf returns the name and the slot whose record has this key, or false.
func slotOf(key string) (name string, slot int, ok bool) {
	head, ok := strings.CutSuffix(key, recordTail)
	if !ok {
		return "", 0, false
	}
	at := strings.LastIndexByte(head, ':') + 1
	slot, err := strconv.Atoi(head[at:])
	if err != nil || slot < 0 || slot >= MostSlots {
		return "", 0, false
	}
	name, ok = nameOf(head[:at] + recordTail[1:])
	return name, slot, ok && SlotKey(name, slot) == key
}

// ReadersKey returns the key of the readers that belong to a record.
func ReadersKey(record string) string { return record + readExtra }

// ForcedKey returns the key of the notes about leases that an operator has ended. The key is a hash. Each field is an
// owner, and its value is the token of the ended lease.
func ForcedKey(record string) string { return record + forceExtra }

// RecordOfReaders returns the key of the record to which a key of readers belongs, or false.
func RecordOfReaders(key string) (record string, ok bool) {
	if KindOf(key) != ReadersOfKey {
		return "", false
	}
	return strings.CutSuffix(key, readExtra)
}

// KeyKind is the kind of a key of a node.
type KeyKind uint8

// Kinds of keys.
const (
	AnyKey       KeyKind = iota // not a key of Holdfast, or a plain key
	NodeKey                     // belongs to no name
	RecordOfKey                 // the record of a name
	QueueOfKey                  // the queue of a name
	ReadersOfKey                // the readers of a name
	ValueOfKey                  // the value of a name
	ForcedOfKey                 // the notes about leases that an operator has ended
)

// KindOf returns the kind of a key. A plain key looks like a key of another program, so it is AnyKey.
func KindOf(key string) KeyKind {
	switch {
	case strings.HasPrefix(key, reserved):
		return NodeKey
	case strings.HasSuffix(key, queueTail):
		return QueueOfKey
	case strings.HasSuffix(key, valueTail):
		return ValueOfKey
	case strings.HasSuffix(key, readTail):
		return ReadersOfKey
	case strings.HasSuffix(key, forceTail):
		return ForcedOfKey
	case strings.HasSuffix(key, recordTail):
		return RecordOfKey
	}
	return AnyKey
}

// tagged reports whether Redis would hash only a part of name: the bytes between the first { and the first } after it.
// https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/#hash-tags
func tagged(name string) bool {
	_, after, ok := strings.Cut(name, "{")
	return ok && strings.Index(after, "}") > 0
}

// CheckName returns nil if name can be locked, otherwise an error. Any bytes are allowed, including NUL and newline.
// CheckName refuses the empty name, names longer than [MaxName], and the few names that could be confused with keys of
// Holdfast.
func CheckName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("name is empty; give the lock a name")
	case len(name) > MaxName:
		return fmt.Errorf("name has %d bytes; at most %d are allowed", len(name), MaxName)
	case strings.HasPrefix(name, reserved):
		return fmt.Errorf("name %q begins with %q, as the keys of a node do; choose another name", name, reserved)
	case strings.Contains(name, recordTail) && endsLikeKey(name):
		return fmt.Errorf("name %q ends like a key of Holdfast's own (%q, %q, %q, %q, %q); choose another name", name, recordTail, queueTail, readTail, valueTail, forceTail)
	case !balanced(name):
		return fmt.Errorf("name %q has unbalanced braces, which would make its keys ambiguous; close or remove them", name)
	case untaggable(name):
		return fmt.Errorf("name %q has an empty first pair of braces {}, and Redis Cluster would separate its keys; remove the pair", name)
	}
	return nil
}

// endsLikeKey reports whether name ends like one of the keys that Holdfast makes from a name.
func endsLikeKey(name string) bool {
	for _, tail := range [...]string{recordTail, queueTail, readTail, valueTail, forceTail} {
		if strings.HasSuffix(name, tail) {
			return true
		}
	}
	return false
}

// CheckPrefix returns nil if some names with this prefix can be locked, otherwise an error.
func CheckPrefix(prefix string) error {
	open := strings.Count(prefix, "{") - strings.Count(prefix, "}")
	return CheckName(prefix + "x" + strings.Repeat("}", max(open, 0)))
}

// untaggable reports whether the first tag in name is empty: {}. Redis Cluster then hashes the whole name. So no
// longer key can be in the hash slot of the name.
func untaggable(name string) bool {
	_, after, ok := strings.Cut(name, "{")
	return ok && strings.HasPrefix(after, "}")
}

func balanced(name string) bool {
	depth := 0
	for i := range len(name) {
		switch name[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth < 0 {
				return false
			}
		}
	}
	return depth == 0
}
