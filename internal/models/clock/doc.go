// Package clock is a model of who may believe in the lock, and until when: three nodes with
// clocks of their own, two or three clients, and time that passes in units of W. It visits
// every state that can come about until its horizon, and checks that no two clients
// believe at the same time, and that tokens grow also where memory was lost.
//
//	state.go     clients, nodes, clocks
//	config.go    sizes, what is wrong with the clocks, and the rules that can be left out
//	node.go      what one node does: internal/nodescript/lua, a function for each script
//	client.go    what a client does: internal/waiting, internal/renewal, internal/quorum
//	steps.go     everything that can happen next
//	promises.go  what must never be
//	symmetry.go  nodes that the adversary may treat alike are alike
//	words.go     a step, as a trace tells it
//
// scripts_test.go runs every call on many small records both here and by internal/nodemodel,
// the scripts' executable specification, while nobody waits for the name and while somebody does: the two agree on
// the answer and on what is stored, also where an acquire or a release hands the name on. admission_test.go
// does the same with a node that lost its memory, until it votes again.
//
// # What is modelled
//
// The window of acquire.lua and extend.lua; expiry at stamp + TTL by the node's clock;
// extend.lua's later of two expiries, its repair and the deadline the owner knew;
// release.lua, which passes every door, with its tombstone capped at TIME + W where its stamp
// is more than 2 W ahead; claims;
// admit.lua: the quarantine of TTL + W, begun and ended only with a stamp within W of the
// node's clock that was drawn after the node's challenge, and begun anew if the clock went back; trust.lua: a voucher
// shortens the quarantine that it names. The client's deadline, counted from
// the sending; renewals that count inside the old deadline, each for itself; the pass to
// another client of the process; quorum.Timebase: the middle of the clocks that agree, and
// the wait before a move of more than W is adopted.
//
// # What the adversary can do
//
// Delay, repeat, reorder and lose messages: whatever was sent can be carried out in every
// later state that the window lets it into; of admit every request that could have been sent. Let the clocks of one node (Minority) or of any
// jump, some times, by at most Reach. Take the memory of a node. Give the clients stamps that
// are off (Lead) and the nodes clocks that differ (Off), within what the promise allows.
// A reply may come as late as it likes.
//
// # What is left out
//
// The part of the margin that is for clocks of different speed and for timers: clients'
// steady clocks are right, and all instants are whole units of W. A TTL is 4 to 7 W, where
// the library asks for 8 at least: a belief of a few W suffices for every order of events,
// and the horizon goes beyond two leases. The guard, the run id and what else lets a node
// find out that it forgot: here it knows. The plain key, the queue's order, leave.lua.
//
// # How to read a trace
//
// "go test -v" prints one for each rule that is left out: the shortest way to a broken promise.
// A, B and C are clients, 1, 2 and 3 nodes. All instants, stamps and deadlines are counted from
// the start, in W; "at 3" is true time, "clock 5" the time that the node takes it for.
//
// # What it cannot show
//
// Three rules can be left out without breaking a promise here. A repair's condition that
// TIME is not past the deadline the owner knew + W is implied by the window: the stamp was
// drawn before that deadline, and TIME is at most W beyond the stamp. The quarantine's + W lies
// within the margin of 4 W. A repair that ignores tokens needs more disorder than these
// clocks allow; the token model finds it.
package clock
