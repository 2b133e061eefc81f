// Package fanout sends each operation to all nodes and brings the nodes' answers back. It contains the goroutines and
// the connections. Packages bid and quorum contain the rules.
//
//	fanout.go         the node set: send to all nodes, ask all for their votes, close
//	collector.go      one answer of each node
//	survey.go         questions to each node outside the queues
//	report.go         what the client knows of a node, without a question
//	direct.go         the places of calls outside the queues
//	readonly.go       questions for the list of locks
//	peek.go           values, and the settings of a node
//	force.go          the end of a lease for an operator
//
// Transport, for each node a sender:
//
//	message.go        one operation that waits for each node
//	sender.go         the queue, and when a worker wakes
//	worker.go         workers: they take batches, send them and deliver the answers
//	spare.go          more pipelines to a node that is far away
//	carry.go          a lone caller that carries its messages itself
//	pipeline.go       the calls that go to a node in one piece
//	limit.go          the time limit of a pipeline, and renewals that wait longer
//	relay.go          wakes the workers of several nodes one after the other, in a busy process
//	sweep.go          removes the dropped messages of a long queue
//	woken.go          notes that a goroutine of this client runs
//	parked.go         releases that could not be delivered yet
//	subscriptions.go  a subscription on every node
//
// Admission, for each node a voter:
//
//	voter.go          whether the node votes, and what makes that doubtful
//	greet.go          hello, admit and refresh
//	unused.go         whether no node of the list can have granted a lock
//	neverused.go      clients that leave a node alone that was never used
//	announce.go       what the client tells about a node that does not vote
//	durable.go        whether the server is as durable as the clients declare
//	homes.go          the server behind each node: one server has one vote
//	site.go           where the address of a node leads
//	members.go        the servers behind the list, and strangers
//	reporting.go      one report of the members to all nodes
//	longmutex.go      a mutex that is held over round trips
//
// Admission of the hash slots of a shard of a Redis Cluster:
//
//	hashslots.go      which slots vote, and the messages that wait for that
//	slotask.go        asks for the admission of one slot
//	slotproof.go      the proofs of the former servers of slots
//	slotsweep.go      begins the quarantines of all slots of a shard
//	slottrust.go      hash slots that get another configuration by an operator
//	slotvote.go       whether all slots vote, for views
//	slotmoves.go      messages whose slot is being moved
//
// Clocks:
//
//	clocks.go         the nodes' clocks: read them, draw stamps
//
// In this package a queue is the client's queue of messages to one node. The queue of waiters on a node is something
// else. A sender uses its voter, and no other part of admission. A voter does not use the queues.
//
// Other libraries use one goroutine for each node and call. That is simpler, but costs more than half of the
// throughput. Here a few workers per node send the queued messages in pipelines. While a pipeline is under way, new
// messages wait and go with the next one. With a single node, a single caller carries its messages itself and needs no
// worker.
package fanout
