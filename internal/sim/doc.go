// Package sim runs whole clients of Holdfast against simulated nodes, in virtual time, under
// faults that a seed decides, and checks what docs/protocol.md promises.
//
// The clients are the real ones, of package holdfast: nothing of the lock is written a
// second time here. They run in a bubble of testing/synctest; each of their nodes is a
// [nodemodel.Node], the scripts' executable specification, behind a simulated network. One
// seed makes a [Plan]: the node set, the clients, what each of their goroutines does, and
// the schedule of faults. On one processor (GOMAXPROCS=1) a plan makes the same
// history, because everything random comes from the seed and no two timers fire in the same
// nanosecond; but for the rare case that the machine stops the process for longer than a goroutine's
// time slice, and the runtime goes on with another one. A plan whose history breaks a promise is shrunk: parts are left out while it
// still does.
//
//	chance.go    streams of random numbers, by what they are for
//	plan.go      a world, decided beforehand
//	draw.go      plans from seeds
//	tight.go     those of worlds on the edge of a lease
//	fault.go     what may go wrong, and the schedule of it
//	world.go     runs a plan
//	server.go    a node: the model, its clock, its outages
//	host.go      a client's process: its clock, and whether it runs
//	link.go      what a client has for a node: the network in between
//	news.go      the same for subscriptions
//	fate.go      what becomes of one message
//	strike.go    makes faults happen
//	suspend.go   a client's host that sleeps
//	actor.go     what one goroutine of a client does
//	foreign.go   a Redlock client that is not ours
//	witness.go   who believes in what: exclusion, tokens, losses
//	held.go      a lease as its holder believes in it
//	order.go     who came first, and who was served
//	recovery.go  how soon a name is had again after the faults, and lost wake-ups
//	calls.go     what clients ask and nodes answer, counted
//	use.go       what a process leaves when it has stopped using a name
//	ghosts.go    what is left when all is given back, or closed
//	history.go   what happened, as text and as a digest
//	tally.go     how often what happened
//	shrink.go    a smaller plan that still fails
package sim
