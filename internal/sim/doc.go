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
//	latecomers.go those of worlds in which requests of admission come late
//	wide.go      those of worlds with rare settings, and rare calls in all
//	hiccup.go    those of worlds in which an Extend is lost
//	crowd.go     those of worlds in which many wait behind a lease that must be repaired
//	fault.go     what may go wrong, and the schedule of it
//	world.go     runs a plan
//	breach.go    which promise a violation breaks
//	server.go    a node: the model, its clock, its outages
//	host.go      a client's process: its clock, and whether it runs
//	link.go      what a client has for a node: the network in between
//	news.go      the same for subscriptions
//	messages.go  kinds of messages, and what becomes of each
//	fate.go      what becomes of one message
//	strike.go    makes faults happen
//	suspend.go   a client's host that sleeps
//	doze.go      all clients' hosts sleep, and their timers with them
//	actor.go     what one goroutine of a client does
//	rarely.go    calls that most programs never make
//	voucher.go   an operator who vouches that no lock is alive
//	foreign.go   a Redlock client that is not ours
//	witness.go   who believes in what: exclusion, tokens, losses
//	announce.go  a loss is announced at its deadline
//	tries.go     who can reach a majority loses no lease
//	held.go      a lease as its holder believes in it
//	reach.go     what a client could reach all along: it keeps that, and gives it back
//	order.go     who came first, and who was served
//	silence.go   how soon who waits is told of an outage
//	overtaken.go how often one client may overtake who stands in line
//	recovery.go  how soon a name is had again after the faults, and lost wake-ups
//	calls.go     what clients ask and nodes answer, counted
//	use.go       what a process leaves when it has stopped using a name
//	ghosts.go    what is left when all is given back, or closed
//	history.go   what happened, as text and as a digest
//	tally.go     how often what happened
//	shrink.go    a smaller plan that still fails
package sim
