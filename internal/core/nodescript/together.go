package nodescript

import (
	"errors"
	"fmt"
	"strings"

	"github.com/holdfast-go/holdfast/node"
)

// MostTogether is the largest number of calls that one script call runs. A larger number would save little more, and
// would keep a server busy for too long.
const MostTogether = 64

// width returns the number of arguments of one call, or 0 if the script cannot run several calls together.
func (o Op) width() int { return scripts[o].width }

// Together combines several calls of one operation into one script call. The server finds the script, checks the guard
// and reads its clock only once for all of them, and these steps are most of the cost. The calls are independent: each
// has its own answer or error.
type Together struct {
	Op         Op
	Keys, Args []string
	N          int // the number of calls
}

// Add adds a call if it fits, and reports whether it did. It refuses a call of another operation, a call with another
// number of keys, and more than MostTogether calls.
func (t *Together) Add(c Call) bool {
	switch {
	case t.N == 0:
		t.Op, t.Keys, t.Args = c.Op, append(t.Keys[:0], c.Keys...), append(t.Args[:0], c.Args...)
	case t.Op != c.Op || t.N == MostTogether || c.Op.width() == 0 || len(c.Keys)*t.N != len(t.Keys):
		return false
	default:
		t.Keys, t.Args = append(t.Keys, c.Keys...), append(t.Args, c.Args...)
	}
	t.N++
	return true
}

// Clear removes all calls, and keeps the memory for the next ones.
func (t *Together) Clear() {
	clear(t.Keys)
	clear(t.Args)
	t.Keys, t.Args, t.N = t.Keys[:0], t.Args[:0], 0
}

// ParseReplies reads the reply to the script call. It calls each once for every combined call, with the answer to it.
func (t *Together) ParseReplies(r node.Reply, each func(i int, a Answer)) {
	if t.N == 1 {
		each(0, ParseReply(t.Op, r))
		return
	}
	if r.Err != nil || r.Value == "N" { // one reply for all calls
		a := ParseReply(t.Op, r)
		for i := range t.N {
			each(i, a)
		}
		return
	}
	// Use the reply only if the lengths in it add up to its size. Otherwise the reply is unreadable.
	ok := Parts(r.Value, t.N, func(i int, answer string) {
		part := node.Reply{Value: answer}
		if answer[0] == 'X' {
			part = node.Reply{Err: node.ServerError(answer[1:])}
		}
		each(i, ParseReply(t.Op, part))
	})
	if !ok {
		for i := range t.N {
			each(i, unreadable(t.Op, r.Value))
		}
	}
}

// Parts splits a reply that contains n answers: first the lengths of all answers, then the answers. It calls each for
// every answer. If the reply has another form or an answer is empty, Parts returns false and never calls each.
func Parts(value string, n int, each func(i int, answer string)) bool {
	if len(value) < n*partHead {
		return false
	}
	heads, rest, sum := value[:n*partHead], value[n*partHead:], 0
	for i := range n {
		size := partSize(heads, i)
		if size <= 0 {
			return false
		}
		sum += size
	}
	if sum != len(rest) {
		return false
	}
	for i := range n {
		size := partSize(heads, i)
		each(i, rest[:size])
		rest = rest[size:]
	}
	return true
}

// partSize returns the length of an answer, -1 if the text has no number there.
func partSize(heads string, i int) (size int) {
	for _, c := range []byte(heads[i*partHead : (i+1)*partHead]) {
		if c < '0' || c > '9' {
			return -1
		}
		size = 10*size + int(c-'0')
	}
	return size
}

// partHead is the number of digits of a length. mostPart is the largest length of an answer.
const (
	partHead = 3
	mostPart = 999
)

// Apart splits a script call into the calls of op that it combines, as the script does. Its error is the error that
// the script would answer. Models of a node use it.
func Apart(op Op, c node.Call) ([]Call, error) {
	if op.width() == 0 || len(c.Args) == op.width() {
		return []Call{{op, c.Keys, c.Args}}, nil
	}
	n := len(c.Args) / op.width()
	if n == 0 || n*op.width() != len(c.Args) || len(c.Keys)%n != 0 {
		return nil, errors.New("calls of different shapes in one")
	}
	keys, calls := len(c.Keys)/n, make([]Call, n)
	for i := range calls {
		calls[i] = Call{op, c.Keys[i*keys : (i+1)*keys], c.Args[i*op.width() : (i+1)*op.width()]}
	}
	return calls, nil
}

// Part returns one answer in the form that Join expects. Models of a node use it.
func Part(value string, err error) string {
	if err != nil {
		value = "X" + err.Error()
	}
	return value[:min(len(value), mostPart)]
}

// Join combines several answers into one reply, as a script does. Models of a node use it.
func Join(parts []string) string {
	var sizes strings.Builder
	for _, p := range parts {
		fmt.Fprintf(&sizes, "%0*d", partHead, len(p))
	}
	return sizes.String() + strings.Join(parts, "")
}
