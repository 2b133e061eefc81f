package sim

import (
	"fmt"
	"strconv"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// opOf returns the operation of a call that is sent by digest, and the number of its arguments for one lock. It
// distinguishes operations by their arguments: see package nodescript.
func opOf(c node.Call) (op nodescript.Op, width int) {
	switch n := len(c.Args); {
	case n == 3:
		return nodescript.LoadValue, n
	case n < 4:
		return nodescript.Quit, n
	case n == 5 && len(c.Args[3]) == sequenceDigits:
		return nodescript.StoreValue, n
	case len(c.Args[0]) == 49 && len(c.Args[3]) == slotDigits:
		return nodescript.AcquireSlot, 6
	case len(c.Args[0]) == 49, len(c.Args[0]) == 32:
		return nodescript.Acquire, 4 // with the head of a record, or of a reader
	case n%5 == 0 && len(c.Args[3]) == 16 && len(c.Args[4]) == 16:
		return nodescript.Extend, 5
	case n%7 == 0 && len(c.Args[3]) == 1 && len(c.Args[4]) == slotDigits:
		return nodescript.ReleaseSlot, 7
	case len(c.Args[3]) == 1:
		return nodescript.Release, 4
	}
	return nodescript.Leave, 4
}

const (
	slotDigits     = 4
	sequenceDigits = 8 // the number of digits of the sequence of a write
)

// acquires, releases, extends and lefts report whether a call is of this operation.
func acquires(c node.Call) bool {
	op, _ := opOf(c)
	return op == nodescript.Acquire || op == nodescript.AcquireSlot
}

func releases(c node.Call) bool {
	op, _ := opOf(c)
	return op == nodescript.Release || op == nodescript.ReleaseSlot
}

func extends(c node.Call) bool { op, _ := opOf(c); return op == nodescript.Extend }
func loads(c node.Call) bool   { op, _ := opOf(c); return op == nodescript.LoadValue }
func stores(c node.Call) bool  { op, _ := opOf(c); return op == nodescript.StoreValue }

func lefts(c node.Call) bool {
	return len(c.Args) == 4 && c.Args[3] == nodescript.LeftOwner(c.Args[0])
}

// several returns the number of locks of a call, and the place of each one's arguments.
func several(c node.Call) (n, width int) {
	op, width := opOf(c)
	if op == nodescript.Quit || op == nodescript.Leave {
		return 1, len(c.Args)
	}
	return len(c.Args) / width, width
}

// acquisition is one acquire of a call.
type acquisition struct {
	record, owner, wants string
	stamp                string
}

// acquisitions returns the acquires of a call.
func acquisitions(c node.Call) (all []acquisition) {
	if !acquires(c) {
		return nil
	}
	n, width := several(c)
	for i := range n {
		a := c.Args[i*width : (i+1)*width]
		one := acquisition{record: c.Keys[i*len(c.Keys)/n], stamp: a[0][:16], wants: a[2], owner: a[3]}
		if width == 6 {
			one.wants, one.owner = a[1], a[2]
		}
		all = append(all, one)
	}
	return all
}

// ends notes that the client gives back what the owner has.
func (b *bid) ends(now time.Duration) { b.ended, b.over = true, now }

// asked notes the owners that appear in the calls of a client.
func (w *world) asked(h *host, calls []node.Call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range calls {
		n, width := several(c)
		switch {
		case acquires(c):
			for _, a := range acquisitions(c) {
				b := h.owners[a.owner]
				if b == nil {
					b = &bid{born: w.now(), name: a.record}
					h.owners[a.owner] = b
					h.bids++
				}
				b.ended = false // the earlier release of this owner only gave back a partial grant
				if from := h.owners[a.wants]; from != nil {
					from.ends(w.now()) // this owner passes its lease
				}
			}
		case extends(c):
			for i := range n {
				if b := h.owners[c.Args[i*width]]; b != nil {
					b.tries(c.Args[i*width : (i+1)*width])
				}
			}
		case releases(c):
			for i := range n {
				// A stamp of 0 declines a claim, or only leaves a queue, and releases no lease. An owner that moves to
				// another slot keeps its place in the queue.
				a := c.Args[i*width : (i+1)*width]
				quits := width == 7 && a[5] == ""
				if b := h.owners[a[0]]; b != nil && (a[1] != nodescript.Micros(0) || quits) && (width != 7 || a[6] == "0") {
					b.ends(w.now())
				}
			}
		case lefts(c):
			if !h.visitor && w.plan.Clients[h.slot].Gap > 0 && len(c.Keys) == 1 {
				w.result.Tally.Rare[GapLeft]++
			}
		case len(c.Args) == 1: // a quit
			if b := h.owners[c.Args[0]]; b != nil {
				b.ends(w.now())
			}
		}
	}
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
	n, _ := several(c)
	switch {
	case value == "":
	case n == 1 || value == "N":
		to(0, value)
	default:
		nodescript.Parts(value, n, to)
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
		locks, width := several(c)
		each(c, replies[i].Value, func(n int, answer string) {
			record := ""
			if len(c.Keys) > 0 { // a refresh has none
				record = c.Keys[n*len(c.Keys)/locks]
			}
			owner, stamp, yes := "", int64(0), false
			switch {
			case acquires(c):
				a := acquisitions(c)[n]
				owner, stamp, yes = a.owner, number(a.stamp), answer[0] == 'G'
			case extends(c):
				owner, stamp, yes = c.Args[5*n], number(c.Args[5*n+1]), answer[0] == 'R'
			case releases(c) && (answer[0] == 'D' || answer[0] == 'F'):
				owner = c.Args[width*n]
				highest := number(c.Args[width*n+1])
				s.back[record+owner] = max(s.back[record+owner], highest)
				if answer[0] == 'F' && s.gave[record+owner] >= highest {
					s.twice[record+owner] = true
				}
				if answer[0] == 'D' {
					s.gave[record+owner] = max(s.gave[record+owner], highest)
				}
				s.capped[owner] = s.capped[owner] || highest-s.clock() > 2*w.plan.Window.Microseconds()
			case lefts(c) && answer[0] == 'D':
				owner = c.Args[0]
				s.back[record+owner] = max(s.back[record+owner], number(c.Args[1]))
				s.gave[record+owner] = s.back[record+owner]
			}
			if back := s.back[record+owner]; yes && stamp <= back && !s.capped[owner] {
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
	case letter == 'G' && acquires(c) && len(acquisitions(c)[n].wants) > 16:
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
		case forces(p.text, c):
			what = "force"
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
		case loads(c):
			what = "load value"
		case stores(c):
			what = "store value"
		case len(c.Args) == 1:
			what = "quit"
		}
		fmt.Fprintf(w.trace, "%13.9f   client%d.%d node%d %s %v %v -> %q %v\n",
			w.now().Seconds(), l.h.slot, l.h.life, l.index, what, c.Keys, c.Args, replies[i].Value, replies[i].Err)
	}
}
