package nodescript

import (
	"strconv"
	"strings"
	"sync"

	"github.com/holdfast-go/holdfast/node"
)

// HeadOfValue is the number of bytes of a value that look answers. A list shows only the beginning of a value.
const HeadOfValue = 64

// RecordPattern matches the keys of all records, and few other keys. ValuePattern does the same for values.
const (
	RecordPattern = "*" + recordTail
	ValuePattern  = "*" + valueTail
)

var (
	scanText = sync.OnceValue(func() string { return text("scan") })
	haveText = sync.OnceValue(func() string { return text("have") })
	lookText = sync.OnceValue(func() string { return viewing("look") })
)

// ScanText returns the text of scan.
func ScanText() string { return scanText() }

// ScanCall asks for keys that match a pattern, from a cursor on. The node examines about count keys. Send it with
// [ScanText].
func ScanCall(cursor, pattern string, count int) node.Call {
	return node.Call{Args: []string{cursor, pattern, strconv.Itoa(count)}}
}

// ParseScan reads the answer to scan. It returns the keys and the next cursor, which is "0" at the end.
func ParseScan(r node.Reply) (keys []string, cursor string, err error) {
	bad := Unreadable("unreadable answer to scan; is this Redis or Valkey?")
	if r.Err != nil {
		return nil, "", noScripts(r.Err)
	}
	cursor, rest, ok := strings.Cut(r.Value, "\n")
	if _, err := strconv.ParseUint(cursor, 10, 64); !ok || err != nil {
		return nil, "", bad
	}
	for rest != "" {
		key, after, ok := sized(rest, 4)
		if !ok {
			return nil, "", bad
		}
		keys, rest = append(keys, strings.Clone(key)), after
	}
	return keys, cursor, nil
}

// sized reads a text that follows its own length. The length has a fixed number of digits.
func sized(s string, digits int) (text, rest string, ok bool) {
	if len(s) < digits {
		return "", "", false
	}
	n, err := strconv.ParseUint(s[:digits], 10, 31)
	if err != nil || digits+int(n) > len(s) {
		return "", "", false
	}
	return s[digits : digits+int(n)], s[digits+int(n):], true
}

// HaveText returns the text of have.
func HaveText() string { return haveText() }

// HaveCall asks which of these keys exist. Send it with [HaveText].
func HaveCall(keys []string) node.Call { return node.Call{Keys: keys} }

// ParseHave reads the answer to a have with n keys.
func ParseHave(r node.Reply, n int) ([]bool, error) {
	if r.Err != nil {
		return nil, noScripts(r.Err)
	}
	if len(r.Value) != n {
		return nil, Unreadable("unreadable answer to have; is this Redis or Valkey?")
	}
	has := make([]bool, n)
	for i := range n {
		has[i] = r.Value[i] == '1'
	}
	return has, nil
}

// Listed is a lock, or a slot of a semaphore, that a node has a record of.
type Listed struct {
	Name string
	Slot int // -1: a lock
}

// ListedOf returns the lock or slot whose record has this key, or false if the key is not a record's key.
func ListedOf(key string) (l Listed, ok bool) {
	if name, slot, ok := slotOf(key); ok {
		return Listed{name, slot}, true
	}
	name, ok := nameOf(key)
	return Listed{name, -1}, ok
}

// Record returns the key of the record.
func (l Listed) Record() string {
	if l.Slot >= 0 {
		return SlotKey(l.Name, l.Slot)
	}
	return RecordKey(l.Name)
}

// Glance is the line of a list about a lock on one node.
type Glance struct {
	View
	Waiters int
	First   int64  // the ticket of the first waiter in µs, or 0
	Value   string // the beginning of the value, or ""
}

// LookText returns the text of look.
func LookText() string { return lookText() }

// LookCall asks for the content of the keys of some locks. Send it with [LookText].
func LookCall(list []Listed) node.Call {
	keys := make([]string, 0, 4*len(list))
	for _, l := range list {
		record := l.Record()
		if l.Slot >= 0 {
			none := noKey(l.Name)
			keys = append(keys, record, none, SlotsQueueKey(l.Name), none) // a slot has no plain key and no value
		} else {
			keys = append(keys, record, l.Name, QueueKey(record), ValueKey(record))
		}
	}
	return node.Call{Keys: keys}
}

// ParseLook reads the answer to a look at n locks. errs contains an error for each lock whose keys have values that
// Holdfast does not write. memory identifies the memory of the node. It changes when the node loses its memory.
func ParseLook(r node.Reply, n int) (all []Glance, errs []error, memory string, err error) {
	bad := Unreadable("unreadable answer to look; is this Redis or Valkey?")
	if r.Err != nil {
		return nil, nil, "", noScripts(r.Err)
	}
	memory, rest, ok := strings.Cut(r.Value, "\n")
	if !ok {
		return nil, nil, "", bad
	}
	all, errs = make([]Glance, n), make([]error, n)
	for i := range n {
		var view string
		if view, rest, ok = sized(rest, 6); !ok || len(rest) < countDigits+digits {
			return nil, nil, "", bad
		}
		g := &all[i]
		if g.View, errs[i] = ParseView(node.Reply{Value: view}); errs[i] != nil {
			if _, corrupt := errs[i].(BadRecord); !corrupt {
				return nil, nil, "", bad
			}
		}
		if g.Waiters, err = parseCount(rest); err != nil {
			return nil, nil, "", bad
		}
		if g.First, err = parseMicros(rest[countDigits : countDigits+digits]); err != nil {
			return nil, nil, "", bad
		}
		var value string
		if value, rest, ok = sized(rest[countDigits+digits:], 3); !ok {
			return nil, nil, "", bad
		}
		if text, is := strings.CutPrefix(value, "v"); is { // v is the kind of a value that exists
			g.Value = strings.Clone(text)
		}
	}
	if rest != "" {
		return nil, nil, "", bad
	}
	return all, errs, strings.Clone(memory), nil
}
