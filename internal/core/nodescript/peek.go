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

// PeekCall asks for the value of l. Unlike LoadValueCall, it works without the lock. Send it with [PeekText].
func PeekCall(l Lock) node.Call { return node.Call{Keys: []string{ValueKey(RecordKey(l.Name))}} }

// GuardCall asks for the configuration under which a node votes. Send it with [PeekText].
func GuardCall() node.Call { return node.Call{Keys: []string{GuardKey}} }

// ParseGuard reads the answer to GuardCall. It returns the text of a [Config], or "" if the node does not vote.
func ParseGuard(r node.Reply) (config string, err error) {
	if r.Err != nil {
		return "", noScripts(r.Err)
	}
	guard, _ := strings.CutPrefix(r.Value, "V") // the other answer is -
	guard = guard[:max(strings.LastIndexByte(guard, ' '), 0)]
	return guard[:min(len(guard), mostOfConfig)], nil
}

// ParsePeek reads the answer to peek. It returns nil if the name has no value.
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
