package fanout

import (
	"context"
	"sync"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
	"github.com/holdfast-go/holdfast/node"
)

// Shard is what a Fanout must know if its only node is a shard of a Redis Cluster. There each hash slot has its own
// admission: see shard.lua. The voter of the node knows the server, and hashSlots knows the slots.
type Shard struct {
	// Slots returns the hash slots that the shard has now, and Master the address (host:port) of its master.
	Slots  func() []int
	Master func() string

	// Prove returns what the master with a run id says about its memory, and false if the cluster has no such master now. An
	// error means that this could not be found out.
	Prove func(ctx context.Context, run string) (p Proved, ok bool, err error)

	// Owner returns the Fanout of the shard that has a hash slot now, or nil if that is not known.
	Owner func(slot int) *Fanout

	// Look asks the servers where the hash slots are. It returns when they have answered, or soon.
	Look func(ctx context.Context)

	// Turn returns a number that grows when another server may have had the hash slots of this shard meanwhile, and false
	// if another shard has the slot now.
	Turn func(slot int) (turn int, ok bool)

	// New is called when a hash slot that was never used has begun its quarantine. The other shards are probably new,
	// too.
	New func()
}

// hashSlots is the admission of the hash slots of a shard. A slot votes until an answer says that it does not.
type hashSlots struct {
	*sender
	shard *Shard

	mu      sync.Mutex
	turn    int                     // of the shard, when the slots in asked were asked
	run     string                  // the incarnation that was asked
	asked   [node.Slots / 64]uint64 // the slots that this client has asked for their admission in this turn
	refused map[int]*hashSlot       // the slots that do not vote, or are being asked
	used    [node.Slots / 64]uint64
	swept   string // the run id of the server whose slots were swept last
	whole   string // the run id and the number of slots, when all slots voted; "": they did not, when they were last asked
	next    int    // the first slot that vote asks next, among those of the shard

	turns   chan struct{} // has room for the adoptions that may run at the same time: see adopting
	proofs  provings
	doubted map[int]clock.Instant // the slots without a proof that is exact enough, and since when
}

// hashSlot is a slot that does not vote, or is being asked.
type hashSlot struct {
	asking  bool
	waiting []*Message // for the answer
	refusal nodescript.Answer
	until   clock.Instant // the client believes the refusal until then
	votes   clock.Instant // the end of a quarantine
}

// mostAdmissions is the number of times that a message waits for the admission of its slot. A slot that loses its guard
// again and again stops there.
const mostAdmissions = 3

// slotOf returns the hash slot of a message's keys.
func slotOf(m *Message) int { return node.SlotOf(m.Call.Keys[0]) }

// refuses takes a message that may not be sent now, and returns true: it answers it if the slot does not vote. The first
// message for a slot in a turn waits for the admission of the slot. A former master that is the master again may have the
// guard that it wrote itself, in data that it has copied since: only admit finds that.
func (h *hashSlots) refuses(m *Message, run string) bool {
	slot := slotOf(m)
	turn, ours := h.shard.Turn(slot)
	h.mu.Lock()
	if !ours { // the other slots of this shard are as before
		turn = h.turn
	}
	if turn != h.turn || run != h.run {
		h.turn, h.run, h.asked = turn, run, [node.Slots / 64]uint64{}
	}
	s, now := h.refused[slot], h.fan.Now()
	switch {
	case givesBack(m), s == nil && h.asked[slot/64]>>(slot%64)&1 != 0:
		h.used[slot/64] |= 1 << (slot % 64)
		h.mu.Unlock()
		return false
	case s != nil && !s.asking && now < s.until:
		a := s.now(now)
		h.mu.Unlock()
		h.answer(m, a)
	default:
		h.mu.Unlock()
		h.admit([]*Message{m})
	}
	return true
}

// now returns the refusal at the instant now.
func (s *hashSlot) now(now clock.Instant) nodescript.Answer {
	a := s.refusal
	if a.Verdict == nodescript.Quarantined {
		a.Left = max(s.votes.Sub(now), 0)
	}
	return a
}

// admit takes messages that found no guard in their slots. It asks the shard to admit the slots, and then puts the
// messages into the queue again, or answers them with the reason why the slot does not vote.
func (h *hashSlots) admit(messages []*Message) {
	for _, m := range messages {
		if m.admissions++; m.admissions > mostAdmissions {
			h.answer(m, nodescript.Answer{Verdict: nodescript.NotAdmitted})
			continue
		}
		slot := slotOf(m)
		h.mu.Lock()
		s := h.refused[slot]
		if s == nil {
			if s = (&hashSlot{}); h.refused == nil {
				h.refused = map[int]*hashSlot{}
			}
			h.refused[slot] = s
		}
		s.waiting = append(s.waiting, m)
		begin := !s.asking
		s.asking = true
		h.mu.Unlock()
		if begin {
			h.fan.wait.Go(func() { h.ask(slot, s) })
		}
	}
}

// ask asks for the admission of a slot, and settles the messages that wait for it.
func (h *hashSlots) ask(slot int, s *hashSlot) {
	h.mu.Lock()
	turn, run := h.turn, h.run
	h.mu.Unlock()
	a := h.askSlot(slot)
	now := h.fan.Now()
	h.mu.Lock()
	waiting := s.waiting
	s.waiting, s.asking = nil, false
	if a.Verdict == nodescript.Done {
		delete(h.refused, slot)
		if turn == h.turn && run == h.run {
			h.asked[slot/64] |= 1 << (slot % 64)
		}
	} else {
		if a.Verdict == nodescript.Unanswered || a.Verdict == nodescript.Challenged {
			a.Verdict = nodescript.NotAdmitted
		}
		pause := quorum.AskAgain
		if a.Verdict == nodescript.Failed || a.Verdict == nodescript.NotAdmitted {
			pause = quorum.AskSoon
		}
		a.Err = node.NotSent(a.Err)
		s.refusal, s.votes, s.until = a, now.Add(a.Left), now.Add(pause)
		if a.Verdict == nodescript.Quarantined {
			s.until = now.Add(min(a.Left, pause))
		}
	}
	h.mu.Unlock()
	for _, m := range waiting {
		switch {
		case a.Verdict == nodescript.Done:
			h.put(m)
		case a.Verdict != nodescript.Failed || !h.retry(m, a): // the slot may have moved meanwhile
			h.answer(m, a)
		}
	}
}

// refresh extends the life of the guards of the slots that were used since the last refresh.
func (h *hashSlots) refresh(ctx context.Context, scripts *nodescript.Scripts, call nodescript.Call) {
	h.mu.Lock()
	used := h.used
	h.used = [node.Slots / 64]uint64{}
	h.mu.Unlock()
	var calls []node.Call
	for slot := range node.Slots {
		if used[slot/64]>>(slot%64)&1 != 0 {
			calls = append(calls, node.Call{SHA: scripts.SHA(call.Op), Keys: []string{nodescript.SlotGuard(slot)}, Args: call.Args})
		}
	}
	for len(calls) > 0 && ctx.Err() == nil {
		n := min(len(calls), largestBatch)
		h.node.EvalSHA(ctx, calls[:n])
		calls = calls[n:]
	}
}

// sharded returns the text and the call of a question to a node. For a shard both are in the form of [nodescript.Sharded].
func (f *Fanout) sharded(text string, c node.Call) (string, node.Call) {
	if f.config.Shard == nil || len(c.Keys) == 0 {
		return text, c
	}
	c.Keys = nodescript.ShardedKeys(c.Keys)
	return nodescript.Sharded(text), c
}
