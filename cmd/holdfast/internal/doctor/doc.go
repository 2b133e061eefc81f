// Package doctor examines the servers of a node set. It finds settings and faults that can break a lock or slow it
// down. Each finding has a state and, if something is wrong, a fix: a command or an advice.
//
//	doctor.go    findings, and the order of the checks
//	server.go    one server: version, role, replicas, persistence, memory, evictions, latency
//	access.go    rights, the default user, TLS
//	set.go       the node set: answers, round trips, clocks, members, settings, votes
//	locks.go     names: foreign keys, corrupt records, locks that are held for long
package doctor
