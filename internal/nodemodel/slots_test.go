package nodemodel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// semaphores are the names and numbers of slots of the random operations. Two clients use one name with different
// numbers.
var semaphores = []nodescript.Slots{
	nodescript.NewSlots("x", 3), nodescript.NewSlots("x", 3), nodescript.NewSlots("x", 2), nodescript.NewSlots("{x}", 1), nodescript.NewSlots("x", 20),
	nodescript.NewSlots("y", 2),
}

// slotAnswers are the answers that a run must contain.
var slotAnswers = []string{
	"acquireslot G0", "acquireslot G1", "acquireslot S", "acquireslot P", "acquireslot O", "acquireslot N", "acquireslot C", "acquireslot Hl", "acquireslot Hc",
	"releaseslot D", "releaseslot F", "releaseslot C", "acquireslot offers", "acquireslot is full", "acquireslot joins", "acquireslot claims",
	"acquireslot exchanges", "acquireslot hands on", "releaseslot hands on", "extend E", "extend R", "extend Ll", "extend Lg", "leave D", "acquireslot passes",
	"force of releaseslot D", "force of releaseslot F", "extend Lx",
}

// TestServerDoesWhatTheModelSaysOfSlots is TestServerDoesWhatTheModelSays for semaphores.
func TestServerDoesWhatTheModelSaysOfSlots(t *testing.T) {
	w := newWorld(t)
	before := universe
	t.Cleanup(func() { universe = before })
	for _, s := range semaphores {
		universe = append(universe, nodescript.SlotsQueueKey(s.Name))
		for slot := range s.K {
			universe = append(universe, nodescript.SlotKey(s.Name, slot), queueKey(nodescript.SlotKey(s.Name, slot)), nodescript.ForcedKey(nodescript.SlotKey(s.Name, slot)))
		}
	}
	first := *seed
	if first == 0 {
		first = uint64(time.Now().UnixNano())
	}
	done := 0
	wanted := inLongRuns(slotAnswers)
	for s := first; done < runs() || len(w.missing(wanted)) > 0 && done < 20*runs(); s++ {
		ops, how := playSlots(w, s, round)
		if done += len(ops); how == "" {
			continue
		}
		for i := range ops {
			ops[i].call = nil // the rules of a lock are no rules of a slot
		}
		ops = shrink(w, ops)
		var history strings.Builder
		for _, o := range ops {
			fmt.Fprintf(&history, "  %s\n", o.say)
		}
		t.Fatalf("-seed %d differs after %d operations: %s\nsmallest history:\n%s", s, done, how, history.String())
	}
	if missing := w.missing(wanted); len(missing) > 0 {
		t.Errorf("never answered in %d operations: %q", done, missing)
	}
	t.Logf("answers: %v", w.seen)
}

func playSlots(w *world, seed uint64, n int) (ops []operation, how string) {
	w.reset()
	g := &slotGenerator{generator{Rand: rand.New(rand.NewPCG(seed, 7)), w: w}}
	for len(ops) < n && how == "" {
		o := g.next()
		ops = append(ops, o)
		how = w.step(operation{say: o.say, do: o.do})
	}
	return ops, how
}

// slotGenerator draws operations of semaphores.
type slotGenerator struct{ generator }

func (g *slotGenerator) record(s nodescript.Slots, slot int) nodescript.Record {
	r, _ := g.w.model.record(nodescript.SlotKey(s.Name, slot))
	return r.Record
}

// slot returns any slot, and more often one of a live owner.
func (g *slotGenerator) slot(s nodescript.Slots) int {
	return min(g.IntN(s.K), g.IntN(s.K+3)) % min(s.K, 5)
}

func (g *slotGenerator) owner(s nodescript.Slots, slot int) string {
	if o := g.record(s, slot).Owner; o != "" && len(o) <= longestOwner && g.IntN(2) == 0 {
		return o
	}
	if q, _ := g.w.model.queue(nodescript.SlotsQueueKey(s.Name)); len(q) > 0 && g.IntN(2) == 0 {
		return q[g.IntN(len(q))].owner[4:]
	}
	return pick(&g.generator, owners...)
}

func (g *slotGenerator) token(s nodescript.Slots, slot int) int64 {
	r := g.record(s, slot)
	near := g.stamp()
	return inRange(pick(&g.generator, near, near, near, near, r.Seen+1, r.Seen, r.Token, r.Token+1))
}

func (g *slotGenerator) holder(s nodescript.Slots, slot int) (string, int64) {
	if r := g.record(s, slot); r.Owner != "" && g.IntN(3) > 0 {
		return owned(r.Owner), r.Token
	}
	return g.owner(s, slot), g.token(s, slot)
}

