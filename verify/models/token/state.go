package token

import "github.com/holdfast-go/holdfast/verify/models/explore"

// nodes is the number of nodes. majority is how many of them decide.
const (
	nodes    = 3
	majority = nodes/2 + 1
)

// most is the number of owners in a state.
const most = 3

// Phase is the state of an owner. An owner is one attempt: a client makes a new owner for each.
type Phase uint8

// These are the phases.
const (
	Unborn   Phase = iota // nothing was sent under it
	Bidding               // its current stamp may win
	Between               // its current stamp was given back; it continues with a higher one
	Holding               // it has the lease, as far as it knows
	Renewing              // the same, and a renewal is under way
	Passed                // it ended its lease in favour of another owner in its process
	Over                  // it gave up or released: its releases may arrive at any later time
)

// Owner is one attempt and its messages. Each message stays in the network: a node may execute it at any later moment,
// any number of times, or never.
type Owner struct {
	Phase    Phase
	Acquires uint8 // stamps of the sent acquires, as bits; the highest is the current stamp
	Releases uint8 // stamps up to which releases were sent, as bits
	Above    uint8 // highest token of a lease at the draw of the current stamp, or the begin of the current renewal
	From     uint8 // the owner whose lease is passed to this one, from 1; 0: none
	Held     bool  // it had the lease at some time
	Giving
}

// Giving is the part of an owner that only given leases need.
type Giving struct {
	Next   uint8 // the stamp for the next owner in the releases of its lease; 0: none
	Before uint8 // the highest token of a lease at the draw of Next
	Given  uint8 // the stamp of its current round, if another owner drew it; 0: its own
}

// Node is one node and its record of the name.
type Node struct {
	Owner  uint8 // the owner of the record, from 1; 0: none, or it has released
	Token  uint8 // the owner's T; 0 marks a claim
	Live   bool  // the record has not expired
	Seen   uint8 // twice the highest token that the node has seen, plus 1 after a release: a tombstone lies between two stamps
	Leased uint8 // the same for tokens that may have been leases, without the owner's own token
	Floor  uint8 // after a loss of memory: stamps up to this one are too old for its window
	Away   bool  // it found older data, and does not vote yet
	By     [most]Mail
}

// Mail is the state between one node and one owner.
type Mail uint8

// These are the bits of a Mail. Two bits are the highest stamp up to which the node executed a release. The others are
// messages to the owner: see gift.
const (
	Voted   Mail = 1 << iota // the node granted the current stamp, or the current renewal
	Extends                  // an extend is on its way to it
	covered                  // see Covers
	_
	firstGift
)

// Covers returns the highest stamp up to which the node has executed a release of this owner.
func (m Mail) Covers() uint8 { return uint8(m / covered % 4) }

// gift is the bit of a message: the node gave the lease of the owner number from, counted from 0, to this owner.
func gift(from int) Mail { return firstGift << from }

func (m Mail) covering(stamp uint8) Mail {
	return m&^(3*covered) | covered*Mail(max(stamp, m.Covers()))
}

// State is a state of the whole model.
type State struct {
	Owners [most]Owner
	Nodes  [nodes]Node
	Wipes  uint8 // how often a node lost its memory
}

// Stamp returns the owner's current stamp: the token of its lease, if it has one.
func (o Owner) Stamp() uint8 {
	if o.Given != 0 {
		return o.Given
	}
	return o.Asked()
}

// Highest returns the highest stamp under which the owner may have a grant that it knows of.
func (o Owner) Highest() uint8 { return max(o.Asked(), o.Given) }

// Asked returns the highest stamp that the owner drew.
func (o Owner) Asked() uint8 { return highest(o.Acquires) }

// Returned returns the highest stamp up to which the owner sent a release.
func (o Owner) Returned() uint8 { return highest(o.Releases) }

// highest returns the highest of some stamps, 0 if there is none.
func highest(stamps uint8) (top uint8) {
	for ; stamps != 0; stamps >>= 1 {
		top++
	}
	return top
}

// Believes reports whether the owner relies on the lock.
func (o Owner) Believes() bool { return o.Phase == Holding || o.Phase == Renewing }

func has(stamps, stamp uint8) bool { return stamps>>(stamp-1)&1 != 0 }

func with(stamps, stamp uint8) uint8 { return stamps | 1<<(stamp-1) }

// takes reports whether window and token rule accept an acquire with this stamp. It ignores the owner's own record.
func (n *Node) takes(stamp uint8) bool { return stamp > n.Floor && 2*stamp > n.Seen }

// votes counts the nodes that granted an owner's last request.
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

// highestHeld returns the highest token of all leases so far.
func (s *State) highestHeld() (top uint8) {
	for _, o := range s.Owners {
		if o.Held {
			top = max(top, o.Stamp())
		}
	}
	return top
}

var _ explore.Model[State] = Model{}
