package sim

import (
	"fmt"
	"strings"

	"github.com/holdfast-go/holdfast/internal/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// asked notes the owners that calls of a client bid under.
func (w *world) asked(h *host, calls []node.Call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range calls {
		switch {
		case acquires(c):
			for i := 0; i < len(c.Args); i += width {
				owner := c.Args[i+3]
				b := h.owners[owner]
				if b == nil {
					b = &bid{name: c.Keys[i/width*(len(c.Keys)*width/len(c.Args))]}
					h.owners[owner] = b
					h.bids++
				}
				b.ended = false // it had only given a part back
			}
		case extends(c):
		case releases(c):
			for i := 0; i < len(c.Args); i += width {
				if b := h.owners[c.Args[i]]; b != nil {
					b.ended = true
				}
			}
		case len(c.Args) == 1: // a quit
			if b := h.owners[c.Args[0]]; b != nil {
				b.ended = true
			}
		}
	}
}

// width is how many arguments an acquire and a release have, see package nodescript.
const width = 4

// acquires, releases and extends tell calls apart by their arguments.
func acquires(c node.Call) bool {
	return len(c.Args) > 0 && len(c.Args)%width == 0 && len(c.Args[0]) == 49 && len(c.Args[1]) < 16
}

func releases(c node.Call) bool {
	return len(c.Args) > 0 && len(c.Args)%width == 0 && len(c.Args[3]) == 1
}

func extends(c node.Call) bool {
	return len(c.Args) > 0 && len(c.Args)%5 == 0 && len(c.Args[3]) == 16 && len(c.Args[4]) == 16
}

// answered counts what nodes answer.
func (w *world) answered(h *host, calls []node.Call, replies []node.Reply) {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := &w.result.Tally.Outcomes
	for i, r := range replies {
		switch code := node.Code(r.Err); {
		case code == node.NoScript:
			out[NoScript]++
		case code == node.OOM:
			out[OutOfMemory]++
		}
		c := calls[i]
		rest := r.Value
		for n := 0; rest != ""; n++ {
			part := rest
			if rest[0] >= '0' && rest[0] <= '9' && len(rest) > 3 { // several answers, see nodescript.Together
				size := int(rest[0]-'0')*100 + int(rest[1]-'0')*10 + int(rest[2]-'0')
				part, rest = rest[3:3+size], rest[3+size:]
			} else {
				rest = ""
			}
			w.one(c, n, part)
		}
	}
}

// one counts one answer. w.mu is held.
func (w *world) one(c node.Call, n int, answer string) {
	out := &w.result.Tally.Outcomes
	if answer == "" {
		return
	}
	switch letter := answer[0]; {
	case letter == 'X' && strings.Contains(answer, "OOM"):
		out[OutOfMemory]++
	case letter == 'G' && acquires(c) && len(c.Args[3*n+2]) > 16:
		out[Passed]++
	case letter == 'H':
		if answer[1] == 'c' {
			out[ClaimMet]++
		}
		if answer[1+1+16] != '-' {
			out[Joined]++
		}
	case letter == 'S', letter == 'P':
		out[Stale]++
	case letter == 'O':
		out[NodeOffClock]++
	case letter == 'N':
		out[NotAdmitted]++
	case letter == 'R' && extends(c):
		out[Repaired]++
	case letter == 'L':
		out[NodeLost]++
	}
}

// traced writes a call down, for people.
func (w *world) traced(l *link, p parcel, replies []node.Reply) {
	for i, c := range p.calls {
		what := "call"
		switch {
		case p.text == nodescript.HelloText():
			what = "hello"
		case p.text != "":
			what = "admit"
		case acquires(c):
			what = "acquire"
		case extends(c):
			what = "extend"
		case releases(c):
			what = "release"
		case len(c.Args) == 1:
			what = "quit"
		}
		fmt.Fprintf(w.trace, "%13.9f   client%d.%d node%d %s %v %v -> %q %v\n",
			w.now().Seconds(), l.h.slot, l.h.life, l.index, what, c.Keys, c.Args, replies[i].Value, replies[i].Err)
	}
}
