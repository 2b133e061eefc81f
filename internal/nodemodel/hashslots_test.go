package nodemodel

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
)

// This file compares the admission of a hash slot with the model. The slot comes from other servers again and again,
// with their guard, their quarantine, or without anything.

// slotConfigs are the configurations of the clients: the right one, and a stranger's.
var slotConfigs = []nodescript.Config{
	{N: 1, MaxTTL: 10 * time.Second, Window: 250 * time.Millisecond, Cluster: "it's", Sharded: true},
	{N: 1, MaxTTL: 4 * time.Second, Window: 250 * time.Millisecond, Cluster: "other", Sharded: true},
}

// slotWorld is one hash slot of a real server and the model.
type slotWorld struct {
	*world
	slot  int
	rng   *rand.Rand
	story []string // what happened, for a failure

	run, replid, evicted string // of the server from which the slot came last
	challenge            string // the last one that the client got
}

func newSlotWorld(t *testing.T) *slotWorld {
	c := redistest.StartCluster(t, 1, 0, redistest.WithClock(), redistest.Args("--enable-debug-command", "yes"))
	w := &slotWorld{world: &world{t: t, server: c.Servers()[0], weaken: func(s string) string { return s }, seen: map[string]int{}}, slot: 4711}
	w.dial()
	return w
}

// begin empties both sides.
func (w *slotWorld) begin(seed uint64) {
	w.rng, w.story, w.run, w.challenge = rand.New(rand.NewPCG(seed, 0)), nil, "", ""
	w.now, w.given = start, map[string]bool{}
	w.server.SetClock(w.now)
	w.wire.must("FLUSHALL")
	w.model = New("model", func() int64 { return w.now }, w.info(), slotConfigs...)
}

// key returns the key of the real server that corresponds to a key of the model.
func (w *slotWorld) key(key string) string {
	return nodescript.SlotGuard(w.slot) + strings.TrimPrefix(key, nodescript.GuardKey)
}

// slotKeys are the keys of a slot's admission, as the model calls them.
var slotKeys = []string{nodescript.GuardKey, nodescript.AdmissionKey, nodescript.KeptKey, nodescript.TrustKey}

// pass sets both clocks, and deletes expired keys on both sides.
func (w *slotWorld) pass(us int64) {
	w.now += us
	w.server.SetClock(w.now)
	for _, k := range slotKeys {
		w.wire.must("EXISTS", w.key(k))
	}
	w.model.Keys()
}

// delete deletes a key on both sides.
func (w *slotWorld) delete(key string) {
	w.wire.must("DEL", w.key(key))
	delete(w.model.keys, key)
}

// arrive stores what another server stored for the slot, on both sides.
func (w *slotWorld) arrive() string {
	for _, k := range slotKeys {
		w.delete(k)
	}
	w.run, w.replid, w.evicted = fmt.Sprintf("%040x", w.rng.IntN(3)), fmt.Sprintf("%040x", w.rng.IntN(3)), strconv.Itoa(w.rng.IntN(2))
	config := slotConfigs[w.rng.IntN(8)/7].String()
	until := int64(0)
	switch w.rng.IntN(6) {
	case 0:
		until = never
	case 1, 2:
		until = w.now + w.rng.Int64N(12_000_000) - 2_000_000
	}
	refreshed := w.now - w.rng.Int64N(3*hour)
	if w.rng.IntN(3) == 0 { // the guard has just expired, or kept has
		refreshed = w.now - hour - w.rng.Int64N(15_000_000)
	}
	fields := map[string]string{
		"run": w.run, "config": config, "until": nodescript.Micros(until), "refreshed": nodescript.Micros(refreshed), "replid": w.replid,
		"evicted": w.evicted, "why": "new", "challenge": fmt.Sprintf("%040x", w.rng.Int()), "id": fmt.Sprintf("%040x", 7), "epoch": strings.Repeat("0", 16),
		"since": nodescript.Micros(w.now - w.rng.Int64N(2*hour)),
	}
	if until == 0 {
		fields["until"] = "0"
	}
	if w.rng.IntN(4) == 0 {
		fields["came"] = nodescript.Micros(w.now - w.rng.Int64N([]int64{hour, 12_000_000}[w.rng.IntN(2)]))
		fields["apart"] = strconv.FormatInt(w.rng.Int64N(2*W), 10)
		fields["settled"] = strconv.Itoa(w.rng.IntN(2))
	}
	if w.rng.IntN(10) == 0 { // somebody has written to it
		of := []string{"came", "apart", "since", "until", "refreshed", "epoch"}
		fields[of[w.rng.IntN(len(of))]] = []string{"", "x", "nan", "9e999", "-1", strings.Repeat("9", 17)}[w.rng.IntN(6)]
	}
	args := []string{"HSET", w.key(nodescript.AdmissionKey)}
	for f, v := range fields {
		args = append(args, f, v)
	}
	w.wire.must(args...)
	w.model.setFields(nodescript.AdmissionKey, fields)
	with := ""
	text := func(key, value string, ms int64) {
		w.wire.must("SET", w.key(key), value, "PX", strconv.FormatInt(ms, 10))
		w.model.setText(key, value, ms)
		with += " " + key
	}
	if w.rng.IntN(4) > 0 {
		text(nodescript.GuardKey, config+" "+w.run, 1+w.rng.Int64N(3_600_000))
	}
	if w.rng.IntN(4) > 0 {
		text(nodescript.KeptKey, w.run, 1+w.rng.Int64N(3_600_000))
	}
	return fmt.Sprintf("the slot arrives: %v, with%s", fields, with)
}

