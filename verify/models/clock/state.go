package clock

import "github.com/holdfast-go/holdfast/verify/models/explore"

const (
	nodes    = 3
	majority = nodes/2 + 1
	most     = 3 // the number of clients in a state
	rounds   = 2 // the largest number of stamps of an attempt
	renewals = 2 // the largest number of renewals of a lease

	window = 1  // W: the unit of time
	start  = 10 // the first instant, so that no instant is below 0
)

// Phase is the state of a client. A client makes one attempt.
type Phase uint8

// These are the phases.
const (
	Idle    Phase = iota
	Bidding       // its current stamp may win
	Between       // it gave back a partial grant, and continues with a higher stamp
	Holding       // it relies on its lease until its deadline
	Lapsed        // only without OldDeadline: its deadline has passed, but a renewal may revive the lease
	Passed        // it ended its lease in favour of another one in its process
	Over          // its deadline has passed, or it unlocked or gave up
)

// Client is one client, its attempt and its lease. Instants are true time, which its steady clock shows. Stamps are
// true time plus Lead, its estimate of the nodes' clocks.
type Client struct {
	Phase  Phase
	Lead   int8
	Rounds int8
	Stamps [rounds]int8 // the stamps that it drew
	Sent   int8         // when the current stamp was sent
	Until  int8         // the deadline
	Above  int8         // the highest token of a lease when the current stamp was drawn
	Held   bool         // it had the lease at some time
	From   int8         // the client whose lease is passed to this one, from 1
	Freed  Freed
	Renewed
	Reading
	Giving
}

// Renewed describes the renewals that were sent.
type Renewed struct {
	Count int8
	At    [renewals]int8 // the instant at which they were sent
	Stamp [renewals]int8
	Last  [renewals]int8 // the deadline that the owner knew then, in stamp time, plus W
}

// Reading is a reading of the nodes' clocks that the client has not adopted yet: see quorum.Timebase.
type Reading struct {
	Moved  bool
	Moving int8 // the new correction
	Noted  int8 // since when
	Drawn  int8 // when the last stamp was drawn
}

// Giving is the part of a client that only given leases need.
type Giving struct {
	Next   int8         // the stamp for the next owner in the releases of its lease; 0: none
	Before int8         // the highest token of a lease when Next was drawn
	Given  int8         // the stamp of its present round, if another client drew it; 0: its own
	Back   int8         // the highest stamp that it gave back
	Asked  [rounds]int8 // when it sent the question of each round
}

// Freed is the set of releases on their way.
type Freed uint8

// These are the releases.
const (
	FreedFirst Freed = 1 << iota // up to the first round's stamp, or to Back
	FreedAll                     // up to the highest stamp sent
)

// Node is one node, its clock and its record of the name.
type Node struct {
	Off    int8 // the difference of its clock from the true time
	Owner  int8 // the owner, from 1; 0: none, or it has released
	Token  int8 // 0 marks a claim
	Expiry int8 // the expiry, by the node's clock
	Seen   int8 // twice the highest token that the node has seen, plus 1 after a release: a tombstone lies between two stamps
	Leased int8 // the same for the earlier tokens that may have been leases; the owner's token does not count
	Away   int8 // Votes, Forgot, Asks, or the end of the quarantine by its clock
	By     [most]Yes
	Freed  uint8                // the clients, as bits, whose lease it has given back, also before a loss of memory
	Excess [most][renewals]int8 // for each renewal that it granted: by how much it was late
	Heard  [most]Heard
}

// Heard is what a client knows from a node, and what it may hear. Only given leases need it.
type Heard struct {
	At    int8  // when it sent the latest question to which the node answered "held"; 0: none
	Seen  int8  // the node's seen in that answer
	Gifts uint8 // the clients, as bits, whose lease the node gave to this one: messages
	Older uint8 // those of them from before the node lost its memory
	Ping  int8  // with Pings: when it sent the latest ping that the node answered before it gave a lease
	Since int8  // the instant from which its present round, a given one, counts on this node
}

// These are the values of Node.Away that are not the end of a quarantine.
const (
	Votes  = 0
	Forgot = -1 // it lost its memory, and no client has found the loss
	Asks   = -2 // it wrote a challenge, and no client has begun its quarantine
)

// Yes is the set of one client's requests that a node granted.
type Yes uint8

// Granted is the bit for the current stamp. The bits above it are for the renewals.
const Granted Yes = 1

// Extended returns the bit for renewal k.
func Extended(k int) Yes { return 2 << k }

// State is a state of the whole model.
type State struct {
	Now   int8 // true time
	Jumps int8 // how often a clock jumped
	Wipes int8 // how often the first node lost its memory
	Admission
	Clients [most]Client
	Nodes   [nodes]Node
}

// Admission is the state of the first node's admission. The other nodes never lose their memory.
type Admission struct {
	Challenge int8 // the loss that its challenge names, counted from 1; 0: no challenge
	Written   int8 // when it wrote the challenge, true time
	Vouched   int8 // the losses, as bits, for which an operator vouched
}

// Clock returns a node's TIME.
func (s *State) Clock(n int) int8 { return s.Now + s.Nodes[n].Off }

// Token returns the current stamp: the token of the client's lease, if it has one.
func (c *Client) Token() int8 {
	if c.Given != 0 {
		return c.Given
	}
	return c.Own()
}

// Own returns the last stamp that the client drew for itself.
func (c *Client) Own() int8 {
	if c.Rounds == 0 {
		return 0
	}
	return c.Stamps[c.Rounds-1]
}

// Highest returns the highest stamp under which the client's present owner may have a grant that it knows of.
func (c *Client) Highest() int8 {
	top := max(c.Own(), c.Given)
	for k := range c.Count {
		top = max(top, c.Stamp[k])
	}
	return top
}

// yes counts the nodes that granted any of some requests.
func (s *State) yes(client int, any Yes) (n int) {
	for i := range s.Nodes {
		if s.Nodes[i].By[client]&any != 0 {
			n++
		}
	}
	return n
}

// forgetYes begins a new count.
func (s *State) forgetYes(client int, which Yes) {
	for i := range s.Nodes {
		n := &s.Nodes[i]
		n.By[client] &^= which
		if which&Granted != 0 {
			n.Heard[client].Since = 0
		}
		for k := range n.Excess[client] {
			if n.By[client]&Extended(k) == 0 {
				n.Excess[client][k] = 0
			}
		}
	}
}

func abs(x int8) int8 { return max(x, -x) }

var _ explore.Model[State] = Model{}
