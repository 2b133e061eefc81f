// Package fanout carries one operation to all nodes and their answers back: the thin
// layer of goroutines and sockets around the protocol's core.
//
//	fanout.go   the node set: send to all, draw stamps
//	message.go  one operation as it waits for each node
//	seat.go     one node: its queue and its batching workers
//	pipeline.go what goes to a node in one piece
//	door.go     one node: greeting and admission before anything is sent
//	homes.go    which server is behind which node: one server, one vote
//	inbox.go    a subscription on every node
//	parked.go   one node: releases that could not be delivered yet
//
// A goroutine per node and call would be simpler and is what other libraries do; it
// costs most of their throughput. Here two workers per node (three for a single one)
// drain a queue into pipelines: whatever waits while one is on the wire goes with the next.
package fanout
