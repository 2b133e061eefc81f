// Package bid contains the rules of one bid. A bid is the attempt of one owner to get a name. The rules say which
// nodes the bid asks, what their answers and hand-offs mean, and what the bid gives back.
//
// The package has no input or output, reads no clock, draws no random numbers and starts no goroutines. It receives
// events and returns actions. So the same code runs in three places: in production (package waiting does the actions),
// in tests with a table of events, and in package verify/bids, where a loop with a seed runs many bids.
//
// The states of a bid:
//
//	  Begin, AskAll, Join, Passed
//	              │
//	              ▼     a majority grants      Next, Outcome: in time
//	   ┌──────► open ──────────────────► won ───────────────────────► over, with a lease
//	   │         │                        │
//	   │         │ no majority,           │ End, also if Next or Outcome came after the deadline
//	   │         │ no stamp, Wanted       ▼
//	   │         ▼                       over
//	   ├────── failed ─────────────────►  ▲
//	   │         │          End           │
//	   │         │ Next                   │
//	   │         ▼                        │
//	   └─────── idle ─────────────────────┘
//	AskAll, AskAgain,       End
//	HeardAgain, Handed,
//	JoinFirst, Passed
//
// A round begins in the state open, failed or idle. It sends a new stamp, and only grants of that stamp count. It
// begins in two steps: the machine returns the action Draw, and the caller then calls Stamped with the stamp, or with
// the reason why no stamp could be drawn. A late answer to a decided round can move a bid from idle back to failed:
// see answeredMissing. A bid in the state over still handles late answers. If they are grants, the bid gives them
// back.
//
//	machine.go   the state of a bid
//	action.go    what a bid asks its caller to do
//	nodes.go     a set of nodes
//	round.go     questions to the nodes: when and to which
//	answer.go    what an answer changes
//	handoff.go   hand-offs by nodes, and passes inside a process
//	part.go      a partial grant: kept, or given back to an older waiter or a holder
//	spare.go     nodes that the bid leaves alone for a while, so that a lease can be repaired there
//	lease.go     the end of a bid: won or given up, and the release of its partial grant
//	slots.go     slots of a semaphore: which slot a round asks for, and moves to another one
//	turn.go      what a waiter does after it was woken
//	pause.go     the pause before the next question
//	refusal.go   the reason of a failed attempt, and its meaning for the next attempt
//	past.go      hand-offs to bids that have ended
package bid
