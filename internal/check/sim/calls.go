package sim

import (
	"fmt"
	"strconv"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// asked notes the owners that appear in the calls of a client.
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
					b = &bid{born: w.now(), name: c.Keys[i/width*(len(c.Keys)*width/len(c.Args))]}
					h.owners[owner] = b
					h.bids++
				}
				b.ended = false // the earlier release of this owner only gave back a partial grant
				if from := h.owners[c.Args[i+2]]; from != nil {
					from.ended = true // this owner passes its lease
				}
			}
		case extends(c):
			for i := 0; i < len(c.Args); i += 5 {
				if b := h.owners[c.Args[i]]; b != nil {
					b.tries(c.Args[i : i+5])
				}
			}
		case releases(c):
			for i := 0; i < len(c.Args); i += width {
				// A stamp of 0 declines a claim and releases no lease.
				if b := h.owners[c.Args[i]]; b != nil && c.Args[i+1] != nodescript.Micros(0) {
					b.ended = true
				}
			}
		case lefts(c):
			if !h.visitor && w.plan.Clients[h.slot].Gap > 0 && len(c.Keys) == 1 {
				w.result.Tally.Rare[GapLeft]++
			}
		case len(c.Args) == 1: // a quit
			if b := h.owners[c.Args[0]]; b != nil {
				b.ended = true
			}
		}
	}
}

// width is the number of arguments of an acquire and of a release: see package nodescript.
const width = 4

// acquires, releases and extends distinguish calls by their arguments.
func acquires(c node.Call) bool {
	const head, readersHead = 49, 32
	return len(c.Args) > 0 && len(c.Args)%width == 0 && (len(c.Args[0]) == head || len(c.Args[0]) == readersHead) && len(c.Args[1]) < 16
}

func releases(c node.Call) bool {
	return len(c.Args) > 0 && len(c.Args)%width == 0 && len(c.Args[3]) == 1
}

func extends(c node.Call) bool {
	return len(c.Args) > 0 && len(c.Args)%5 == 0 && len(c.Args[3]) == 16 && len(c.Args[4]) == 16
}

func lefts(c node.Call) bool {
	return len(c.Args) == 4 && c.Args[3] == nodescript.LeftOwner(c.Args[0])
}

// answered counts the answers of nodes.
func (w *world) answered(l *link, calls []node.Call, replies []node.Reply) {
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
		each(calls[i], r.Value, func(n int, answer string) {
			w.one(calls[i], n, answer)
			if extends(calls[i]) {
				w.renewed(l.h, l.index, calls[i].Args[5*n:5*n+5], answer)
			}
		})
	}
}

// each calls to once for each answer in the reply to a call. One reply may contain several answers: see
// [nodescript.Together].
func each(c node.Call, value string, to func(n int, answer string)) {
	several := 1
	switch {
	case extends(c):
		several = len(c.Args) / 5
	case acquires(c), releases(c):
		several = len(c.Args) / width
	}
	switch {
	case value == "":
	case several == 1 || value == "N":
		to(0, value)
	default:
		nodescript.Parts(value, several, to)
	}
}

// took notes each node that confirmed a release, or confirmed that it keeps a lock taken until later. Such a node must
// not grant or repair the lock when older commands of the lease come late. The check leaves out a node whose clock was
// far behind at that time. The tombstone of that node is at most W ahead of its clock, so a late acquire passes when
// the clock is set right.
func (w *world) took(s *server, calls []node.Call, replies []node.Reply) {
	w.mu.Lock()
	defer w.mu.Unlock()
	number := func(text string) int64 { n, _ := strconv.ParseInt(text, 10, 64); return n }
	for i, c := range calls {
		each(c, replies[i].Value, func(n int, answer string) {
			owner, stamp, yes := "", int64(0), false
			switch {
			case acquires(c):
				owner, stamp, yes = c.Args[width*n+3], number(c.Args[width*n][:16]), answer[0] == 'G'
			case extends(c):
				owner, stamp, yes = c.Args[5*n], number(c.Args[5*n+1]), answer[0] == 'R'
			case releases(c) && (answer[0] == 'D' || answer[0] == 'F'):
				owner = c.Args[width*n]
				highest := number(c.Args[width*n+1])
				s.back[owner] = max(s.back[owner], highest)
				s.capped[owner] = s.capped[owner] || highest-s.clock() > 2*w.plan.Window.Microseconds()
			case lefts(c) && answer[0] == 'D':
				owner = c.Args[0]
				s.back[owner] = max(s.back[owner], number(c.Args[1]))
			}
			if back := s.back[owner]; yes && stamp <= back && !s.capped[owner] {
				w.violated(ghost, -1, "ghost: node%d gives stamp %d to %s, who gave back all up to %d", s.index, stamp, owner, back)
			}
		})
	}
}

// one counts one answer. The caller holds w.mu.
func (w *world) one(c node.Call, n int, answer string) {
	out := &w.result.Tally.Outcomes
	if answer == "" {
		return
	}
	switch letter := answer[0]; {
	case letter == 'X' && node.ServerError(answer[1:]).Code == node.OOM:
		out[OutOfMemory]++
	case letter == 'G' && acquires(c) && len(c.Args[width*n+2]) > 16:
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

// traced writes a call to the trace, which people read.
func (w *world) traced(l *link, p parcel, replies []node.Reply) {
	for i, c := range p.calls {
		what := "call"
		switch {
		case p.text == nodescript.HelloText():
			what = "hello"
		case p.text == nodescript.PeersText():
			what = "peers"
		case p.text == nodescript.TrustText():
			what = "trust"
		case p.text != "":
			what = "admit"
		case acquires(c):
			what = "acquire"
		case extends(c):
			what = "extend"
		case releases(c):
			what = "release"
		case lefts(c):
			what = "leave"
		case len(c.Args) == 1:
			what = "quit"
		}
		fmt.Fprintf(w.trace, "%13.9f   client%d.%d node%d %s %v %v -> %q %v\n",
			w.now().Seconds(), l.h.slot, l.h.life, l.index, what, c.Keys, c.Args, replies[i].Value, replies[i].Err)
	}
}
