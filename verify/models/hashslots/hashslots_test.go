package hashslots

import (
	"testing"

	"github.com/holdfast-go/holdfast/verify/models/explore"
)

// but returns c with a change.
func (c Config) but(change func(*Config)) Config {
	change(&c)
	return c
}

// A tick of coarse is 2 W, so a call that is late by a tick is too late for an acquire. A tick of fine is W.
var (
	coarse = Config{Masters: 2, TTL: 3, Margin: 2, Named: 3}
	fine   = Config{Masters: 2, TTL: 5, Margin: 4, Named: 5, Window: 1, Late: 1}

	// short has answers of the majority that are good for the margin, so the quarantine is as short as a lease.
	short = coarse.but(func(c *Config) { c.Named = 2 })
)

func TestNoTwoHoldersWhileASlotMoves(t *testing.T) {
	for _, c := range []struct {
		name string
		size explore.Size
		Config
	}{
		{"one fault of any kind, three shards with replicas", explore.Small, short.but(func(c *Config) {
			c.Masters, c.Replicas, c.OtherSlots, c.All = 3, 3, true, 1
			c.Moves, c.Promotions, c.Forces, c.Restarts, c.Evictions, c.Leaps, c.Hours = 1, 1, 1, 1, 1, 1, 1
		})},
		{"a part of the slot moves", explore.Small, short.but(func(c *Config) { c.TTL, c.Parts, c.Shorter, c.Moves, c.All = 4, true, true, 1, 1 })},
		{"renewals come late", explore.Small, short.but(func(c *Config) { c.TTL, c.Late, c.Moves, c.All = 4, 2, 1, 1 })},
		{"renewals come late, and a replica may be promoted", explore.Full, short.but(func(c *Config) { c.TTL, c.Late, c.Replicas, c.Moves, c.Promotions, c.All = 4, 2, 1, 1, 1, 1 })},
		{"the clock of the target is 2 W ahead", explore.Small, fine.but(func(c *Config) { c.Late, c.Ahead, c.Moves, c.All = 0, 2, 1, 1 })},
		{"a part of the slot moves, and the target restarts", explore.Full, short.but(func(c *Config) { c.Parts, c.Moves, c.Restarts, c.All = true, 1, 1, 2 })},
		{"a part of the slot moves, and then all of it", explore.Full, short.but(func(c *Config) { c.Parts, c.Moves, c.All = true, 2, 2 })},
		{"a part of the slot moves, and renewals come late", explore.Full, short.but(func(c *Config) { c.Parts, c.TTL, c.Late, c.Moves, c.All = true, 4, 2, 1, 1 })},
		{"the clock of the target is 2 W ahead, and calls come late", explore.Full, fine.but(func(c *Config) { c.Ahead, c.Moves, c.All = 2, 1, 1 })},
		{"the clock of the target is 3 W ahead", explore.Full, fine.but(func(c *Config) { c.Ahead, c.Moves, c.All = 3, 1, 1 })},
		{"the slot moves twice, three shards", explore.Full, short.but(func(c *Config) { c.Masters, c.Moves, c.All = 3, 2, 2 })},
		{"the slot moves three times", explore.Large, short.but(func(c *Config) { c.Masters, c.Moves, c.All = 3, 3, 3 })},
		{"a former master is the master again", explore.Full, coarse.but(func(c *Config) { c.Masters, c.Replicas, c.Promotions, c.Returns, c.All = 1, 1, 2, 1, 3 })},
		{"the same, and it clears its second replication id", explore.Full, short.but(func(c *Config) {
			c.Masters, c.Replicas, c.Promotions, c.Returns, c.Clears, c.All = 1, 1, 2, 1, 1, 4
		})},
		{"a move beside two failovers", explore.Large, short.but(func(c *Config) { c.Replicas, c.Moves, c.Promotions, c.All, c.OtherSlots = 2, 1, 1, 2, true })},
		{"a former master moves the slot away", explore.Full, short.but(func(c *Config) { c.Replicas, c.Moves, c.Promotions, c.All, c.Cut = 1, 1, 1, 2, true })},
		{"two moves and a restart", explore.Large, coarse.but(func(c *Config) { c.Moves, c.Restarts, c.All = 2, 1, 3 })},
		{"two moves and a failover of the first shard", explore.Large, short.but(func(c *Config) { c.Replicas, c.Moves, c.Promotions, c.All = 1, 2, 1, 3 })},
		{"two moves and a failover of the second shard", explore.Large, short.but(func(c *Config) { c.First, c.Replicas, c.Moves, c.Promotions, c.All = 1, 1, 2, 1, 3 })},
		{"two faults of several kinds, three shards", explore.Large, short.but(func(c *Config) {
			c.Masters, c.Replicas, c.OtherSlots, c.All = 3, 1, true, 2
			c.Moves, c.Promotions, c.Forces, c.Evictions = 2, 1, 1, 1
		})},
		{"a move while a former master is the master again", explore.Large, short.but(func(c *Config) {
			c.Replicas, c.Moves, c.Promotions, c.Returns, c.All = 1, 1, 2, 1, 4
		})},
		{"a move and a failover, the clock is 2 W ahead", explore.Large, fine.but(func(c *Config) { c.Late, c.Ahead, c.Replicas, c.Moves, c.Promotions, c.All = 0, 2, 1, 1, 1, 2 })},
	} {
		if c.size.Wanted() {
			t.Run(c.name, func(t *testing.T) { explore.Holds[State](t, "hashslots: "+c.name, Model{c.Config}) })
		}
	}
}

