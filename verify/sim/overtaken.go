package sim

import (
	"math/bits"
	"strconv"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// mostOvertakes is how often one client may overtake a waiter: by eight passes in a row, and by one more if the lease
// was granted before the waiter joined. The client did not know of the waiter then.
const mostOvertakes = 8 + 1

// standing is a waiter's place in the queues of a name, by its owner.
type standing struct {
	nodes uint32      // the nodes whose queues contained the waiter at every grant since the count began
	by    map[int]int // how often each client overtook the waiter since then
}

// overtaken checks at each grant that no client overtakes a waiter too often. It applies to every world. The majority
// that grants shares a node with the majority whose queues contain the waiter, and that node reports the waiter. There
// is one excuse: the waiter's place was not always on the same majority of nodes. This happens if the waiter got a
// claim or was skipped, its client left, or a node forgot the place. slot is the slot that was granted, -1 for a lock.
// It overtakes no waiter that cannot use it. The caller holds w.mu.
func (w *world) overtaken(n *name, x *wait, owner string, slot int) {
	ticket, ok := nodescript.Ticket(owner)
	if !ok {
		return
	}
	stands, order, useless := map[string]uint32{}, []string(nil), map[string]bool{}
	for i, s := range w.servers {
		for _, o := range s.model.Queue(n.queue) {
			k, _ := strconv.Atoi(o[:min(slotDigits, len(o))])
			if o = n.waiter(o); o == "" {
				continue
			}
			useless[o] = slot >= 0 && k <= slot
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
		if came, ok := nodescript.Ticket(o); !ok || came >= ticket || useless[o] {
			continue
		}
		if nodescript.IsReader(o) && nodescript.IsReader(owner) {
			continue // the reader does not keep the other one out
		}
		w.result.Tally.Overtakes++
		if p.by[x.h.slot]++; p.by[x.h.slot] > mostOvertakes*max(n.k, 1) {
			w.violated(anyOther, x.name, "overtaken: client%d was granted name%d %d times before an older ticket, %s, that stood in line all along; at most %d are promised",
				x.h.slot, x.name, p.by[x.h.slot], o, mostOvertakes*max(n.k, 1))
			delete(n.stands, o) // one report is enough
		}
	}
}

// unplaced notes that a node may have lost its waiters, or the flag that a waiter exists. The caller holds w.mu.
func (w *world) unplaced(s *server) {
	for _, n := range w.names {
		for _, p := range n.stands {
			p.nodes &^= 1 << s.index
		}
	}
}
