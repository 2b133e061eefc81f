package renewal

import (
	"container/heap"
	"slices"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/fanout"
)

// mostOut is the largest number of renewals that the scheduler has under way at a time in one node set. More renewals
// would wait in the client's queues for the nodes. Without the limit, a process with 50,000 leases that pauses for some
// seconds would send all its renewals at once. The ones that are due first would not be the first that the nodes get.
const mostOut = 1024

// lane has the scheduled leases of one node set, and counts its renewals under way. Each node set has a lane of its own.
// So renewals that wait for nodes that hang take no place from those of another node set. The keeper's mu guards it.
type lane struct {
	fan  *fanout.Fanout
	heap dueHeap
	out  int // the number of renewals that the scheduler sent and that are not decided
}

// place schedules a lease in the lane of a node set. The caller holds k.mu.
func (k *Keeper) place(e *Lease, f *fanout.Fanout) {
	switch {
	case e.fresh():
		k.drop(e)
		k.startPulse()
	case e.lane.fan == f:
		return
	default:
		heap.Remove(&e.lane.heap, int(e.index))
	}
	i := slices.IndexFunc(k.lanes, func(l *lane) bool { return l.fan == f })
	if i < 0 {
		i = len(k.lanes)
		k.lanes = append(k.lanes, &lane{fan: f})
	}
	e.lane = k.lanes[i]
	heap.Push(&e.lane.heap, e)
}

// decided notes that a renewal of the scheduler has its outcome. It wakes the scheduler if leases that are due wait
// because of mostOut.
func (k *Keeper) decided(l *lane) {
	k.mu.Lock()
	defer k.mu.Unlock()
	l.out--
	if l.out == mostOut/2 && len(l.heap) > 0 && k.sleepsPast(l.heap[0].due) {
		select {
		case k.wake <- struct{}{}:
		default:
		}
	}
}

// due is a lease that is due, and the lane that counts its renewal.
type due struct {
	*Lease
	in *lane
}

// takeDue returns the leases that are due now, for each lane up to the limit mostOut. It sets a provisional next instant
// for each lease, so that it does not return the lease twice. The renewal then sets the right instant.
func (k *Keeper) takeDue() (all []due) {
	now := k.fan.Now()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lanes = slices.DeleteFunc(k.lanes, func(l *lane) bool { return len(l.heap) == 0 && l.out == 0 })
	for _, l := range k.lanes {
		for len(l.heap) > 0 && l.heap[0].due <= now && l.out < mostOut {
			l.out++
			e := l.heap[0]
			e.due = now.Add(watchEvery)
			heap.Fix(&l.heap, 0)
			all = append(all, due{e, l})
		}
	}
	return all
}

// next returns the instant at which the scheduler can send the next renewal, and false if it knows none. A lane without
// a free place does not count: decided wakes the scheduler for it. The caller holds k.mu.
func (k *Keeper) next() (at clock.Instant, ok bool) {
	for _, l := range k.lanes {
		if len(l.heap) > 0 && l.out < mostOut && (!ok || l.heap[0].due < at) {
			at, ok = l.heap[0].due, true
		}
	}
	return at, ok
}

// scheduled reports whether a lane has a lease. The caller holds k.mu.
func (k *Keeper) scheduled() bool {
	return slices.ContainsFunc(k.lanes, func(l *lane) bool { return len(l.heap) > 0 })
}

// dueHeap orders leases by the instant at which they are due.
type dueHeap []*Lease

func (h dueHeap) Len() int           { return len(h) }
func (h dueHeap) Less(i, j int) bool { return h[i].due < h[j].due }
func (h dueHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = int32(i), int32(j)
}

// Push implements heap.Interface.
func (h *dueHeap) Push(x any) {
	e := x.(*Lease)
	e.index = int32(len(*h))
	*h = append(*h, e)
}

// Pop implements heap.Interface.
func (h *dueHeap) Pop() any {
	old := *h
	e := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	e.index = -1
	return e
}
