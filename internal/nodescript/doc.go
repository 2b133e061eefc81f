// Package nodescript is what one node does: the Lua scripts, embedded, and their
// Go face. It is the only place that knows key names, the record's layout and
// reply codes; nothing above it sees Redis.
//
//	keys.go       which keys a name has
//	record.go     the record: one fixed-width string per name
//	config.go     the configuration all clients of a node set share
//	script.go     the scripts, made for one node's incarnation and configuration
//	call.go       operations in, keys and arguments out
//	reply.go      a node's answer in, an Answer out; never panics on a hostile server
//	cause.go      why a node gave its answer: the codes of admit, and those that clients find
//	evidence.go   the values that belong to a cause
//	admission.go  hello and admit: may this node vote?
//	peers.go      which servers are the members of the node set
//	inspect.go    what a node stores about a name, for status
//
// Times are microseconds since the epoch, below 2^53, always as 16 decimal digits,
// so that scripts compare them as strings: Redis's Lua turns large numbers into
// 1.79e+15 when it prints them. The executable specification of the scripts is
// package nodemodel; a test runs both and compares every reply and every key.
package nodescript
