package node

import "context"

// MaxCalls is the largest number of calls that a client has under way at one node. A busy client has many calls under
// way at a node that is far away. A call that waits for a connection arrives too late, so a driver needs room for all
// of them at once.
const MaxCalls = 40

// Node is one independent Redis or Valkey master. It is safe for concurrent use, and sends up to [MaxCalls] calls
// without waiting for the answer to any of them.
//
// Every method returns at the latest when ctx ends, even if the server hangs or the network drops every packet. No
// method sends a call twice: the caller decides whether to repeat a lost call.
type Node interface {
	// Addr names the node for people and for the default cluster name. It is the URL without user and password, such as
	// redis://10.0.0.7:6379/0. It is constant and needs no network.
	Addr() string

	// EvalSHA runs each call by its script's digest, in one pipeline and in order. It returns one reply per call. If
	// the server does not know a script, the reply has the code NOSCRIPT. EvalSHA never sends the text instead, because
	// that would hide a restart. After EvalSHA has returned, the caller may reuse calls.
	EvalSHA(ctx context.Context, calls []Call) []Reply

	// Eval runs one script from its text and then loads other scripts. It sends EVAL with text, waits for the answer,
	// and then sends one SCRIPT LOAD for each load in one pipeline. After an error it loads nothing.
	//
	// The loads use the connection that brought the answer, and Eval gives them up if it breaks. So they reach the
	// server that answered, and never a server that was started in its place.
	//
	// The reply is the reply to the EVAL. An error in any part is the reply's error. Eval uses no transaction: a server
	// whose memory is full refuses each command of a transaction, but these commands need no memory.
	Eval(ctx context.Context, text string, call Call, load ...string) Reply

	// Listen subscribes to a channel and calls on for each message, one at a time. It returns when ctx ends or the
	// connection breaks, with the reason. It calls on("") once, when the server has confirmed the subscription. on must
	// return soon. Listen does not call it after it has returned.
	Listen(ctx context.Context, channel string, on func(message string)) error

	// Close drops the connections. Running calls fail. Later calls fail with [ErrClosed].
	Close()
}

// Configured is a [Node] that can read the settings of its server. Holdfast checks them in a node set that is declared
// durable. It cannot check the settings of a node without this interface.
type Configured interface {
	// Setting returns the value of a setting, as CONFIG GET name does. The value is "" if the server has no setting
	// with this name.
	Setting(ctx context.Context, name string) Reply
}

// Sharded is a [Node] that can subscribe to the sharded channels of Redis 7 and Valkey. Package compat/redisson needs them
// if its servers are a Redis Cluster. Nothing else does.
type Sharded interface {
	Node

	// ListenShard does the same as [Node.Listen] with SSUBSCRIBE. So it hears what SPUBLISH sends.
	ListenShard(ctx context.Context, channel string, on func(message string)) error
}

// Commander is a [Node] that can send any command. Holdfast needs it for the calls of an operator only: it lists locks by
// scripts that the server keeps from writing (EVAL_RO), and it examines servers. A node without this interface runs the
// scripts of a list by EVAL.
type Commander interface {
	// Do sends one command. The reply is a text or a number, as the reply to a script. Any other type of reply is an
	// error. Do never sends a command twice.
	Do(ctx context.Context, command ...string) Reply
}

// Call is one script to run on one node.
type Call struct {
	// SHA is the script's SHA-1 digest in lower-case hexadecimal. Eval ignores it.
	SHA string
	// Keys and Args reach the script as KEYS and ARGV. They may contain any bytes.
	Keys, Args []string
	// Confirm makes a [Replicated] node wait for its replicas after the call, if it declares a number of them. Other
	// nodes ignore Confirm.
	Confirm bool
}

// Reply is a node's answer to one call. Scripts of Holdfast answer with one string, so a Reply has one string.
type Reply struct {
	Value string
	// Err is nil after an answer, and an *[Error] if the server answered with an error. Otherwise it says why no answer
	// came: see [Unsent].
	Err error
	// Unconfirmed says that too few replicas have confirmed a call with Confirm. It is nil if enough of them have, and
	// for any other call. It is beside Value, because only a grant needs to be confirmed.
	Unconfirmed error
}
