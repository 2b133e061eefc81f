// Package nodescript is the interface to one node: the embedded Lua scripts, their calls in Go and their answers. No
// other package knows the names of keys, the layout of a record or the codes of replies. The packages above do not see
// Redis.
//
//	keys.go       the keys of a name, with the plain key
//	owner.go      the owner string: label~client~random
//	record.go     the record: one string of fixed-width fields per name
//	config.go     the configuration that all clients of a node set share
//	script.go     the scripts for one incarnation and configuration of a node
//	call.go       makes the keys and arguments of an operation
//	slot.go       the slots of a semaphore: their calls and bounds
//	reply.go      turns a node's reply into an Answer; never panics, also not on the reply of a hostile server
//	cause.go      why a node gave its answer: the codes of admit, and the codes that clients find
//	evidence.go   the values that belong to a cause
//	greeting.go   hello and admit, which decide whether a node votes
//	peers.go      the servers that are members of the node set
//	inspect.go    the content of a name's keys, for status
//	look.go       keys of a node, and the content of those of many names, for list
//
// Times are microseconds since the epoch, below 2^53, always as 16 decimal digits. So scripts compare them as strings.
// Redis's Lua prints large numbers as 1.79e+15. Package nodemodel is the executable specification of the scripts. A
// test runs both and compares every reply and every key.
package nodescript