func (g *slotGenerator) next() operation {
	if _, there := g.w.model.keys[nodescript.GuardKey]; !there && g.IntN(20) > 0 {
		if a, err := g.w.model.remembered(); err == nil && a.until > g.w.now && a.until != never && g.IntN(2) == 0 {
			return g.clock(a.until + g.Int64N(2))
		}
		return g.admit()
	}
	if len(g.then) > 0 {
		o := g.then[0]
		g.then = g.then[1:]
		return o
	}
	if g.IntN(60) == 0 {
		g.then = g.story()
	}
	switch {
	case g.w.model.Full && g.IntN(12) == 0:
		return g.memory(false, "noeviction")
	case g.IntN(150) == 0:
		return g.memory(true, "noeviction")
	}
	s := pick(&g.generator, semaphores...)
	slot := g.slot(s)
	if g.IntN(40) == 0 {
		owner, T := g.holder(s, slot)
		g.then = append(g.then, pick(&g.generator, g.slotScript(s.ReleaseCall(slot, owner, inRange(g.stamp()), true)),
			g.slotScript(nodescript.ExtendCall(s.Lock(slot), owner, T, g.stamp(), g.w.now+2_000_000, g.ttl(), time.Duration(W)*time.Microsecond))))
		return g.forceOf(s.ForceCall(slot, owner, T))
	}
	switch p := g.IntN(100); {
	case p < 45:
		return g.acquire(s, slot)
	case p < 66:
		return g.release(s, slot)
	case p < 72:
		owner, T := g.holder(s, slot)
		deadline := pick(&g.generator, g.w.now, g.w.now-W-1, g.w.now+2_000_000)
		return g.slotScript(nodescript.ExtendCall(s.Lock(slot), owner, T, g.stamp(), deadline, g.ttl(), time.Duration(W)*time.Microsecond))
	case p < 74:
		owner, T := g.holder(s, slot)
		return g.slotScript(nodescript.LeaveCall(s.Lock(slot), owner, T, inRange(g.w.now+pick[int64](&g.generator, 0, 1000, 60_000_000))))
	case p < 84:
		r := g.record(s, slot)
		return g.clock(inRange(pick(&g.generator, g.w.now+1000, g.w.now+g.Int64N(1_200_000), r.Expiry, r.Expiry+1, g.w.now+3_000_000, g.w.now-1000)))
	case p < 92:
		return g.listen()
	case p < 95:
		var t nodescript.Together
		draw := g.acquire
		if g.IntN(2) == 0 {
			draw = g.release
		}
		for want := 2 + g.IntN(3); t.N < want; {
			t.Add(*draw(s, g.slot(s)).call)
		}
		return operation{say: fmt.Sprintf("%d x %s %q %q", t.N, t.Op, t.Keys, t.Args), do: func(w *world) (string, string) { return w.together(0, &t) }}
	case p < 96 && g.IntN(3) == 0:
		key, text := nodescript.SlotKey(s.Name, slot), pick(&g.generator, "short", strings.Repeat("9", 400))
		return g.puts(key, text)
	case p < 97 && g.IntN(4) == 0:
		return g.puts(nodescript.GuardKey, "another")
	case p < 97 && g.IntN(3) == 0: // a key of another type
		if g.IntN(2) == 0 {
			return g.puts(nodescript.SlotsQueueKey(s.Name), "no queue")
		}
		return g.hset(nodescript.SlotKey(s.Name, slot))
	case p < 98:
		key := nodescript.SlotKey(s.Name, slot)
		return operation{say: "del " + key, do: func(w *world) (string, string) {
			w.wire.must("DEL", key)
			delete(w.model.keys, key)
			return "", ""
		}}
	default:
		return g.release(s, slot)
	}
}

// story makes two waiters wait for two slots and releases the slots in some order. Then the waiters ask for slots at
// random.
func (g *slotGenerator) story() []operation {
	s, ttl := semaphores[5], 3*time.Second
	at := g.w.now
	next := func() int64 { at++; return at }
	ops := []operation{
		g.hears(inboxes[0], true), g.hears(inboxes[1], true), g.clock(at + 4_000_000),
	}
	at += 4_000_000
	for slot := range s.K {
		ops = append(ops, g.slotScript(s.AcquireCall(slot, -1, owners[2+slot], next(), ttl, "")))
	}
	for i := range 2 {
		ops = append(ops, g.slotScript(s.AcquireCall(g.IntN(2), -1, owners[i], next(), ttl, nodescript.Micros(at))))
	}
	for _, slot := range g.Perm(s.K) {
		ops = append(ops, g.slotScript(s.ReleaseCall(slot, owners[2+slot], at, true)))
	}
	for range 5 {
		i := g.IntN(2)
		ops = append(ops, g.slotScript(s.AcquireCall(g.IntN(2), g.IntN(3)-1, owners[i], next(), ttl, nodescript.Micros(at-int64(10-i)))))
	}
	return ops
}

// puts stores a value that another program may have stored.
func (g *slotGenerator) puts(key, text string) operation {
	return operation{say: fmt.Sprintf("set %s %.20q", key, text), do: func(w *world) (string, string) {
		if w.model.Full {
			return "", ""
		}
		w.wire.must("SET", key, text)
		w.model.keys[key] = &value{text: text}
		return "", ""
	}}
}

