package nodescript

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxName is the length of the longest name in bytes, including the prefix.
const MaxName = 1024

// These keys of a node belong to no name.
const (
	GuardKey     = "holdfast:node"           // exists only while the node may vote
	AdmissionKey = "holdfast:node:admission" // why the node votes or does not
	KeptKey      = "holdfast:node:kept"      // outlives the guard; while it exists, no clock leap deleted records
	PeersKey     = "holdfast:node:peers"     // the servers that are members of the node set
	TrustKey     = "holdfast:node:trust"     // the challenge or mark that a voucher names, and its configuration
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

// RecordKey returns the key of name's record. Redis Cluster stores this key and the plain key in the same hash slot,
// because both have the same tag. The record of a name with a {tag} has that tag, and any other name becomes the tag of
// its record.
func RecordKey(name string) string {
	if tagged(name) {
		return name + taggedExtra + recordTail
	}
	return "{" + name + "}" + recordTail
}

// Lock names a lock and finds the keys of its name.
type Lock struct {
	Name    string
	Private bool // without the plain key

	made  []string // the keys; nil: each call makes them
	times Times
}

// NewLock returns a lock whose calls share their keys, and the text of the TTL if they use the TTL of times.
func NewLock(name string, private bool, times Times) Lock {
	l := Lock{Name: name, Private: private, times: times}
	l.made = l.keys()
	return l
}

// keys returns the keys of the record and, unless the lock is private, the plain key: the name itself.
func (l Lock) keys() []string {
	switch {
	case l.made != nil:
		return l.made
	case l.Private:
		return []string{RecordKey(l.Name)}
	}
	return []string{RecordKey(l.Name), l.Name}
}

// nameOf returns the name that has this record key.
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

// NameOfValue returns the name that has this key of a value.
func NameOfValue(key string) (name string, ok bool) {
	return nameOf(strings.TrimSuffix(key, valueExtra))
}

// QueueKey returns the key of the queue that belongs to a record.
func QueueKey(record string) string { return record + queueExtra }

// slotsHead returns the beginning of all keys of a semaphore. These keys end like a record or its queue, so no plain
// key can be equal to them. The part before the end distinguishes them from the keys of a lock.
func slotsHead(name string) string { return strings.TrimSuffix(RecordKey(name), recordTail[1:]) }

// SlotKey returns the key of the record of a semaphore's slot.
func SlotKey(name string, slot int) string { return slotsHead(name) + strconv.Itoa(slot) + recordTail }

// SlotsQueueKey returns the key of the queue that all slots of a semaphore share.
func SlotsQueueKey(name string) string { return slotsHead(name) + slotsQueue }

// slotsQueue is the end of the key of a semaphore's queue. Scripts know its length.
const slotsQueue = "slots" + queueTail

// OwnerOfMember returns the owner of a member of the queue with this key.
func OwnerOfMember(queue, member string) string {
	if strings.HasSuffix(queue, slotsQueue) && len(member) > slotDigits {
		return member[slotDigits:]
	}
	return member
}

// slotOf returns the name and the slot that have this record key.
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

// ForcedKey returns the key of the notes of an operator's releases that belong to a record. It is a hash: each field is an
// owner, with the token of the lease that has ended.
func ForcedKey(record string) string { return record + forceExtra }

// RecordOfReaders returns the record key to which a key of readers belongs.
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
	AnyKey       KeyKind = iota // no key of Holdfast, except plain keys
	NodeKey                     // belongs to no name
	RecordOfKey                 // the record of a name
	QueueOfKey                  // the queue of a name
	ReadersOfKey                // the readers of a name
	ValueOfKey                  // the value of a name
	ForcedOfKey                 // the notes of an operator's releases
)

// KindOf returns the kind of a key. It cannot tell a plain key from a key of another program.
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

// CheckName returns why name cannot be locked, or nil. Any bytes are allowed, also NUL and newline. CheckName refuses
// the empty name, a name longer than [MaxName], and the few names whose keys would collide with keys of Holdfast.
func CheckName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("name is empty; give the lock a name")
	case len(name) > MaxName:
		return fmt.Errorf("name has %d bytes; at most %d are allowed", len(name), MaxName)
	case strings.HasPrefix(name, reserved):
		return fmt.Errorf("name %q starts with %q, which keys of Holdfast's own do; choose another", name, reserved)
	case strings.HasSuffix(name, recordTail), strings.HasSuffix(name, queueTail), strings.HasSuffix(name, readTail), strings.HasSuffix(name, valueTail), strings.HasSuffix(name, forceTail):
		return fmt.Errorf("name %q ends like a key of Holdfast's own (%q, %q, %q, %q, %q); choose another", name, recordTail, queueTail, readTail, valueTail, forceTail)
	case !balanced(name):
		return fmt.Errorf("name %q has unbalanced braces, which would make its keys ambiguous; close or drop them", name)
	case untaggable(name):
		return fmt.Errorf("name %q has an empty tag {}, which would part its keys in Redis Cluster; drop it", name)
	}
	return nil
}

// CheckPrefix returns why no name with this prefix can be locked, or nil if some names can.
func CheckPrefix(prefix string) error {
	open := strings.Count(prefix, "{") - strings.Count(prefix, "}")
	return CheckName(prefix + "x" + strings.Repeat("}", max(open, 0)))
}

// untaggable reports whether the first tag in name is empty: {}. Redis Cluster then hashes the whole name, so no longer
// key can have the name's hash slot.
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
