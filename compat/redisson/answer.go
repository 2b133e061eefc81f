package redisson

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/printable"
	"github.com/holdfast-go/holdfast/node"
)

// verdict is the meaning of a node's answer to a call.
type verdict uint8

const (
	silent    verdict = iota // no answer came, or an error
	granted                  // acquire: the attempt has the lock on this node
	held                     // acquire: somebody else has the lock
	otherKind                // acquire: the key is not a hash
	cancelled                // acquire: the latch forbids it, because the attempt has ended
	done                     // renew, release: the node did it
	gone                     // renew, release: the node does not have the lock
)

// answer is a node's answer to one call. The comments name the verdicts to which a field belongs.
type answer struct {
	verdict verdict
	token   int64         // granted: the fencing token; 0: there is none
	left    time.Duration // held, otherKind; negative: the key never expires
	count   int           // held: the reentrant count
	mode    string        // held: the field mode of the hash, "read" or "write", or ""
	holder  string        // held: the field of the holder
	kind    string        // otherKind: the type of the key
	value   string        // otherKind: the start of the key's text
	err     error         // silent
}

// parse reads the answer of a script. It must not panic, because any program may listen at the address and send
// anything.
func parse(r node.Reply) answer {
	if r.Err != nil {
		return answer{err: r.Err}
	}
	code, rest := "", ""
	if r.Value != "" {
		code, rest = r.Value[:1], r.Value[1:]
	}
	head, tail, _ := strings.Cut(rest, "\n")
	words := strings.Split(head, " ")
	number := func(i int) (n int64) {
		if i < len(words) {
			n, _ = strconv.ParseInt(words[i], 10, 64)
		}
		return n
	}
	switch {
	case code == "G":
		return answer{verdict: granted, token: number(0)}
	case code == "C" && rest == "":
		return answer{verdict: cancelled}
	case code == "R" && rest == "":
		return answer{verdict: done}
	case code == "L" && rest == "":
		return answer{verdict: gone}
	case code == "H" && len(words) == 3:
		a := answer{verdict: held, left: ms(number(0)), count: int(number(1)), mode: words[2], holder: tail}
		if a.mode == "-" {
			a.mode = ""
		}
		return a
	case code == "K" && len(words) == 2:
		return answer{verdict: otherKind, kind: words[0], left: ms(number(1)), value: tail}
	}
	return answer{err: fmt.Errorf("answer %q of a script cannot be read; is this Redis or Valkey?", r.Value)}
}

func ms(n int64) time.Duration {
	const most = int64(1<<63-1) / int64(time.Millisecond)
	return time.Duration(max(min(n, most), -1)) * time.Millisecond
}

// who returns the holder. All readers are one holder: nodes may name different readers of one lock.
func (a answer) who() string {
	if a.mode == "read" {
		return a.mode
	}
	return a.holder
}

// String returns the answer in words for people.
func (a answer) String() string {
	switch a.verdict {
	case granted:
		return "granted"
	case held:
		return "held by " + printable.Text(a.holder)
	case otherKind:
		return "the key is a " + printable.Text(a.kind)
	case cancelled:
		return "cancelled before"
	case done:
		return "done"
	case gone:
		return "does not have it"
	}
	if a.err == nil {
		return "no answer yet"
	}
	return node.Reason(a.err)
}
