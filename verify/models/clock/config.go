package clock

// Config is one configuration of the model. Times are in units of W.
type Config struct {
	Clients int  // at most 3
	TTL     int8 // of every lease
	Margin  int8 // the time between the end of a belief and stamp + TTL
	Horizon int8 // the end of time, counted from the start

	Jumps    int  // how often a node's clock jumps
	Reach    int8 // the largest distance from the true time after a jump
	Minority bool // only the first node's clock jumps, and only the first node loses its memory
	Off      [nodes]int8
	Lead     [most]int8 // each client's estimate of the nodes' clocks
	Far      int8       // distant clients, which only ask nodes to vote, may be off by this much more, and know it

	Rounds   int8 // stamps of an attempt; 0 means 1
	Renewals [most]int8
	Stray    int8 // a stamp of a renewal or for the next owner may be wrong by this much, and its client does not know it
	Turns    bool // the renewals are requests of a downgrade: they turn the lease into a reader's
	Aged     bool // the client subtracts the age of its stamp, even below W: see Model.excess
	Ghosts   bool // the nodes' memory of releases is part of the state, for the promise NoGhost
	Releases bool // clients give up or unlock: releases are sent
	GiveBack bool // clients give back partial grants and continue
	Passes   bool // the first client's lease is passed to the second, which does not try by itself
	Claim    int8 // how long a hand-off reserves the name; 0: none
	Given    int8 // the length of a given lease; 0: none is given. See given.go
	Pings    bool // it counts from a ping of the waiter's subscription, and not from a question: see given.go
	Shorter  int8 // by how much the margin of a given lease is shorter
	Begun    bool // the first client holds the lock from the start
	Once     bool // the last client draws one stamp only
	Wipes    int  // how often a node loses its memory
	Vouchers bool // an operator vouches for a node while no lock is alive
	Trusted  int8 // the quarantine after a voucher; 0 means trusted
	Follow   Follow
	Busy     bool // clients draw stamps for other locks all the time, so none is idle
	Without  Rule
	Ask      Promise // the only promise to check; the zero value means all
}

// Follow is a client's reaction to a move of the nodes' clocks.
type Follow uint8

// These are the ways to follow.
const (
	Never   Follow = iota // Lead never changes, right or wrong
	Settled               // quorum.Timebase: a move of more than W waits for TTL + W, without any acquire
	Noticed               // the same, counted from the time when the move was noticed, also by an idle client
	AtOnce
)

// Rule is one rule of the protocol that a configuration can leave out. The scripts are in internal/core/nodescript/lua.
type Rule uint8

// These are the rules.
const (
	None              Rule = iota
	Window                 // acquire.lua, extend.lua: a node refuses a stamp that is more than W from its TIME; a renewal may be late
	AcquireInTime          // acquire.lua: a node refuses the stamp of an acquire that is more than W behind its TIME
	NotAhead               // extend.lua: a node refuses a stamp that is more than W ahead of its TIME
	NotOver                // extend.lua: a node refuses a renewal whose stamp + TTL is over
	HigherTokens           // acquire.lua: a node refuses a stamp that is not above seen
	PassNamesOwner         // acquire.lua: a pass replaces only the owner that it names
	ExpiryNeverFalls       // extend.lua: a node keeps the later of the old and the new expiry
	TurnKeepsExpiry        // acquire-shared.lua: a downgrade keeps the later of the old and the new expiry
	RepairTokens           // extend.lua: no repair if a later token may have been the token of a lease
	RepairBelieved         // extend.lua: no repair after the owner's deadline
	ReleaseOwnOnly         // release.lua: a release changes only the record of its own owner
	ReleaseCovered         // release.lua: a release ends only grants whose stamp is not above its own stamp
	Quarantine             // quarantine.lua: a node without memory does not vote for TTL + W
	QuarantineTTL          // quarantine.lua: the quarantine is TTL + W, and not W alone
	QuarantineW            // quarantine.lua: the quarantine is TTL + W, and not TTL alone
	ConfirmedStamp         // admit.lua: the stamp must be within W of TIME
	NarrowedByFar          // quorum/timebase.go: if a stamp may be wrong by some time, it must be closer to TIME by that time
	Challenged             // quarantine.lua: a request must quote the challenge, so its stamp is newer than the loss
	VoucherNames           // quarantine.lua, trust.lua: a voucher counts for one challenge only
	MoreThanHalf           // quorum/validity.go: a majority is N/2 + 1 nodes
	CountsFromSending      // quorum/validity.go: the deadline is the instant of sending + TTL - margin
	OldDeadline            // renewal/renew.go: a majority counts only before the old deadline
	ExcessCounts           // renewal/renew.go: the deadline is earlier by the time for which the renewal was late
	LargestExcess          // renewal/renew.go: the latest node of the majority decides about that time, and not the earliest
	MatchedReplies         // renewal/renew.go: an answer counts only for the renewal that it answers

	// These rules are about given leases.
	GivenInWindow      // a node gives a lease only with a stamp within W of its TIME
	GivenKeepsExpiry   // a higher stamp of the same owner does not lower the expiry
	GivenNoRepeat      // an acquire with the stamp of a given lease is no repeated request if it asks for a later expiry
	GivenSeen          // a given lease counts only if its stamp is above seen in the node's answer to the question
	GivenOneMemory     // the node did not lose its memory between the given lease and that answer
	GivenFromQuestion  // it counts from the sending of the question, and not from the message
	GivenFirstQuestion // the earliest question of the majority decides, and not the latest
	GivenNotReturned   // it counts only if its stamp is above all stamps that the client gave back
)

// Model is the model of one configuration.
type Model struct{ Config }

func (m Model) keeps(r Rule) bool { return m.Without != r }

func (m Model) need() int {
	if m.keeps(MoreThanHalf) {
		return majority
	}
	return nodes / 2
}

// rounds returns how many stamps a client draws.
func (m Model) rounds(i int) int8 {
	if m.Once && i == m.Clients-1 {
		return 1
	}
	return max(m.Rounds, 1)
}

// settle returns how long a moved correction waits. A node without memory waits as long.
func (m Model) settle() int8 { return m.TTL + window }

// quarantine returns how long a node without memory does not vote.
func (m Model) quarantine() int8 {
	switch m.Without {
	case QuarantineTTL:
		return window
	case QuarantineW:
		return m.TTL
	}
	return m.settle()
}

// within returns by how much TIME may differ from the stamp of a request to admit. far is the additional error that the
// stamps of this client may have.
func (m Model) within(far int8) int8 {
	if !m.keeps(NarrowedByFar) {
		return window
	}
	return window - far
}

// trusted is the quarantine of a node after a voucher.
const trusted = 9 * window

func (m Model) trusted() int8 {
	if m.Trusted != 0 {
		return m.Trusted
	}
	return trusted
}

// Initial implements [explore.Model].
func (m Model) Initial() (s State) {
	s.Now = start
	for n := range s.Nodes {
		s.Nodes[n].Off = m.Off[n]
	}
	for i := range s.Clients {
		s.Clients[i].Lead = m.Lead[i]
		if m.Follow == Settled && !m.Busy {
			s.Clients[i].Drawn = start // it was at work until now
		}
	}
	if m.Begun {
		m.begin(&s)
	}
	return s
}
