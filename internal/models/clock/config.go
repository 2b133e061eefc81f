package clock

// Config is one configuration of the model. Times are in units of W.
type Config struct {
	Clients int  // at most 3
	TTL     int8 // of every lease
	Margin  int8 // by how much belief ends before stamp + TTL
	Horizon int8 // time stops there, counted from the start

	Jumps    int  // times that a node's clock jumps
	Reach    int8 // how far from the true time it then is at most
	Minority bool // only the first node's clock jumps, and only it loses its memory
	Off      [nodes]int8
	Lead     [most]int8 // what each client takes for the nodes' clocks
	Far      int8       // others, to whom nodes are far, only ask nodes to vote: they may be off by so much more, and know it

	Rounds   int8 // stamps that a bid draws; 0 means 1
	Renewals [most]int8
	Releases bool // clients give back and up: releases are sent
	GiveBack bool // clients give a part back and bid on
	Passes   bool // the first client's lease is passed to the second, which does not bid by itself
	Claim    int8 // how long a hand-off reserves the name; 0: none
	Wipes    int  // times that a node loses its memory
	Vouchers bool // an operator vouches for a node where no lock is alive
	Trusted  int8 // how long that one does not vote; 0 means trusted
	Follow   Follow
	Busy     bool // clients draw stamps for other locks all the time: none is ever idle
	Without  Rule
	Ask      Promise // the only promise to look at; the zero value means all
}

// Follow is what clients do when the nodes' clocks move.
type Follow uint8

// Ways to follow.
const (
	Never   Follow = iota // Lead is what it is, right or wrong
	Settled               // quorum.Timebase: a move of more than W waits for TTL + W, in which nothing is acquired
	Noticed               // the same, counted from when the move was noticed, also by an idle client
	AtOnce
)

// Rule is one rule of the protocol, for leaving it out. The scripts are in
// internal/nodescript/lua.
type Rule uint8

// Rules.
const (
	None              Rule = iota
	Window                 // acquire.lua, extend.lua: a stamp more than W from TIME is refused
	HigherTokens           // acquire.lua: T <= seen is refused
	PassNamesOwner         // acquire.lua: only the owner that is named is passed over
	ExpiryNeverFalls       // extend.lua: the later of the two expiries
	RepairTokens           // extend.lua: no repair where a higher token may have been a lease's
	RepairBelieved         // extend.lua: no repair when the owner does not believe any more
	ReleaseOwnOnly         // release.lua: only the owner's own record
	ReleaseCovered         // release.lua: only what was granted to a stamp it covers
	Quarantine             // admit.lua: a node without memory does not vote for TTL + W
	QuarantineTTL          // admit.lua: for TTL + W, not for W only
	QuarantineW            // admit.lua: for TTL + W, not for TTL only
	ConfirmedStamp         // admit.lua: the stamp must be within W of TIME
	NarrowedByFar          // quorum/timebase.go: a stamp that may be further off than W must be closer to TIME by that
	Challenged             // admit.lua: the request must carry the challenge, so its stamp was drawn after that
	VoucherNames           // admit.lua, trust.lua: a voucher is for one challenge
	MoreThanHalf           // quorum/rules.go: N/2 + 1
	CountsFromSending      // quorum/rules.go: deadline = sent + TTL - margin
	OldDeadline            // renewal/renew.go: a majority counts only inside the old deadline
	MatchedReplies         // renewal/renew.go: an answer counts for the renewal it answers
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

// settle is how long a moved correction waits, and a node without memory.
func (m Model) settle() int8 { return m.TTL + window }

// quarantine is how long a node without memory does not vote.
func (m Model) quarantine() int8 {
	switch m.Without {
	case QuarantineTTL:
		return window
	case QuarantineW:
		return m.TTL
	}
	return m.settle()
}

// within is by how much TIME may differ from the stamp of a request to admit, of a client that may be far further off.
func (m Model) within(far int8) int8 {
	if !m.keeps(NarrowedByFar) {
		return window
	}
	return window - far
}

// trusted is how long one does not vote that is vouched for.
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
	return s
}