// proof returns what the client says about the server from which the slot came. It is true most of the time.
func (w *slotWorld) proof() string {
	switch w.rng.IntN(10) {
	case 0, 1, 2:
		return ""
	case 3:
		return nodescript.NoProof
	}
	p := nodescript.Proof{Run: w.run, Data: w.replid, Evicted: w.evicted, Time: w.now, Most: time.Duration(2*W) * time.Microsecond}
	if p.Run == "" {
		p = nodescript.Proof{Run: "nobody", Data: "none", Evicted: "0", Time: w.now, Most: time.Duration(2*W) * time.Microsecond}
	}
	switch w.rng.IntN(12) {
	case 0:
		p.Run = fmt.Sprintf("%040x", 99)
	case 1:
		p.Data = fmt.Sprintf("%040x", 99)
	case 2:
		p.Data, p.Copied = fmt.Sprintf("%040x", 99), true
	case 3:
		p.Copied = true
	case 4:
		p.Evicted += "1"
	case 5:
		p.Data = strings.Repeat("0", 40) // the second replication id of the real server
	case 6, 7:
		p.Time += []int64{-2*W - 1, -2 * W, -W, W, 2 * W, 2*W + 1}[w.rng.IntN(6)]
	case 8:
		p.Most = time.Duration([]int64{0, W - 1, W}[w.rng.IntN(3)]) * time.Microsecond
		p.Time -= W
	}
	if w.rng.IntN(4) == 0 {
		us := []int64{1, W, W + 1}[w.rng.IntN(3)]
		p.Passed = time.Duration(us) * time.Microsecond
		p.Time -= us
	}
	return p.String()
}

// admit asks both sides for the admission of the slot.
func (w *slotWorld) admit(config int) (said string, real, model string) {
	stamp, challenge := w.now, w.challenge
	if w.rng.IntN(10) == 0 {
		stamp += []int64{-W - 1, -W, W, W + 1}[w.rng.IntN(4)]
	}
	if w.rng.IntN(4) == 0 {
		challenge = ""
	}
	c := nodescript.AdmitSlotCall(w.slot, stamp, W, challenge, "nonce", w.proof())
	former := []string{"", ""}
	if w.rng.IntN(4) == 0 { // the client has met another master behind the shard
		former = []string{strconv.FormatInt(w.rng.Int64N(2*hour), 10), fmt.Sprintf("%040x", w.rng.IntN(3))}
	}
	c.Args = append(c.Args, strings.Repeat("0", 16), "F", former[0], former[1])
	s := nodescript.NewScripts(slotConfigs[config], w.model.Info.Run)
	real = told(w.wire.do(append([]string{"EVAL", w.weaken(s.Admit), "1", c.Keys[0]}, c.Args...)...))
	made, _ := w.wire.do("HGET", w.key(nodescript.AdmissionKey), "challenge").(string)
	w.model.Challenge = func() string { return made }
	reply := w.whole(func() node.Reply { return w.model.Eval(context.Background(), s.Admit, c) })
	if model = told(reply.Value); reply.Err != nil {
		model = "(" + node.Code(reply.Err) + ")"
	}
	switch real[0] {
	case 'C':
		w.challenge = real[17:]
	case 'Q':
		w.count("admit", "Q "+real[73:], len(real))
	}
	w.count("admit", real, 1)
	return fmt.Sprintf("admit %q: %s", c.Args, real), real, model
}

// step does one thing on both sides. It returns how they differ, or "".
func (w *slotWorld) step() string {
	real, model, what := "", "", ""
	switch k := w.rng.IntN(20); {
	case k < 3:
		us := []int64{1, W, 3 * W, 10_000_000, 10_250_000, hour, 2 * hour, -W, -3 * W}[w.rng.IntN(9)]
		w.pass(us)
		what = fmt.Sprintf("%d µs pass", us)
	case k < 6:
		what = w.arrive()
	case k < 8:
		key := slotKeys[w.rng.IntN(len(slotKeys))]
		if w.rng.IntN(2) == 0 { // a slot that voted, and lost its guard, is rare
			key = nodescript.GuardKey
		}
		w.delete(key)
		what = "DEL " + key
	default:
		what, real, model = w.admit(w.rng.IntN(12) / 11)
	}
	w.story = append(w.story, what)
	if real != model {
		return fmt.Sprintf("reply\n  redis  %q\n  model  %q", real, model)
	}
	here := w.keys()
	for i := range here {
		here[i].Name = nodescript.GuardKey + strings.TrimPrefix(here[i].Name, nodescript.SlotGuard(w.slot))
	}
	if there := w.model.Keys(); !slices.EqualFunc(here, there, Key.same) {
		return fmt.Sprintf("keys\n  redis  %+v\n  model  %+v", here, there)
	}
	return ""
}

