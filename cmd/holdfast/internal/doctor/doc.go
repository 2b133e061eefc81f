// Package doctor examines the servers of a node set. It finds settings and faults that can break a lock or slow it
// down. Each finding has a state and, if something is wrong, a fix: a command or an advice.
//
//	doctor.go       findings, and the order of the checks
//	server.go       one server: version, persistence, memory, evictions, latency
//	answer.go       a server that gives no answer
//	replication.go  the role of a server, and its replicas
//	address.go      where an address leads
//	access.go       rights, the default user, TLS
//	set.go          the node set: answers, round trips, clocks, members, settings
//	cluster.go      the servers and the shards of a Redis Cluster
//	clustermoves.go hash slots that are being moved
//	clusternodes.go what one of its servers says about the others
//	votes.go        why a node does not vote
//	unused.go       nodes that were never used, which stay so
//	belongs.go      the fixes of a wrong list and of wrong settings
//	locks.go        names: foreign keys, corrupt records, locks that are held for long
//	kinds.go        names that are used as locks of several kinds
//	leaders.go      elections that change their leaders all the time
//	jobs.go         jobs that failed, hang, are overdue, paused or retired
//	quote.go        texts of nodes in a command that a person types
package doctor
