package fanout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

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

	// Prove returns what the master with a run id says about its memory, and false if no shard has such a master now. An
	// error means that this could not be found out.
	Prove func(ctx context.Context, run string) (nodescript.Proof, bool, error)

	// Owner returns the Fanout of the shard that has a hash slot now, or nil if that is not known.
	Owner func(slot int) *Fanout

	// Look asks the servers where the hash slots are. It returns when they have answered, or soon.
	Look func(ctx context.Context)

	// Turn returns a number that grows when another server may have had a hash slot of this shard meanwhile.
	Turn func(slot int) int

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
	turn := h.shard.Turn(slot)
	h.mu.Lock()
	if turn != h.turn || run != h.run {
		h.turn, h.run, h.asked = turn, run, [node.Slots / 64]uint64{}
	}
	if h.asked[slot/64]>>(slot%64)&1 == 0 && h.refused[slot] == nil && !givesBack(m) {
		h.mu.Unlock()
		h.admit([]*Message{m})
		return true
	}
	s := h.refused[slot]
	now := h.fan.Now()
	if s == nil || s.asking || now >= s.until || givesBack(m) {
		h.used[slot/64] |= 1 << (slot % 64)
		h.mu.Unlock()
		return false
	}
	a := s.now(now)
	h.mu.Unlock()
	h.answer(m, a)
	return true
}

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
	case node.Moved, node.Ask, node.TryAgain:
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
		if o := h.owner(m); o != h.sender {
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

// Sweep greets the shard and begins the quarantines of its hash slots, once for each incarnation of its server.
func (f *Fanout) Sweep() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.senders[0]; !f.closed {
		f.wait.Go(func() {
			s.slots.repeat(func() bool {
				if !s.voter.admitted() {
					return false
				}
				s.slots.sweepOnce(s.voter.view(f.Now()).scripts.Run, "")
				return true
			})
		})
	}
}

// mostSweeps is the number of times that a sweep is tried, about a second apart. A busy server may answer late, or find
// that the stamp of a sweep is off its clock.
const mostSweeps = 10

// repeat calls try until it returns true. It gives up after [mostSweeps] calls, or when the client closes.
func (h *hashSlots) repeat(try func() bool) {
	for range mostSweeps {
		if try() {
			return
		}
		pause := time.NewTimer(quorum.AskAgain)
		select {
		case <-pause.C:
		case <-h.fan.ctx.Done():
			pause.Stop()
			return
		}
	}
}

// mostAsked is the number of questions for the admission of a slot, one after the other: where the slot came from, the
// proof, and challenges.
const mostAsked = 5

// askSlot asks the shard to admit a slot, and returns its last answer.
func (h *hashSlots) askSlot(slot int) (a nodescript.Answer) {
	challenge, proof, gone, began := "", "", "", false
	for range mostAsked {
		call := func(stamp, w int64, nonce string) node.Call {
			return nodescript.AdmitSlotCall(slot, stamp, w, challenge, nonce, proof)
		}
		r, scripts := h.eval(call)
		if a = nodescript.ParseAdmit(h.fan.config.Set, r); scripts == nil {
			return a
		}
		switch a.Verdict {
		case nodescript.Challenged:
			challenge, began = a.Names, true
		case nodescript.Arrived:
			var err error
			if proof, err = h.prove(a.Names); err != nil {
				return failed(err)
			}
			if gone = ""; proof == nodescript.NoProof {
				gone = a.Names
			}
		case nodescript.Quarantined:
			if began { // the first to see it: the other slots of the shard have probably lost their memory, too
				h.fan.wait.Go(func() { h.sweepOnce(scripts.Run, gone) })
				if a.Cause == nodescript.MemoryNew {
					h.fan.wait.Go(h.shard.New)
				}
			}
			return a
		default:
			return a
		}
	}
	return a
}

// eval runs admit on the shard. scripts is nil if that could not be tried.
func (h *hashSlots) eval(of func(stamp, w int64, nonce string) node.Call) (node.Reply, *nodescript.Scripts) {
	v := h.voter
	v.mu.Lock()
	scripts := v.standing.Scripts()
	v.mu.Unlock()
	stamp, within, err := h.fan.admission()
	if err != nil || scripts == nil {
		return node.Reply{Err: node.NotSent(err)}, nil
	}
	ctx, cancel := context.WithTimeout(h.fan.ctx, h.fan.patience())
	defer cancel()
	return h.node.Eval(ctx, scripts.Admit, of(stamp, within.Microseconds(), strconv.FormatUint(h.fan.config.Random(), 36))), scripts
}

// proveSlowly is the time that a proof may take. A slow one would make the clocks of both servers seem too far apart, so
// it is asked for again.
const proveSlowly = 4 // of a window, the part

// prove returns the text of a proof about the server with a run id, or [nodescript.NoProof] if no master of the cluster
// has it. An error means that this is not known.
func (h *hashSlots) prove(run string) (string, error) {
	for try := 0; ; try++ {
		ctx, cancel := context.WithTimeout(h.fan.ctx, 2*h.fan.patience())
		asked := h.fan.Now()
		p, ok, err := h.shard.Prove(ctx, run)
		cancel()
		switch took := h.fan.Now().Sub(asked); {
		case err != nil:
			return "", err
		case !ok:
			return nodescript.NoProof, nil
		case took <= h.fan.config.Set.Window/proveSlowly || try == 2:
			return p.String(), nil
		}
	}
}