// stepsOfASlot is the number of steps of one story.
const stepsOfASlot = 40

// play tells the story of a seed, until server and model differ. It returns how.
func (w *slotWorld) play(seed uint64) string {
	w.begin(seed)
	for range stepsOfASlot {
		if how := w.step(); how != "" {
			return how
		}
	}
	return ""
}

// TestAShardAdmitsSlotsAsTheModelSays runs random stories of a hash slot against redis-server and the model.
func TestAShardAdmitsSlotsAsTheModelSays(t *testing.T) {
	w := newSlotWorld(t)
	first := *seed
	if first == 0 {
		first = uint64(time.Now().UnixNano())
	}
	for s := range uint64(runs() / stepsOfASlot) {
		if how := w.play(first + s); how != "" {
			t.Fatalf("-seed %d differs: %s\nthe story:\n  %s", first+s, how, strings.Join(w.story, "\n  "))
		}
	}
	if missing := w.missing([]string{"admit R", "admit O", "admit C", "admit F", "admit M", "admit Q new", "admit Q guard", "admit Q named", "admit Q restarted"}); len(missing) > 0 {
		t.Errorf("never answered: %q", missing)
	}
	t.Logf("answers: %v", w.seen)
}

// slotWeakenings are possible mistakes in the admission of a hash slot.
var slotWeakenings = []struct{ what, from, to string }{
	{"a server with another run id proves the memory", "if their == from and", "if their and"},
	{"a former replica proves the memory", "(data == r[5] or copy == '0')", "true"},
	{"a copy of other data proves the memory only", "(data == r[5] or copy == '0')", "copy == '0'"},
	{"evictions of the source do not count", "gone == r[6]", "true"},
	{"the clock here may be behind", "and before - ahead <= 2 * 250000", ""},
	{"the clock here may be behind by a microsecond more", "and before - ahead <= 2 * 250000", "and before - ahead <= 500001"},
	{"the clock here may be ahead", "before + ahead > 2 * 250000 or", ""},
	{"the clock here may be ahead by a microsecond more", "before + ahead > 2 * 250000 or", "before + ahead > 500001 or"},
	{"a proof need not be exact", "ahead > most + 0 or", ""},
	{"a proof may be old", "or passed + 0 > 250000", ""},
	{"a proof is as old as it seems", "now - at - passed or", "now - at or"},
	{"the question for another proof hides earlier moves", "fmt('%.0f', before)\n", "'0'\n"},
	{"a spoilt admission votes", "if spoilt then", "if false then"},
	{"a spoilt admission is taken over", "and not spoilt and r[2]", "and r[2]"},
	{"a spoilt admission keeps the time of its move", "call('HDEL', admission, 'came', 'apart', 'settled')", ""},
	{"a promoted replica takes the slot of its master over", "mine ~= data and mine ~= r[5]", "mine"},
	{"a slot with other settings is taken over", "and r[2] == config and (there", "and (there"},
	{"a slot without its guard is taken over", "not there and idle and (call('GET', kept) == from", "not there and (call('GET', kept) == from"},
	{"a slot whose guard was deleted long ago is taken over", "(call('GET', kept) == from or", "(true or"},
	{"the differences of clocks of several moves do not add up", "if lately then before", "if false then before"},
	{"a slot that moves on is settled, whatever it has lost", "settled = settled and not (lately and r[15] ~= '1')", ""},
	{"a slot that moved is settled anywhere", "settled and '1' or '0'", "'0'"},
	{"a quarantine ends with the move", "if voted then", "if true then"},
	{"a quarantine is longer after each move", "r[3] - at + 250000, ", "r[3] - at + 500000, "},
	{"a quarantine may last for any time", "math.min(r[3] - at + 250000, 10250000)", "r[3] - at + 250000"},
	{"a server that the client met before the move counts", "math.max(tonumber(r[11] or '') or 0, tonumber(r[12] or '') or 0)", "(tonumber(r[11] or '') or 0)"},
	{"a slot that moved is not marked", "call('HSET', admission, unpack(came))", ""},
}

func TestWeakenedAdmissionsOfSlotsAreFound(t *testing.T) {
	w := newSlotWorld(t)
	for i, m := range slotWeakenings {
		if testing.Short() && i%8 != 0 {
			continue
		}
		t.Run(m.what, func(t *testing.T) {
			if s := nodescript.NewScripts(slotConfigs[0], "run").Admit; strings.Count(s, m.from) != 1 {
				t.Fatalf("admit contains %q %d times", m.from, strings.Count(s, m.from))
			}
			w.weaken = func(text string) string { return strings.Replace(text, m.from, m.to, 1) }
			for s := range uint64(3000) {
				if w.play(s) != "" {
					t.Logf("found after %d stories", s+1)
					return
				}
			}
			t.Error("not found in 3000 stories")
		})
	}
}
