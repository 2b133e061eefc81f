package token

import "github.com/holdfast-go/holdfast/internal/models/explore"

// nodes is how many nodes there are, majority how many of them decide.
const (
	nodes    = 3
	majority = nodes/2 + 1
)

// most is for how many owners a state has room.
const most = 3

// Phase is how an owner stands. An owner is one bid for the lock: a client makes a new
// one for each.
type Phase uint8

// Phases.
const (
	Unborn   Phase = iota // nothing was sent under it
	Bidding               // its current stamp may win
	Between               // its current stamp was given back; it bids on with a higher one
	Holding               // it has the lease, as far as it knows
	Renewing              // the same, and a renewal is under way
	Passed                // it ended its lease in favour of another owner in its process
	Over                  // it gave up, or back: releases are on their way, and will be for ever
)

// Owner is one bid, and what was sent under it. Whatever was sent stays in the network:
// it may be carried out at any later moment, any number of times, or never.
type Owner struct {
	Phase    Phase
	Acquires uint8 // stamps of the acquires sent, as bits; the highest is the current one
	Releases uint8 // stamps up to which releases were sent, as bits
	Above    uint8 // highest token of a lease when the current stamp was drawn, or the current renewal began
	From     uint8 // the owner whose lease is passed to this one, from 1; 0: none
	Held     bool  // it had the lease at some time
}

// Node is one node and its record of the name.
type Node struct {
	Owner  uint8 // of the record, from 1; 0: nobody, or it was given back
	Token  uint8 // the owner's T; 0 marks a claim
	Live   bool  // the record has not expired
	Seen   uint8 // twice the highest token seen; a tombstone is one more: above it, below the next stamp
	Leased uint8 // the same of what may have been a lease's, the owner's own token aside
	Floor  uint8 // since it lost its memory: stamps up to this one are too old for its window
	By     [most]Mail
}

// Mail is what is between one node and one owner.
type Mail uint8

// Bits of a Mail. What remains is the highest stamp up to which the node carried out a release.
const (
	Voted   Mail = 1 << iota // it said yes to the current stamp, or to the current renewal
	Extends                  // an extend is on its way to it
	covered                  // see Covers
)

// Covers is the highest stamp up to which the node has carried out a release of this owner.
func (m Mail) Covers() uint8 { return uint8(m / covered) }

func (m Mail) covering(stamp uint8) Mail {
	return m%covered | covered*Mail(max(stamp, m.Covers()))
}

// State is everything.
type State struct {
	Owners [most]Owner
	Nodes  [nodes]Node
	Wipes  uint8 // how often a node lost its memory
}

// Stamp is the owner's current stamp: the token of its lease, if it has one.
func (o Owner) Stamp() uint8 {
	top := uint8(0)
	for s := o.Acquires; s != 0; s >>= 1 {
		top++
	}
	return top
}

// Believes reports whether the owner takes the lock for its own.
func (o Owner) Believes() bool { return o.Phase == Holding || o.Phase == Renewing }

func has(stamps, stamp uint8) bool { return stamps>>(stamp-1)&1 != 0 }

func with(stamps, stamp uint8) uint8 { return stamps | 1<<(stamp-1) }

// takes reports whether an acquire with a stamp, its owner's own record aside, is beyond the node's window and token rule.
func (n *Node) takes(stamp uint8) bool { return stamp > n.Floor && 2*stamp > n.Seen }

// votes counts the nodes that said yes to what an owner asked last.
func (s *State) votes(owner int) (n int) {
	for i := range s.Nodes {
		n += int(s.Nodes[i].By[owner] & Voted)
	}
	return n
}

// forgetVotes begins a new count.
func (s *State) forgetVotes(owner int) {
	for i := range s.Nodes {
		s.Nodes[i].By[owner] &^= Voted
	}
}

// highestHeld is the highest token of all leases so far.
func (s *State) highestHeld() (top uint8) {
	for _, o := range s.Owners {
		if o.Held {
			top = max(top, o.Stamp())
		}
	}
	return top
}

var _ explore.Model[State] = Model{}
