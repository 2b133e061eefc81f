// Package fanout carries one operation to all nodes and brings their answers back. It is the thin layer of goroutines
// and sockets around the core of the protocol.
//
//	fanout.go   the node set: send to all nodes
//	clocks.go   the nodes' clocks: read them, draw stamps
//	message.go  one operation that waits for each node
//	seat.go     one node: its queue and the workers that send batches
//	pipeline.go the calls that go to a node in one piece
//	door.go     one node: greeting and admission before anything is sent
//	durable.go  one node: whether it is as durable as the clients declare
//	homes.go    the server behind each node: one server has one vote
//	members.go  the servers behind the list: reports to the nodes, and strangers
//	inbox.go    a subscription on every node
//	parked.go   one node: releases that could not be delivered yet
//	survey.go   questions to each node outside the queues
//
// Other libraries use one goroutine per node and call. That is simpler, but it costs most of their throughput. Here two
// workers per node, or three for a single node, drain a queue into pipelines. Messages that wait while one pipeline is
// under way go with the next one.
package fanout
