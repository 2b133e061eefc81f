package setnx

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/node"
)

// verdict is what the server said to a call.
type verdict uint8

const (
	silent  verdict = iota // it did not answer, or answered with an error
	granted                // acquire: the client has the lock
	held                   // acquire: somebody else has it; release: the value has not ended
	foreign                // acquire: the key is no lock of this pattern
	done                   // renew, release: yes
	gone                   // renew, release: the value is not the holder's
)

// answer is the server's answer to one call.
type answer struct {
	verdict verdict
	value   string
	left    time.Duration // held: until this client would take it; foreign: negative if the key never expires; done: until the value ends
	kind    string        // foreign: the type
	err     error         // silent
}

// parse reads the answer of a script. It never panics: the reply may come from anything that listens at the address.
func parse(r node.Reply) answer {
	if r.Err != nil {
		return answer{err: r.Err}
	}
	code, rest := "", ""
	if r.Value != "" {
		code, rest = r.Value[:1], r.Value[1:]
	}
	head, value, split := strings.Cut(rest, "\n")
	switch code {
	case "G":
		if rest != "" && !split {
			return answer{verdict: granted, value: rest}
		}
	case "R":
		if left, err := millis(value); err == nil || !split {
			return answer{verdict: done, value: head, left: max(left, 0)}
		}
	case "L":
		return answer{verdict: gone, value: rest}
	case "H":
		if left, err := millis(head); err == nil && split {
			return answer{verdict: held, left: left, value: value}
		}
	case "F":
		kind, ttl, _ := strings.Cut(head, " ")
		if left, err := millis(ttl); err == nil && split {
			return answer{verdict: foreign, kind: kind, left: left, value: value}
		}
	}
	return answer{err: fmt.Errorf("answer %q of a script cannot be read; is this Redis or Valkey?", r.Value)}
}

func millis(text string) (time.Duration, error) {
	const most = int64(1<<63-1) / int64(time.Millisecond)
	n, err := strconv.ParseInt(text, 10, 64)
	return time.Duration(max(min(n, most), -1)) * time.Millisecond, err
}
