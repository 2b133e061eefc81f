package nodescript

import (
	"strconv"
	"strings"
	"sync"

	"github.com/holdfast-go/holdfast/node"
)

var peekText = sync.OnceValue(func() string {
	return strings.ReplaceAll(text("peek"), "@MOSTVALUE@", strconv.Itoa(valueHead+MostValue))
})

// PeekText returns the text of peek.
func PeekText() string { return peekText() }

// PeekCall asks for the value of the register of l, as anybody. Send it with [PeekText].
func PeekCall(l Lock) node.Call { return node.Call{Keys: []string{ValueKey(RecordKey(l.Name))}} }

// ParsePeek reads the reply to peek. The value is nil if there is none.
func ParsePeek(r node.Reply) (*Stored, error) {
	bad := Unreadable("unreadable answer to peek; is this Redis or Valkey?")
	switch {
	case r.Err != nil:
		return nil, noScripts(r.Err)
	case r.Value == "-":
		return nil, nil
	case len(r.Value) < 1+digits || r.Value[0] != 'V':
		return nil, bad
	}
	v, ok := parseStored("-" + r.Value[1+digits:])
	if !ok {
		return nil, bad
	}
	return v, nil
}

var valuedText = sync.OnceValue(func() string { return text("valued") })

// ValuedText returns the text of valued.
func ValuedText() string { return valuedText() }

// ValuedCall asks for keys of registers, beginning at a cursor. Send it with [ValuedText].
func ValuedCall(cursor string) node.Call { return node.Call{Args: []string{cursor}} }

// ParseValued reads the reply to valued. It returns the names that have a register, and the next cursor: "0" at the end.
func ParseValued(r node.Reply) (names []string, cursor string, err error) {
	bad := Unreadable("unreadable answer to valued; is this Redis or Valkey?")
	if r.Err != nil {
		return nil, "", noScripts(r.Err)
	}
	cursor, rest, ok := strings.Cut(r.Value, "\n")
	if _, err := strconv.ParseUint(cursor, 10, 64); !ok || err != nil {
		return nil, "", bad
	}
	for rest != "" {
		if len(rest) < 4 {
			return nil, "", bad
		}
		n, err := strconv.ParseUint(rest[:4], 10, 16)
		if rest = rest[4:]; err != nil || int(n) > len(rest) {
			return nil, "", bad
		}
		if name, ok := nameOf(strings.TrimSuffix(rest[:n], valueExtra)); ok {
			names = append(names, strings.Clone(name))
		}
		rest = rest[n:]
	}
	return names, cursor, nil
}
