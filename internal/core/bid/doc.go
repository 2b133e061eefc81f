// Package bid decides what one bid does: which nodes it asks, what their answers and hand-offs mean, and what it gives
// back. A bid is the attempt of one owner to get a name. The package does no I/O, reads no clock, draws no random
// number and starts no goroutine. Its input is events, and its output is actions. So goroutines drive a bid in
// production (package waiting), a table drives it in a test, and a loop with a seed drives many bids in package bids of
// internal/check.
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
// A new round begins in the state open, failed or idle. It sends a new stamp, and only grants of this stamp count. Each
// round begins in two steps: the action Draw, and then the event Stamped. That event has the stamp, or the reason why
// no stamp could be drawn. A late answer of a decided round can make an idle bid fail again: see answeredMissing. A bid
// that is over still takes the missing answers, and gives back the grants that they report.
//
//	machine.go   the state of a bid
//	action.go what a bid asks its caller to do
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
//	past.go      hand-offs to bids that are over
package bid
