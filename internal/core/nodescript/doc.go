// Package nodescript is the interface to one node. It contains the embedded Lua scripts, the Go functions that make
// their calls, and the functions that parse their answers. No other package knows the names of keys, the layout of a
// record or the codes of answers. The packages above this one contain nothing of Redis.
//
//	keys.go       the keys of a name, with the plain key
//	owner.go      the owner string: label~client~ticket-random
//	record.go     the record: one string of fixed-width fields per name
//	config.go     the configuration that all clients of a node set share
//	script.go     the scripts for one incarnation and configuration of a node
//	template.go   the texts of the scripts, with gaps for values
//	call.go       makes the keys and arguments of an operation
//	kind.go       the calls of one name, whichever kind of lock it has
//	exclusive.go  the kinds of a lock with one holder, and of one with several readers
//	semaphore.go  the kind of a slot
//	slot.go       the slots of a semaphore: their calls and bounds
//	shared.go     the readers of a name
//	value.go      the value under a lock: its key, calls and form
//	together.go   several calls in one call of a script
//	reply.go      turns a node's reply into an Answer; never panics, also not on the reply of a hostile server
//	answers.go    the answers of each script, by letter
//	cause.go      why a node gave its answer: the codes of admit, and the codes that clients find
//	evidence.go   the values that belong to a cause
//	slots.go      the hash slots of a shard of a Redis Cluster, each with a guard of its own
//	greeting.go   hello and admit, which decide whether a node votes
//	peers.go      the servers that are members of the node set
//	inspect.go    the content of a name's keys, for status
//	peek.go       the value of a name, and the settings of a node
//	look.go       keys of a node, and the content of those of many names, for list
//
// The folder lua has a file for each script, and for each part that several scripts share. A part replaces a
// placeholder such as @HANDOFF@, and uses variables of its host. Its header says which ones it reads and sets. Package
// verify/scripts compares the headers with the code, and finds variables that a whole script does not declare.
//
// All times are microseconds since the epoch, below 2^53, written as 16 decimal digits. So scripts can compare times
// as strings. They cannot use numbers in texts, because Redis's Lua prints large numbers as 1.79e+15. Package
// nodemodel describes the scripts a second time in Go. A test runs both and compares every answer and every key.
package nodescript