func (g *slotGenerator) acquire(s nodescript.Slots, slot int) operation {
	owner, T := g.owner(s, slot), g.token(s, slot)
	if g.IntN(8) == 0 {
		owner, T = g.holder(s, slot)
	}
	from := pick(&g.generator, -1, -1, g.slot(s))
	switch g.IntN(8) {
	case 0, 1, 2, 3, 4:
		return g.slotScript(s.AcquireCall(slot, from, owner, T, g.ttl(), nodescript.Micros(g.ticket())))
	case 5:
		return g.slotScript(s.AcquireCall(slot, -1, owner, T, g.ttl(), g.owner(s, slot)))
	}
	return g.slotScript(s.AcquireCall(slot, from, owner, T, g.ttl(), ""))
}

func (g *slotGenerator) release(s nodescript.Slots, slot int) operation {
	owner, T := g.holder(s, slot)
	T = inRange(pick(&g.generator, T, T, T, g.token(s, slot)))
	switch g.IntN(6) {
	case 0:
		return g.slotScript(s.MoveCall(slot, owner, T))
	case 1:
		return g.slotScript(s.QuitCall(owner))
	case 2:
		return g.slotScript(nodescript.DeclineSlotCall(nodescript.Handoff{Owner: owner, Slot: slot, Lock: nodescript.Lock{Name: s.Name}}))
	}
	return g.slotScript(s.ReleaseCall(slot, owner, T, g.IntN(2) == 0))
}

// slotScript runs a call on both sides, notes what it did, and checks the rules.
func (g *slotGenerator) slotScript(c nodescript.Call) operation {
	return operation{say: fmt.Sprintf("%s %q %q", c.Op, c.Keys, c.Args), call: &c, do: func(w *world) (string, string) {
		was := w.model.slotTokens(c.Keys)
		var claims []string
		if len(c.Keys) > 1 {
			claims = slots{n: w.model, queue: c.Keys[1]}.claims()
		}
		real, model := w.call(0, c)
		if real != model {
			return real, model
		}
		if broken := w.slotRules(c, was, claims, model); broken != "" {
			return real, "a rule is broken: " + broken
		}
		return real, model
	}}
}

// claims returns the members with a claim.
func (q slots) claims() (all []string) {
	queue, _ := q.n.queue(q.queue)
	for _, w := range queue {
		if w.ticket < 0 {
			all = append(all, fmt.Sprint(w.ticket, w.owner))
		}
	}
	return all
}

// slotTokens returns the records of all slots whose key begins as the first of keys.
func (n *Node) slotTokens(keys []string) map[string]stored {
	all := map[string]stored{}
	head := keys[0][:strings.LastIndex(strings.TrimSuffix(keys[0], ":holdfast"), ":")+1]
	n.Keys()
	for k := range n.keys {
		if strings.HasPrefix(k, head) && strings.HasSuffix(k, ":holdfast") {
			all[k], _ = n.record(k)
		}
	}
	return all
}

// slotRules checks the rules of slots: no live lease is taken, tokens of a slot only grow, and nobody who hears is
// passed over.
func (w *world) slotRules(c nodescript.Call, was map[string]stored, claims []string, answer string) string {
	now := w.model.now()
	is := w.model.slotTokens(c.Keys)
	owner := c.Args[0]
	if c.Op == nodescript.AcquireSlot {
		owner = c.Args[2]
	}
	for key, before := range was {
		after := is[key]
		switch {
		case before.corrupt:
		case after.Seen < before.Seen, after.Leased < before.Leased:
			return key + ": a token went back"
		case before.live(now) && before.Token != 0 && before.Owner != owner && after.Owner != before.Owner && !(c.Op == nodescript.AcquireSlot && c.Args[1] == before.Owner):
			return key + ": a live lease was taken"
		}
	}
	if c.Op == nodescript.AcquireSlot {
		q := slots{n: w.model, queue: c.Keys[1]}
		switch {
		case answer[0] == 'H' && answer[24:28] == "----":
			w.seen["acquireslot is full"]++
		case answer[0] == 'H':
			w.seen["acquireslot offers"]++
		}
		if answer[0] == 'H' && answer[18:24] != noRank {
			w.seen["acquireslot joins"]++
		}
		if answer[0] == 'H' && answer[28:] == owner {
			w.seen["acquireslot claims"]++
		}
		if before := was[c.Keys[0]]; answer[0] == 'G' && before.live(now) && before.Owner != owner {
			if before.Owner == c.Args[1] {
				w.seen["acquireslot passes"]++
			} else if len(q.claims()) == 0 || slices.Equal(claims, q.claims()) {
				return "an exchange lost a claim"
			} else {
				w.seen["acquireslot exchanges"]++
			}
		}
	}
	return ""
}
