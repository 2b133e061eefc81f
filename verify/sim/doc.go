// Package sim runs whole clients of Holdfast against simulated nodes, in virtual time. A seed decides the faults. The
// package checks the promises of docs/design/protocol.md.
//
// The clients are the real ones of package holdfast: no part of the lock is written a second time here. They run in a
// bubble of testing/synctest. Each of their nodes is a [nodemodel.Node], the executable specification of the scripts,
// behind a simulated network. One seed makes a [Plan]: the node set, the clients, the calls of their goroutines, and
// the schedule of faults.
//
// On one processor (GOMAXPROCS=1) a plan always makes the same history. Every random value comes from the seed, and no
// two timers fire in the same nanosecond. There is one rare exception: the machine stops the process for longer than a
// goroutine's time slice, and the runtime continues with another goroutine.
//
// If the history of a plan breaks a promise, the plan is shrunk: parts are left out as long as the rest still breaks
// it.
//
//	chance.go    streams of random numbers, one per purpose
//	plan.go      a world, decided in advance
//	draw.go      plans from seeds
//	tight.go     plans of worlds at the limit of a lease
//	latecomers.go plans of worlds in which requests of admission come late
//	wide.go      plans of worlds with rare settings, and rare calls in all worlds
//	hiccup.go    plans of worlds in which an Extend is lost
//	kinds.go     plans of worlds with semaphores and sets of names
//	crowd.go     plans of worlds in which many wait for a lease that must be repaired
//	demotion.go  plans of worlds in which a writer with a shortened TTL becomes a reader and is cut off
//	scramble.go  plans of worlds in which bids move between slots, and their questions come twice
//	baton.go     plans of worlds in which goroutines pass a lock on, and answers and releases come late
//	vacant.go    plans of worlds in which all servers restart, and only some may skip their quarantine
//	vault.go     plans of worlds in which holders use a value all the time
//	late.go      plans of worlds in which renewals are late, or nodes ahead, and their judge
//	orphan.go    plans of worlds in which a writer dies in the queue
//	forced.go    plans of worlds in which an operator takes locks away
//	notice.go    forced releases, and their judges: the old holder notices in time
//	strangers.go plans of worlds in which a client meets a server that is no member
//	fault.go     kinds of faults, and their schedule
//	world.go     runs a plan
//	breach.go    the promise that a violation breaks
//	server.go    a node: the model, its clock, its outages
//	host.go      a client's process: its clock, and whether it runs
//	link.go      a client's driver for a node, and the network between them
//	news.go      the same for subscriptions
//	messages.go  kinds of messages, and the treatment of each
//	fate.go      the fate of one message
//	strike.go    makes faults happen
//	suspend.go   a client's host that sleeps
//	busy.go      a client whose goroutines can run and do not
//	doze.go      all clients' hosts sleep, and their timers with them
//	actor.go     the calls of one goroutine of a client
//	nested.go    a lock under its own lease
//	slots.go     semaphores and their slots
//	sets.go      several names locked together
//	readers.go   readers that have a name together, and writers that become readers
//	values.go    values under a lock
//	elections.go candidates of an election
//	observers.go observers of an election
//	rarely.go    calls that most programs never make
//	voucher.go   an operator who vouches that no lock is alive
//	foreign.go   a foreign Redlock client
//	witness.go   which client relies on which lease: exclusion, tokens, losses
//	announce.go  a loss is announced at its deadline
//	tries.go     a holder that can reach a majority loses no lease
//	held.go      a lease from its holder's point of view
//	reach.go     a client that could always reach a majority keeps its lease, and can release it
//	order.go     the order of arrival and the order of service
//	silence.go   how soon a waiter is told of an outage
//	overtaken.go how often one client may overtake a waiter
//	recovery.go  how soon a name is granted again after the faults, and lost wake-ups
//	calls.go     requests and answers, counted
//	use.go       traces of a process that has stopped using a name
//	ghosts.go    traces after every lock is released or every client closed
//	history.go   the events, as text and as a digest
//	tally.go     how often each kind of event happened
//	shrink.go    a smaller plan that still fails
package sim
