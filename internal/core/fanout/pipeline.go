package fanout

import (
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// pipeline is a group of calls that go to a node together. Several messages for one script share one call, because the
// server's cost is mostly per call.
type pipeline struct {
	parts []part // only the first ones are in use, as many as the field used says
	used  int
	calls []node.Call
	order []int // by call: the index of its part

	shard      bool       // the node is a shard: all keys of a call are in one hash slot
	unadmitted []*Message // the messages that found no guard in their hash slots

	spare    bool // a spare sends it
	replaced bool // another worker or spare may have taken the place of its sender
}

// part is one call and the messages that share it.
type part struct {
	nodescript.Together
	of   []*Message
	slot int // the hash slot of the keys, for a shard
}

func (p *pipeline) add(m *Message) {
	slot := 0
	if p.shard {
		slot = slotOf(m)
	}
	for i := range p.parts[:p.used] {
		if p.parts[i].slot == slot && p.parts[i].Add(m.Call) {
			p.parts[i].of = append(p.parts[i].of, m)
			return
		}
	}
	if p.used == len(p.parts) {
		p.parts = append(p.parts, part{})
	}
	next := &p.parts[p.used]
	p.used++
	next.Add(m.Call)
	next.slot = slot
	next.of = append(next.of, m)
}

// messages ranges over the messages.
func (p *pipeline) messages(yield func(*Message) bool) {
	for i := range p.parts[:p.used] {
		for _, m := range p.parts[i].of {
			if !yield(m) {
				return
			}
		}
	}
}

// made returns the calls, with those that may hand a name on last. So a waiter whose question is in the same pipeline
// joins the node's queue before the node hands the name on. For the same reason, no question of an owner comes after
// its release.
func (p *pipeline) made(scripts *nodescript.Scripts) []node.Call {
	for _, last := range []bool{false, true} {
		for i := range p.parts[:p.used] {
			if t := &p.parts[i].Together; t.Op.HandsOn() == last {
				if p.shard {
					t.Keys = append(t.Keys, nodescript.SlotGuard(p.parts[i].slot))
				}
				p.calls = append(p.calls, node.Call{SHA: scripts.SHA(t.Op), Keys: t.Keys, Args: t.Args, Confirm: t.Op.Grants()})
				p.order = append(p.order, i)
			}
		}
	}
	return p.calls
}

// answered gives each message its answer from the replies to the calls.
func (p *pipeline) answered(replies []node.Reply, to func(*Message, nodescript.Answer)) {
	for i, at := range p.order {
		part := &p.parts[at]
		part.ParseReplies(replies[i], func(n int, a nodescript.Answer) { to(part.of[n], a.Confirmed(replies[i].Unconfirmed)) })
	}
}

// clear removes all parts, and keeps their memory for the next batch.
func (p *pipeline) clear() {
	for i := range p.parts[:p.used] {
		part := &p.parts[i]
		part.Clear()
		clear(part.of)
		part.of = part.of[:0]
	}
	clear(p.calls)
	p.used, p.calls, p.order, p.unadmitted = 0, p.calls[:0], p.order[:0], nil
}