// sweepEach is the number of slots of one call of a sweep. The server needs about two milliseconds for it.
const sweepEach = 256

// sweepOnce begins the quarantines of all slots of the shard that need one, once for each incarnation of its server.
// Without it, the first lock in each of thousands of slots would wait for a quarantine of its own.
func (h *hashSlots) sweepOnce(run, gone string) {
	h.mu.Lock()
	done := h.swept == run
	h.swept = run
	h.mu.Unlock()
	if done {
		return
	}
	var sum nodescript.Sweep
	var begun []begun
	h.repeat(func() bool {
		part, more, err := h.sweep(gone)
		sum.Left = max(sum.Left, part.Left)
		begun = append(begun, more...)
		return err == nil
	})
	if len(begun) == 0 {
		return
	}
	over := time.NewTimer(time.Duration(sum.Left)*time.Microsecond + sweepPause)
	defer over.Stop()
	select {
	case <-over.C:
	case <-h.fan.ctx.Done():
		return
	}
	for _, one := range begun { // the first lock in each slot then finds a slot that votes
		h.eval(func(stamp, w int64, nonce string) node.Call {
			return nodescript.SweepCall(one.slots, stamp, w, one.challenge, nonce, "")
		})
		time.Sleep(sweepPause)
	}
}

// begun are slots whose quarantines this client has begun, and their challenge.
type begun struct {
	slots     []int
	challenge string
}

// swept is the result of a sweep.
type swept struct {
	nodescript.Sweep       // the sum of the answers
	slots            int   // the number of slots
	odd              []int // some slots, of which one has neither a vote nor a quarantine; nil if there is none
	come             []int // some slots, of which one has come from another server; nil if there is none
}

// sweep asks for the admission of all slots of the shard. It returns the result, or the first error.
func (h *hashSlots) sweep(gone string) (sum swept, begins []begun, err error) {
	all := h.shard.Slots()
	sum.slots = len(all)
	for len(all) > 0 {
		n := min(len(all), sweepEach)
		one, challenges, err := h.sweepSome(all[:n], gone)
		if err != nil {
			return sum, begins, err
		}
		for _, challenge := range challenges {
			begins = append(begins, begun{all[:n], challenge})
		}
		sum.Voting, sum.Challenged, sum.Quarantined = sum.Voting+one.Voting, sum.Challenged+one.Challenged, sum.Quarantined+one.Quarantined
		sum.Arrived, sum.Others, sum.Left = sum.Arrived+one.Arrived, sum.Others+one.Others, max(sum.Left, one.Left)
		if one.Others+one.Challenged > 0 && sum.odd == nil {
			sum.odd = all[:n]
		}
		if one.Arrived > 0 && sum.come == nil {
			sum.come = all[:n]
		}
		all = all[n:]
		select { // other calls come between
		case <-time.After(sweepPause):
		case <-h.fan.ctx.Done():
			return sum, begins, h.fan.ctx.Err()
		}
	}
	return sum, begins, nil
}

var (
	errOffClock   = errors.New("the stamps of the sweep were off the clock of the shard")
	errNotGreeted = errors.New("the client has not greeted the shard")
)

// sweepSome asks for the admission of some slots, and quotes their challenges. There are several if other clients, or an
// earlier call, have noted the loss of some of the slots before.
func (h *hashSlots) sweepSome(slots []int, gone string) (one nodescript.Sweep, challenges []string, err error) {
	challenge := ""
	for range mostAsked {
		r, scripts := h.eval(func(stamp, w int64, nonce string) node.Call {
			return nodescript.SweepCall(slots, stamp, w, challenge, nonce, gone)
		})
		if scripts == nil {
			return one, challenges, cmp.Or(r.Err, errNotGreeted)
		}
		switch one, err = nodescript.ParseSweep(r); {
		case err != nil:
			return one, challenges, err
		case one.OffClock: // the call was late; the next one has a new stamp
		case one.Challenged == 0:
			return one, challenges, nil
		default:
			challenge = one.Challenge
			challenges = append(challenges, challenge)
		}
	}
	if one.OffClock {
		return one, challenges, errOffClock
	}
	return one, challenges, nil // the next use of a slot asks for it
}

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
	case len(sum.come) > 0: // the first answer shows whether their former server is gone
		if a := h.odd(sum.come, func(one nodescript.Sweep) int { return one.Arrived }); a.Verdict != nodescript.Done {
			return a
		}
	case sum.Quarantined > 0:
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
	if code := node.Code(a.Err); code == node.Ask || code == node.TryAgain {
		return nodescript.Answer{Verdict: nodescript.Done} // it is being moved, and the others vote
	}
	return a
}

// sweepPause is the pause between two calls of a sweep.
const sweepPause = 5 * time.Millisecond

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
