package shared

import "github.com/holdfast-go/holdfast/verify/models/explore"

// nodes is the number of nodes. majority is how many of them decide.
const (
	nodes    = 3
	majority = nodes/2 + 1
)

// most is the number of owners in a state: first the writers, then the readers.
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
	Over                  // it gave up, lapsed or released: releases are on their way, and stay so forever
)

// Owner is one attempt and its messages. Each message stays in the network: a node may execute it at any later moment,
// any number of times, or never.
type Owner struct {
	Phase    Phase
	Acquires uint8 // stamps of the sent acquires, as bits; the highest is the current stamp
	Extends  uint8 // stamps of the sent renewals, as bits; the highest is the current one
	Releases uint8 // stamps up to which releases were sent, as bits
	Above    uint8 // the highest token of a conflicting lease at the draw of the current stamp, or the begin of the renewal
	From     uint8 // the owner whose lease is passed to this one, from 1; 0: none
	Held     bool  // it had the lease at some time
}

// Entry is a reader's grant on a node: its token + 1. 1 is a claim, and 0 is no entry.
type Entry uint8

// Token returns the token of a grant, 0 for a claim.
func (e Entry) Token() uint8 { return uint8(e) - 1 }

// Grant reports whether the entry is a grant, and no claim.
func (e Entry) Grant() bool { return e > 1 }

// Node is one node: its record of the name, and its readers. Marks such as Seen are twice a token. A tombstone is one
// more: above its token, below the next stamp.
type Node struct {
	Owner   uint8 // the owner of the record, from 1; 0: none, or it has released
	Token   uint8 // the owner's T; 0 marks a claim
	Live    bool  // the record has not expired
	Seen    uint8 // the highest token of a writer, or tombstone
	Leased  uint8 // the highest token that may have been a writer's lease, without the owner's own token
	RSeen   uint8 // the highest token of a reader
	RLeased uint8 // the highest token that may have been a reader's lease, without the entries
	Floor   uint8 // after a loss of memory: stamps up to this one are too old for its window
	Entries [most]Entry
	Lives   uint8 // the entries that have not expired, as bits
	By      [most]Mail
}

// Mail is the state between one node and one owner.
type Mail uint8

// These are the bits of a Mail. The rest is the highest stamp up to which the node executed a release.
const (
	Voted   Mail = 1 << iota // the node granted the current stamp, or the current renewal
	Backs                    // the owner relies on this grant
	covered                  // see Covers
)

// Covers returns the highest stamp up to which the node has executed a release of this owner.
func (m Mail) Covers() uint8 { return uint8(m / covered) }

func (m Mail) covering(stamp uint8) Mail {
	return m%covered | covered*Mail(max(stamp, m.Covers()))
}

// State is a state of the whole model.
type State struct {
	Owners [most]Owner
	Nodes  [nodes]Node
	Wipes  uint8 // how often a node lost its memory
}

// top returns the highest stamp in a set.
func top(stamps uint8) (top uint8) {
	for ; stamps != 0; stamps >>= 1 {
		top++
	}
	return top
}

// Stamp returns the owner's current stamp: the token of its lease, if it has one.
func (o Owner) Stamp() uint8 { return top(o.Acquires) }

// Highest returns the highest stamp that was sent for the owner.
func (o Owner) Highest() uint8 { return max(top(o.Acquires), top(o.Extends)) }

// Believes reports whether the owner relies on the lock.
func (o Owner) Believes() bool { return o.Phase == Holding || o.Phase == Renewing }

func has(stamps, stamp uint8) bool { return stamps>>(stamp-1)&1 != 0 }

func with(stamps, stamp uint8) uint8 { return stamps | 1<<(stamp-1) }

// alive reports whether a reader's entry is there and has not expired.
func (n *Node) alive(reader int) bool { return n.Entries[reader] != 0 && n.Lives>>reader&1 != 0 }

// held reports whether a writer has a live grant, and no claim.
func (n *Node) held() bool { return n.Live && n.Owner != 0 && n.Token != 0 }

// read returns the first reader with a live grant, or with a live claim too; -1 if there is none.
func (n *Node) read(claims bool) int {
	for i := range n.Entries {
		if n.alive(i) && (claims || n.Entries[i].Grant()) {
			return i
		}
	}
	return -1
}

// votes counts the nodes that granted an owner's last request.
func (s *State) votes(owner int) (n int) {
	for i := range s.Nodes {
		n += int(s.Nodes[i].By[owner] & Voted)
	}
	return n
}

// forget clears the bit m of an owner on all nodes. So a new count begins.
func (s *State) forget(owner int, m Mail) {
	for i := range s.Nodes {
		s.Nodes[i].By[owner] &^= m
	}
}

// highestHeld returns the highest token of all leases so far that conflict with an owner of this mode: every lease for
// a writer, leases of writers for a reader.
func (m Model) highestHeld(s *State, reader bool) (top uint8) {
	for i, o := range s.Owners {
		if o.Held && (!reader || !m.reader(i)) {
			top = max(top, o.Stamp())
		}
	}
	return top
}

var _ explore.Model[State] = Model{}
