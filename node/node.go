package node

import "context"

// Node is one independent Redis or Valkey master. It is safe for concurrent use.
//
// Every method returns when ctx ends at the latest, also when the server hangs or
// the network swallows every packet. No method sends a call twice: whether a lost
// call is repeated is the caller's decision.
type Node interface {
	// Addr names the node for people and for the default cluster name: the URL
	// without user and password, such as redis://10.0.0.7:6379/0. It is constant
	// and needs no network.
	Addr() string

	// EvalSHA runs each call by its script's digest, all in one pipeline and in
	// order, and returns one reply per call. A script the server does not know
	// is a reply with code NOSCRIPT; it is never sent as text instead, because
	// that would hide a restart. The calls are the caller's again when it returns.
	EvalSHA(ctx context.Context, calls []Call) []Reply

	// Eval runs one script from its text and then loads others: EVAL text and, when
	// its answer has come, SCRIPT LOAD of each load, in one pipeline. Nothing is
	// loaded after an error. The loads go over the connection that brought the
	// answer, and are given up where that broke: so they reach the server that
	// answered, and never one that was started in its place. The reply is that of
	// the EVAL. An error in any part is the reply's error. No transaction: a server
	// whose memory is full refuses each command of one, and these need no memory.
	Eval(ctx context.Context, text string, call Call, load ...string) Reply

	// Listen subscribes to a channel and calls on for each message, one at a
	// time, until ctx ends or the connection breaks; it returns why. on("") is
	// called once, when the subscription stands. on returns soon, and is not
	// called after Listen has returned.
	Listen(ctx context.Context, channel string, on func(message string)) error

	// Close drops the connections. Calls in flight fail; later ones fail with
	// [ErrClosed].
	Close()
}

// Configured is a [Node] that can tell the settings of its server. A node set that is declared durable
// has them checked; of a node that is none nothing is checked.
type Configured interface {
	// Setting returns the value of a setting, as CONFIG GET name does; "" if the server has none of this name.
	Setting(ctx context.Context, name string) Reply
}

// Call is one script to run on one node.
type Call struct {
	// SHA is the script's SHA-1 digest in lower-case hexadecimal. Eval ignores it.
	SHA string
	// Keys and Args reach the script as KEYS and ARGV: any bytes.
	Keys, Args []string
}

// Reply is a node's answer to one call. Scripts of Holdfast answer with one
// string, so that is all there is.
type Reply struct {
	Value string
	// Err is nil, an *[Error] where the server answered with an error, or what
	// kept the call from being answered: see [Unsent].
	Err error
}
