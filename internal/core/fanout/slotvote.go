package fanout

import (
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// vote asks whether the shard votes for all of its slots. It begins the quarantines that are necessary. Of the slots
// that have come from other shards it asks about one: the first use of each other one asks where it came from.
//
// If all slots voted when they were last asked, vote asks some of them only, each time others: views and metrics ask again
// and again, and a server that has lost its memory has lost that of all slots.
func (h *hashSlots) vote() nodescript.Answer {
	all, whole := h.shard.Slots(), ""
	if scripts := h.voter.view(h.fan.Now()).scripts; scripts != nil {
		whole = fmt.Sprint(scripts.Run, len(all))
	}
	h.mu.Lock()
	from := h.next
	if h.whole != whole || from >= len(all) {
		from = 0
	}
	some := all[from:min(len(all), from+sweepEach)]
	h.next = from + len(some)
	known := h.whole == whole && whole != ""
	h.mu.Unlock()
	if known {
		if one, _, err := h.sweepSome(some, ""); err == nil && one.Voting == len(some) {
			return nodescript.Answer{Verdict: nodescript.Done}
		}
	}
	sum, _, err := h.sweep("")
	h.mu.Lock()
	if h.whole = ""; err == nil && sum.Voting == sum.slots {
		h.whole = whole
	}
	h.mu.Unlock()
	switch {
	case errors.Is(err, errOffClock):
		return nodescript.Answer{Verdict: nodescript.OffClock}
	case err != nil:
		return failed(err)
	case len(sum.odd) > 0:
		return h.odd(sum.odd, func(one nodescript.Sweep) int { return one.Others + one.Challenged })
	}
	if len(sum.come) > 0 { // the first answer shows whether their former server is gone
		if a := h.odd(sum.come, func(one nodescript.Sweep) int { return one.Arrived }); a.Verdict != nodescript.Done {
			return a
		}
	}
	if sum.Quarantined > 0 {
		return nodescript.Answer{
			Verdict: nodescript.Quarantined, Cause: nodescript.SomeSlots, Left: time.Duration(sum.Left) * time.Microsecond,
			Evidence: &nodescript.Evidence{Value: fmt.Sprintf("%d of %d", sum.Quarantined, sum.slots)},
		}
	}
	return nodescript.Answer{Verdict: nodescript.Done}
}

// odd returns the answer about one of some slots, of which a sweep only says how many there are, by the function of. For
// example, one has another configuration.
func (h *hashSlots) odd(slots []int, of func(nodescript.Sweep) int) nodescript.Answer {
	for len(slots) > 1 {
		half := slots[:len(slots)/2]
		switch one, _, err := h.sweepSome(half, ""); {
		case err != nil:
			return failed(err)
		case of(one) > 0:
			slots = half
		default:
			slots = slots[len(half):]
		}
	}
	a := h.askSlot(slots[0])
	if code := node.Code(a.Err); code == node.Ask || code == node.TryAgain || code == node.Moved {
		return nodescript.Answer{Verdict: nodescript.Done} // it is being moved, and the others vote
	}
	return a
}
