package nodescript

import (
	"errors"
	"fmt"
	"strings"

	"github.com/holdfast-go/holdfast/node"
)

// MostTogether is how many calls one script runs at most: more would gain little, and
// keep a server busy for longer than a moment.
const MostTogether = 64

// width is how many arguments a call of a script that runs several has; 0: one at a time.
func (o Op) width() int {
	switch o {
	case Acquire, Release:
		return 4
	case Extend:
		return 5
	}
	return 0
}

// Together is calls of one operation that travel as one: the server finds the script,
// checks the guard and reads its clock once for all of them, which is most of what a
// call costs it. They are independent all the same: each has its own answer, or error.
type Together struct {
	Op         Op
	Keys, Args []string
	N          int // how many calls
}

// Add adds a call, and reports whether it did: not if it is of another operation or
// number of keys than the others, or one too many.
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

// Clear removes all calls, and keeps the room.
func (t *Together) Clear() {
	clear(t.Keys)
	clear(t.Args)
	t.Keys, t.Args, t.N = t.Keys[:0], t.Args[:0], 0
}

// ParseReplies reads the reply to t and hands out the answer to each of its calls.
func (t *Together) ParseReplies(r node.Reply, each func(i int, a Answer)) {
	if t.N == 1 {
		each(0, ParseReply(t.Op, r))
		return
	}
	if r.Err != nil || r.Value == "N" { // said once for all
		a := ParseReply(t.Op, r)
		for i := range t.N {
			each(i, a)
		}
		return
	}
	// The lengths must come to what is there, to the byte: if not, none of it is believed.
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

// Parts hands out the n answers that a script printed as one: the lengths of all, and then all. It hands out none, and
// reports false, if the text is not exactly that or an answer is empty.
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

// partSize is the length of an answer; -1 if there is no number.
func partSize(heads string, i int) (size int) {
	for _, c := range []byte(heads[i*partHead : (i+1)*partHead]) {
		if c < '0' || c > '9' {
			return -1
		}
		size = 10*size + int(c-'0')
	}
	return size
}

// partHead is the length of the number of each of several answers; mostPart is how long one is at most.
const (
	partHead = 3
	mostPart = 999
)

// Apart splits a call of op as a script that runs several does. It is for models of a
// node; the error is what a script would run into.
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

// Part is one of several answers, as a script prints it for [Join]. It is for models of a node.
func Part(value string, err error) string {
	if err != nil {
		value = "X" + err.Error()
	}
	return value[:min(len(value), mostPart)]
}

// Join is several answers in one, as a script prints them. It is for models of a node.
func Join(parts []string) string {
	var sizes strings.Builder
	for _, p := range parts {
		fmt.Fprintf(&sizes, "%0*d", partHead, len(p))
	}
	return sizes.String() + strings.Join(parts, "")
}
