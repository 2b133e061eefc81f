package nodescript

import (
	"cmp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/printable"
	"github.com/holdfast-go/holdfast/node"
)

// This file is about shards of a Redis Cluster. There each hash slot has a guard of its own: see shard.lua.

// tags returns for each hash slot a short text that hashes to it.
var tags = sync.OnceValue(func() *[node.Slots]string {
	var all [node.Slots]string
	for i, left := uint64(0), node.Slots; left > 0; i++ {
		text := strconv.FormatUint(i, 36)
		if slot := node.SlotOf(text); all[slot] == "" {
			all[slot] = text
			left--
		}
	}
	return &all
})

// SlotGuard returns the guard of a hash slot.
func SlotGuard(slot int) string { return GuardKey + "{" + tags()[slot] + "}" }

// ShardedKeys returns the keys of a call for a shard: those keys, and the guard of their hash slot.
func ShardedKeys(keys []string) []string {
	return append(append(make([]string, 0, len(keys)+1), keys...), SlotGuard(node.SlotOf(keys[0])))
}

// Sharded returns the text of a script for a shard of a Redis Cluster. Its last key is the guard of the hash slot of its
// other keys.
func Sharded(text string) string {
	return "local NODE = table.remove(KEYS) or ''\n" + shardedNames.Replace(text)
}

// shardedNames replaces the keys of a node by those of a hash slot.
var shardedNames = strings.NewReplacer(
	"'"+GuardKey+"'", "NODE", "'"+AdmissionKey+"'", "NODE .. ':admission'", "'"+KeptKey+"'", "NODE .. ':kept'",
	"'"+PeersKey+"'", "NODE .. ':peers'", "'"+TrustKey+"'", "NODE .. ':trust'",
)

// AdmitSlotCall asks a shard to vote for the names of a hash slot. proof is what the client knows about the server from
// which the slot came: "" at first, the text of a [Proof], or [NoProof]. The other parameters are those of [AdmitCall].
func AdmitSlotCall(slot int, stamp, w int64, challenge, nonce, proof string) node.Call {
	return node.Call{Keys: []string{SlotGuard(slot)}, Args: []string{Micros(stamp - w), Micros(stamp + w), challenge, nonce, proof}, Epoch: true}
}

// SweepCall asks a shard to vote for the names of several hash slots. challenge is the one in the last answer, or "". gone
// is the run id of a server that is no master of the cluster any more: its guards end. "": the slots that came from
// another server keep their guards. gone may also be the mark of slots with another configuration ([Answer].Names), for
// which an operator has vouched: they get this one, and lose their guards.
func SweepCall(slots []int, stamp, w int64, challenge, nonce, gone string) node.Call {
	names := make([]string, len(slots))
	for i, slot := range slots {
		names[i] = tags()[slot]
	}
	return node.Call{Args: []string{Micros(stamp - w), Micros(stamp + w), challenge, nonce, cmp.Or(gone, "-") + " " + strings.Join(names, " ")}, Epoch: true}
}

// Sweep is the answer to a sweep: the number of slots with each verdict of admit.
type Sweep struct {
	Time, Left                                       int64 // µs; Left is the longest quarantine
	Challenge                                        string
	Voting, Challenged, Quarantined, Arrived, Others int

	OffClock bool // the stamp was off the node's clock, so no slot has a verdict
}

// ParseSweep reads the answer to a sweep.
func ParseSweep(r node.Reply) (s Sweep, err error) {
	const width = 5
	switch {
	case r.Err != nil:
		return s, r.Err
	case ParseAdmit(Config{}, r).Verdict == OffClock:
		return Sweep{OffClock: true}, nil
	case len(r.Value) != 1+2*digits+challengeLen+5*width || r.Value[0] != 'S':
		return s, unreadable(admitOp{}, r.Value).Err
	}
	rest := r.Value[1:]
	if s.Time, err = parseMicros(rest[:digits]); err == nil {
		s.Left, err = parseMicros(rest[digits+challengeLen : 2*digits+challengeLen])
	}
	s.Challenge = strings.Clone(rest[digits : digits+challengeLen])
	rest = rest[2*digits+challengeLen:]
	for i, n := range []*int{&s.Voting, &s.Challenged, &s.Quarantined, &s.Arrived, &s.Others} {
		if err == nil {
			*n, err = strconv.Atoi(rest[i*width : (i+1)*width])
		}
	}
	if err != nil {
		return Sweep{}, unreadable(admitOp{}, r.Value).Err
	}
	return s, nil
}

// Proof is what a master of a Redis Cluster says about its memory: see adopt.lua.
type Proof struct {
	Run, Data, Evicted string
	Copied             bool  // it was a replica itself
	Time               int64 // its clock, in µs

	Passed time.Duration // the time that has passed since then, at least
	Most   time.Duration // admit asks for another proof if its clock may be ahead of Time by more than this
}

// NoProof says that no master of the cluster has the run id in question.
const NoProof = "X"

// String returns the proof as admit reads it.
func (p Proof) String() string {
	copied := "0"
	if p.Copied {
		copied = "1"
	}
	return "P" + p.Run + " " + p.Data + " " + p.Evicted + " " + copied + " " + Micros(p.Time) + " " +
		strconv.FormatInt(max(p.Passed.Microseconds(), 0), 10) + " " + strconv.FormatInt(max(p.Most.Microseconds(), 0), 10)
}

// mostOthers is the number of other slots in the text of a proof.
const mostOthers = 8

// With returns the text of the proof with some of the hash slots of the server that is asked for an admission. If one of
// them was admitted there long ago, it shows that the server has been a master since: see adopt.lua.
func (p Proof) With(slots []int) string {
	text, n := p.String(), min(mostOthers, len(slots))
	for i := range n {
		text += " " + tags()[slots[i*len(slots)/n]]
	}
	return text
}

// ProofText returns the script that asks a server for its [Proof]. It has no keys.
func ProofText() string { return proofText() }

var proofText = sync.OnceValue(func() string { return strings.ReplaceAll(text("proof"), "@CLAMP@", clamp) })

// ParseProof reads the answer. It returns false for a server that is no master.
func ParseProof(r node.Reply) (p Proof, ok bool) {
	f := strings.Split(r.Value, " ")
	if r.Err != nil || len(f) != 6 || f[5] != "master" {
		return p, false
	}
	at, err := parseMicros(f[0])
	return Proof{Run: strings.Clone(f[1]), Data: strings.Clone(f[2]), Evicted: strings.Clone(f[3]), Copied: f[4] == "1", Time: at}, err == nil
}

// arrived reads the answer of admit for a slot that came from another server. After a proof, the differences of the
// clocks at the moves before follow the run id.
func arrived(rest string) (a Answer, err error) {
	a.Verdict = Arrived
	if a.Time, err = parseMicros(rest[:min(digits, len(rest))]); err == nil {
		run, before, _ := strings.Cut(rest[digits:min(len(rest), digits+mostOfValue)], " ")
		a.Names = printable.Text(run)
		us, _ := strconv.ParseUint(before, 10, 40) // absent before a proof
		a.Left = time.Duration(us) * time.Microsecond
	}
	return a, err
}
