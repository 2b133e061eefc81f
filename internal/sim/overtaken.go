package sim

import (
	"math/bits"

	"github.com/holdfast-go/holdfast/internal/nodescript"
)

// mostOvertakes is how often a place in line may be overtaken by one client: eight passes in a row, and one more
// where the lease that was held when the place was taken did not know of it.
const mostOvertakes = 8 + 1

// standing is a place in the queues of a name, by its owner.
type standing struct {
	nodes uint32      // in the queues of which it has stood at every grant since it is counted
	by    map[int]int // how often each client overtook it since
}

// overtaken checks at each grant that nobody who stands in line is overtaken too often by one client. It holds in every
// world: any majority that grants has a node of those in whose queues somebody stands, and that node says so. The only
// excuse is a place that was not there all along on the same majority of nodes: it was handed the name or
// skipped, its client left, or a node forgot it.
// w.mu is held.
func (w *world) overtaken(n *name, x *wait, owner string) {
	ticket, ok := nodescript.Ticket(owner)
	if !ok {
		return
	}
	stands, order := map[string]uint32{}, []string(nil)
	for i, s := range w.servers {
		for _, o := range s.model.Queue(n.record + ":queue") {
			if stands[o] == 0 {
				order = append(order, o)
			}
			stands[o] |= 1 << i
		}
	}
	for o := range n.stands {
		if stands[o] == 0 {
			delete(n.stands, o)
		}
	}
	for _, o := range order {
		p := n.stands[o]
		if p == nil || bits.OnesCount32(p.nodes&stands[o]) < w.plan.majority() {
			if n.stands == nil {
				n.stands = map[string]*standing{}
			}
			n.stands[o] = &standing{nodes: stands[o], by: map[int]int{}}
			continue
		}
		p.nodes &= stands[o]
		if came, ok := nodescript.Ticket(o); !ok || came >= ticket {
			continue
		}
		w.result.Tally.Overtakes++
		if p.by[x.h.slot]++; p.by[x.h.slot] > mostOvertakes {
			w.violated(anyOther, x.name, "overtaken: client%d was granted name%d %d times before an older ticket, %s, that stood in line all along; at most %d are promised",
				x.h.slot, x.name, p.by[x.h.slot], o, mostOvertakes)
			delete(n.stands, o) // once is enough
		}
	}
}

// unplaced says that a node may have lost who waits there, or that somebody does. w.mu is held.
func (w *world) unplaced(s *server) {
	for _, n := range w.names {
		for _, p := range n.stands {
			p.nodes &^= 1 << s.index
		}
	}
}