// TestEachRuleOfHashSlotsIsNeeded leaves out one rule at a time: a promise must break.
func TestEachRuleOfHashSlotsIsNeeded(t *testing.T) {
	for _, c := range []struct {
		name string
		size explore.Size
		Config
	}{
		{"a guard of another server counts", explore.Small, coarse.but(func(c *Config) { c.Without, c.Replicas, c.Promotions, c.All = GuardRun, 1, 1, 1 })},
		{"a client does not ask for the admission in each turn", explore.Small, short.but(func(c *Config) {
			c.Without, c.Masters, c.Replicas, c.Promotions, c.Returns, c.All = Turn, 1, 1, 2, 1, 3
		})},
		{"another replication id changes nothing", explore.Small, short.but(func(c *Config) {
			c.Without, c.Masters, c.Replicas, c.Promotions, c.Returns, c.All = Changed, 1, 1, 2, 1, 3
		})},
		{"another replication id counts only beside a second one", explore.Small, short.but(func(c *Config) {
			c.Without, c.Masters, c.Replicas, c.Promotions, c.Returns, c.Clears, c.All = Fed, 1, 1, 2, 1, 1, 4
		})},
		{"a proof of any master counts", explore.Small, short.but(func(c *Config) { c.Without, c.Masters, c.Moves, c.Restarts, c.All = ProofRun, 3, 1, 1, 2 })},
		{"a former master gives proofs", explore.Full, short.but(func(c *Config) {
			c.Without, c.Replicas, c.Moves, c.Promotions, c.All, c.Cut = NamedNow, 1, 1, 1, 2, true
		})},
		{"a master that was a replica gives proofs of earlier data", explore.Full, short.but(func(c *Config) {
			c.Without, c.Replicas, c.Moves, c.Promotions, c.Returns, c.All = SameData, 1, 1, 2, 1, 4
		})},
		{"a replica of the source adopts, and is settled", explore.Small, coarse.but(func(c *Config) {
			c.Without, c.Replicas, c.Promotions, c.All, c.OtherSlots = NotReplica|Promoted, 1, 1, 1, true
		})},
		{"a server that has just been promoted is settled", explore.Small, short.but(func(c *Config) { c.Without, c.Replicas, c.Moves, c.Promotions, c.All = Promoted, 2, 1, 1, 2 })},
		{"a server that has just restarted is settled", explore.Small, short.but(func(c *Config) { c.Without, c.Moves, c.Restarts, c.All = Started, 1, 1, 2 })},
		{"a slot that moves on is settled, whatever it has lost", explore.Full, short.but(func(c *Config) { c.Without, c.Moves, c.Restarts, c.All = Carried, 2, 1, 3 })},
		{"a name whose record stayed behind is granted", explore.Small, coarse.but(func(c *Config) { c.Without, c.Parts, c.Moves, c.All = Absent, true, 1, 1 })},
		{"a release makes a record for it", explore.Small, coarse.but(func(c *Config) { c.Without, c.Parts, c.Moves, c.All = Missing, true, 1, 1 })},
		{"a renewal makes a record for it", explore.Small, short.but(func(c *Config) { c.Without, c.TTL, c.Parts, c.Shorter, c.Moves, c.All = Repaired, 4, true, true, 1, 1 })},
		{"a name whose record was evicted is granted in a slot that came", explore.Small, coarse.but(func(c *Config) { c.Without, c.Moves, c.Evictions, c.All = Absent, 1, 1, 2 })},
		{"evictions do not matter", explore.Small, coarse.but(func(c *Config) { c.Without, c.Evictions, c.All = Evicted, 1, 1 })},
		{"a slot without a guard is adopted", explore.Small, coarse.but(func(c *Config) { c.Without, c.Moves, c.Leaps, c.All = Unguarded, 1, 1, 2 })},
		{"clocks are not compared", explore.Small, fine.but(func(c *Config) { c.Without, c.Ahead, c.Moves, c.All = SameClock, 4, 1, 1 })},
		{"the clocks of two moves are compared one by one", explore.Small, fine.but(func(c *Config) { c.Without, c.Masters, c.Late, c.Ahead, c.Moves, c.All = Sum, 3, 0, 2, 2, 2 })},
		{"half of a round trip is added to the time of a proof", explore.Small, fine.but(func(c *Config) { c.Without, c.Ahead, c.Moves, c.All = Reading, 4, 1, 1 })},
		{"the same, while a quarantine moves", explore.Full, coarse.but(func(c *Config) { c.Without, c.Replicas, c.Moves, c.Promotions, c.All = Reading, 1, 1, 1, 2 })},
		{"a move ends a quarantine", explore.Small, coarse.but(func(c *Config) { c.Without, c.Replicas, c.Moves, c.Promotions, c.All = Rest, 1, 1, 1, 2 })},
		{"an answer of the majority is good for ever", explore.Small, coarse.but(func(c *Config) { c.Without, c.Replicas, c.Promotions, c.All = Confirmed, 1, 1, 1 })},
		{"the quarantine is as long as a lease", explore.Small, coarse.but(func(c *Config) { c.Without, c.Replicas, c.Promotions, c.All = Long, 1, 1, 1 })},
		{"nobody begins a quarantine", explore.Small, coarse.but(func(c *Config) { c.Without, c.Forces, c.All = Begun, 1, 1 })},
		{"a slot that no proof fits votes at once, tokens", explore.Small, fine.but(func(c *Config) { c.Without, c.Ask, c.Forces, c.All = Lost, TokensGrow, 1, 1 })},
		{"a slot that no proof fits votes at once", explore.Small, coarse.but(func(c *Config) { c.Without, c.Forces, c.All = Lost, 1, 1 })},
	} {
		if c.size.Wanted() {
			t.Run(c.name, func(t *testing.T) { explore.Breaks[State](t, "hashslots: "+c.name, Model{c.Config}) })
		}
	}
}

