package clock

import "github.com/holdfast-go/holdfast/internal/models/explore"

const (
	nodes    = 3
	majority = nodes/2 + 1
	most     = 3 // clients that a state has room for
	rounds   = 2 // stamps that a bid can draw
	renewals = 2 // renewals that a lease can send

	window = 1  // W: the unit of time
	start  = 10 // the first instant: nothing is before 0
)

// Phase is how a client stands. It bids once.
type Phase uint8

// Phases.
const (
	Idle    Phase = iota
	Bidding       // its current stamp may win
	Between       // it gave a part back, and bids on with a higher stamp
	Holding       // it believes in its lease, until its deadline
	Lapsed        // only without OldDeadline: its deadline has passed, but a renewal may bring it back
	Passed        // it ended its lease in favour of another one in its process
	Over          // its deadline has passed, or it gave back, or up
)

// Client is one client, its bid and its lease. Instants are true time, which its steady
// clock keeps; stamps are that plus Lead, what it takes for the nodes' clocks.
type Client struct {
	Phase  Phase
	Lead   int8
	Rounds int8
	Stamps [rounds]int8 // that were drawn
	Sent   int8         // when the current one was
	Until  int8         // the deadline
	Above  int8         // highest token of a lease when the current stamp was drawn
	Held   bool         // it had the lease at some time
	From   int8         // the client whose lease is passed to this one, from 1
	Freed  Freed
	Renewed
	Reading
}

// Renewed is what is known of the renewals that were sent.
type Renewed struct {
	Count int8
	At    [renewals]int8 // when they were sent
	Stamp [renewals]int8
	Last  [renewals]int8 // the deadline the owner knew then, in stamp time, and W
}

// Reading is a reading of the nodes' clocks that waits to be adopted: quorum.Timebase.
type Reading struct {
	Moved  bool
	Moving int8 // what the correction would be
	Noted  int8 // since when
	Drawn  int8 // when the last stamp was drawn
}

// Freed says what releases are on their way.
type Freed uint8

// Releases.
const (
	FreedFirst Freed = 1 << iota // up to the first round's stamp
	FreedAll                     // up to the highest stamp sent
)

// Node is one node, its clock and its record of the name.
type Node struct {
	Off    int8 // its clock is the true time plus this
	Owner  int8 // from 1; 0: nobody, or given back
	Token  int8 // 0 marks a claim
	Expiry int8 // by its clock
	Seen   int8 // twice the highest token seen; a tombstone is one more: above it, below the next stamp
	Leased int8 // the same of what may have been a lease's, the owner's own token aside
	Away   int8 // Votes, Forgot, or until when it does not vote, by its clock
	By     [most]Yes
}

// What else Away can be.
const (
	Votes  = 0
	Forgot = -1 // it lost its memory, and nobody has found out
	Asks   = -2 // it wrote a challenge, and nobody has begun its quarantine
)

// Yes is what a node said yes to, of one client.
type Yes uint8

// Granted is for the current stamp; the bits above it are for the renewals.
const Granted Yes = 1

// Extended is the bit for renewal k.
func Extended(k int) Yes { return 2 << k }

// State is everything.
type State struct {
	Now   int8 // true time
	Jumps int8 // how often a clock jumped
	Wipes int8 // how often the first node lost its memory
	Admission
	Clients [most]Client
	Nodes   [nodes]Node
}

// Admission is what concerns the first node while it does not vote; the others never lose their memory.
type Admission struct {
	Challenge int8 // the loss that its challenge names, counted from 1; 0: it has none
	Written   int8 // when it wrote that, true time
	Vouched   int8 // the losses, as bits, that an operator vouched for
}

// Clock is a node's TIME.
func (s *State) Clock(n int) int8 { return s.Now + s.Nodes[n].Off }

// Token is the current stamp: the token of its lease, if it has one.
func (c *Client) Token() int8 {
	if c.Rounds == 0 {
		return 0
	}
	return c.Stamps[c.Rounds-1]
}

// Highest is the highest stamp that was sent under its owner.
func (c *Client) Highest() int8 {
	top := c.Token()
	for k := range c.Count {
		top = max(top, c.Stamp[k])
	}
	return top
}

// yes counts the nodes that said yes to any of some questions.
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
		s.Nodes[i].By[client] &^= which
	}
}

func abs(x int8) int8 { return max(x, -x) }

var _ explore.Model[State] = Model{}
