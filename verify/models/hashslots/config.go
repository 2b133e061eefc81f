package hashslots

// Rule is a set of rules that a model can leave out.
type Rule uint32

// These are the rules. Each has the file that implements it.
const (
	GuardRun    Rule = 1 << iota // acquire.lua, extend.lua: a guard counts only for the server that it names
	Turn                         // hashslots.go: a client asks for the slot's admission before its first call in a turn
	Changed                      // quarantine.lua: a server whose replication id has changed copied data
	Fed                          // adopt.lua: also if its second replication id was cleared, and it read from a master
	Arrived                      // hashslots.go: a client asks for a proof after it has found the slot on this server
	ProofRun                     // adopt.lua: the proof is about the server that the guard names
	NamedNow                     // shards.go, prove: a majority names the server of the proof as a master now
	SameData                     // adopt.lua: that server got no data from another server
	NotReplica                   // adopt.lua: this server was no replica of that one
	SameEvicted                  // adopt.lua: that server has evicted as many keys as noted
	SameClock                    // adopt.lua: both clocks agree within 2 W
	Sum                          // adopt.lua: the differences of the clocks at several moves add up
	Reading                      // shards.go, prove: the time of a proof is not later than its reading
	Rest                         // adopt.lua: the rest of a quarantine goes on
	Unguarded                    // adopt.lua: a slot without a guard is adopted only if it was idle
	Absent                       // arrived.lua: a slot that came lately grants no name without a record
	Missing                      // missing.lua: no release makes a record there, or before the admission
	Repaired                     // extend.lua: a renewal that finds no record there shows that the slot is not complete
	Promoted                     // adopt.lua: a server that was promoted less than a quarantine ago is not settled
	Started                      // adopt.lua: a server that has just started with data is not settled
	Carried                      // adopt.lua: a slot that has just come from a server that was not settled stays so
	Evicted                      // evicted.lua: a name without a record needs the noted number of evictions
	Confirmed                    // clustersift.go: a call goes to a master only for P after a question to the majority
	Long                         // config.go: a quarantine is longer by P minus the margin
	Lost                         // quarantine.lua: a slot that no proof fits has a quarantine
	Begun                        // quarantine.lua: a request that quotes the challenge begins the quarantine
)

// Config is one world, and the rules that it leaves out. All times are in ticks.
type Config struct {
	Without Rule
	Ask     string // the only promise to check; "" for all

	Masters  int8 // 2 or 3 shards; server i is a master at first
	First    int8 // the master that has the slot at first
	Replicas int8 // the first shards have a replica; that of master i is server Masters+i

	TTL    int8
	Margin int8 // a client relies on a lease for TTL - Margin: 4 W
	Named  int8 // P: an answer of the majority is good for this time
	Window int8 // W; 0 if a tick is longer
	Late   int8 // a call arrives at most so late; an acquire at most W late
	Ahead  int8 // the clock of each master is ahead of that of the one before by this

	// These are how often something happens, at most.
	Moves, Forces, Promotions, Returns, Clears, Restarts, Evictions, Leaps int8
	All                                                                    int8 // the sum of them, at most
	Hours                                                                  int8 // how often everything is idle for an hour

	// These let the adversary do more.
	OtherSlots bool // a former master stays the master of other hash slots
	Shorter    bool // a renewal may have a shorter TTL, and its answer may be lost
	Parts      bool // a record stays behind in a move, or comes after the target has saved its data
	Cut        bool // a former master that has heard of nothing moves the slot away
	OnlyEmpty  bool // a restart brings no old data
	Synced     bool // a former master becomes a replica only together with the data of its master

	// These are the cases that have no proof. See docs/design/proofs.md, Hash slots.
	Passed   bool // before its admission a slot moves on from a server that lost writes, or back without a record
	Quick    bool // a former master is the master again within P + W
	GiveBack bool // a slot comes back by force to a server that has its old keys
}

func (c *Config) without(r Rule) bool { return c.Without&r != 0 }

func (c *Config) servers() int8 { return c.Masters + c.Replicas }

// quarantine returns the length of a quarantine.
func (c *Config) quarantine() int8 {
	q := c.TTL + c.Window
	if !c.without(Long) {
		q += max(0, c.Named-c.Margin)
	}
	return q
}

// apart returns how far two clocks may be apart for an adoption: 2 W.
func (c *Config) apart() int8 { return c.Margin / 2 }

// clock returns by how much the clock of a server is ahead.
func (c *Config) clock(server int8) int8 {
	return server % c.Masters * c.Ahead
}
