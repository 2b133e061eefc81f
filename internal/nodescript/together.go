package nodescript

import (
	"errors"
	"fmt"
	"strconv"

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
	rest := r.Value
	if r.Err != nil || rest == "N" { // said once for all
		a := ParseReply(t.Op, r)
		for i := range t.N {
			each(i, a)
		}
		return
	}
	for i := range t.N {
		var part node.Reply
		if part.Value, rest = cutPart(rest); part.Value == "" {
			// What comes after it could be anybody's.
			for ; i < t.N; i++ {
				each(i, unreadable(t.Op, r.Value))
			}
			return
		}
		if part.Value[0] == 'X' {
			part = node.Reply{Err: node.ServerError(part.Value[1:])}
		}
		each(i, ParseReply(t.Op, part))
	}
}

// cutPart cuts the first answer off several; it is empty if there is none.
func cutPart(s string) (part, rest string) {
	if len(s) < partHead {
		return "", ""
	}
	n, err := strconv.ParseUint(s[:partHead], 10, 16)
	if err != nil || uint64(len(s)-partHead) < n {
		return "", ""
	}
	return s[partHead : partHead+n], s[partHead+n:]
}

// partHead is the length of the number before each of several answers.
const partHead = 3

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

// Part is one of several answers, as a script prints it. It is for models of a node.
func Part(value string, err error) string {
	if err != nil {
		value = "X" + err.Error()
	}
	return fmt.Sprintf("%0*d%s", partHead, len(value), value)
}
