package fanout

import (
	"context"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// movesAgain is the pause before a call is repeated whose hash slot is being moved, and ownsAgain the pause before one
// whose hash slot has no owner. Many calls may wait for an owner.
const (
	movesAgain = 15 * time.Millisecond
	ownsAgain  = 50 * time.Millisecond
)

// retry repeats a message that found its hash slot on another shard, on the way to one, or without an owner: after a
// move, the servers need a moment until most of them name the new one. It returns false if it has done so for the node
// timeout, or if a is another answer. A message with SendBy ends there.
func (h *hashSlots) retry(m *Message, a nodescript.Answer) bool {
	code, again := node.Code(a.Err), movesAgain
	switch code {
	case node.Moved:
		h.left(slotOf(m))
	case node.Ask, node.TryAgain:
	case node.ClusterDown:
		again = ownsAgain
	case node.ReadOnly:
		return h.leave(m, a)
	default:
		return false
	}
	m.begun = m.begun || strings.HasPrefix(a.Err.Error(), node.Generic)
	now := h.fan.Now()
	if m.moving == 0 {
		m.moving = now
	}
	if now.Sub(m.moving) > h.fan.config.Timeout {
		return false
	}
	h.fan.wait.Go(func() {
		if code == node.Moved || code == node.ClusterDown {
			h.shard.Look(h.fan.ctx)
		}
		if h.owner(m) == h.sender {
			pause := time.NewTimer(again)
			defer pause.Stop()
			select {
			case <-pause.C:
			case <-h.fan.ctx.Done():
			}
		}
		h.owner(m).put(m)
	})
	return true
}

// leave repeats a message on the shard that has its hash slot now, or answers it with a. The server of this shard is a
// replica: a master that gives its last slot away becomes one. leave returns false if the message was repeated before.
func (h *hashSlots) leave(m *Message, a nodescript.Answer) bool {
	if m.moving != 0 {
		return false
	}
	m.moving = h.fan.Now()
	h.fan.wait.Go(func() {
		h.shard.Look(h.fan.ctx)
		if !m.drawn(h.fan) { // nobody has made the call of a renewal yet, and only its keys name the hash slot
			h.answer(m, failed(node.NotSent(context.Canceled)))
		} else if o := h.owner(m); o != h.sender {
			o.put(m)
		} else {
			h.answer(m, a)
		}
	})
	return true
}

// owner returns the sender of the shard that has the hash slot of m now, as far as that is known.
func (h *hashSlots) owner(m *Message) *sender {
	if f := h.shard.Owner(slotOf(m)); f != nil {
		return f.senders[0]
	}
	return h.sender
}

// left notes that another shard has a hash slot. If it comes back, its first use asks for its admission again.
func (h *hashSlots) left(slot int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked[slot/64] &^= 1 << (slot % 64)
}