// TestRulesOfHashSlotsThatOthersImply shows three rules that the others make needless: a replica of the source is not
// settled; an evicted record is missing; and an old proof needs one of the cases below.
func TestRulesOfHashSlotsThatOthersImply(t *testing.T) {
	for _, c := range []struct {
		name string
		size explore.Size
		Config
	}{
		{"a replica of the source adopts", explore.Small, coarse.but(func(c *Config) {
			c.Without, c.Replicas, c.Promotions, c.All, c.OtherSlots = NotReplica, 1, 1, 1, true
		})},
		{"a source that evicted keys gives proofs", explore.Small, coarse.but(func(c *Config) { c.Without, c.Moves, c.Evictions, c.All = SameEvicted, 1, 1, 2 })},
		{"a proof may be older than the move", explore.Full, coarse.but(func(c *Config) { c.Without, c.Moves, c.Evictions, c.All = Arrived, 1, 1, 2 })},
	} {
		if c.size.Wanted() {
			t.Run(c.name, func(t *testing.T) { explore.Holds[State](t, "hashslots: not needed: "+c.name, Model{c.Config}) })
		}
	}
}

// TestCasesOfHashSlotsWithoutAProof shows that the cases which the other tests leave out break a promise. See
// docs/design/proofs.md, Hash slots.
func TestCasesOfHashSlotsWithoutAProof(t *testing.T) {
	for _, c := range []struct {
		name string
		size explore.Size
		Config
	}{
		{"a server that lost writes by a restart passes the slot on", explore.Small, coarse.but(func(c *Config) { c.Passed, c.Moves, c.Restarts, c.All = true, 2, 1, 3 })},
		{"a promoted replica passes the slot on", explore.Small, coarse.but(func(c *Config) {
			c.Passed, c.Replicas, c.Moves, c.Promotions, c.All, c.OtherSlots = true, 1, 1, 1, 2, true
		})},
		{"a slot comes back by force to a server that was cut off", explore.Small, coarse.but(func(c *Config) { c.GiveBack, c.Forces, c.All = true, 2, 2 })},
		{"a slot comes back without a record before anyone has asked for it", explore.Small, short.but(func(c *Config) {
			c.Passed, c.Parts, c.Moves, c.All = true, true, 2, 2
		})},
		{"a former master is the master again within P + W", explore.Small, coarse.but(func(c *Config) {
			c.Quick, c.Masters, c.Replicas, c.Promotions, c.Returns, c.All = true, 1, 1, 2, 1, 3
		})},
		{"a former master with other slots moves this one away", explore.Full, short.but(func(c *Config) {
			c.Cut, c.OtherSlots, c.Replicas, c.Moves, c.Promotions, c.All = true, true, 1, 1, 1, 2
		})},
	} {
		if c.size.Wanted() {
			t.Run(c.name, func(t *testing.T) { explore.Breaks[State](t, "hashslots: limit: "+c.name, Model{c.Config}) })
		}
	}
}
