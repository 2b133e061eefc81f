package node

import (
	"context"
	"time"
)

// MaxCalls is the largest number of calls that a client sends to one node at the same time. A busy client needs so
// many if the node is far away. A driver must send all of them at once: a call that waits for a free connection would
// reach the node too late, and the node would refuse it.
const MaxCalls = 128

// Node is one independent Redis or Valkey master. It is safe for concurrent use. It sends up to [MaxCalls] calls at
// the same time: a call does not wait for the answers to other calls.
//
// Every method returns when ctx ends, even if the server hangs or the network drops every packet. No method sends a
// call twice: if an answer is missing, the caller decides whether to repeat the call.
type Node interface {
	// Addr returns the name of the node for people and for the default of Config.Cluster. It is the URL without user
	// and password, such as redis://10.0.0.7:6379/0. It never changes, and Addr does not use the network.
	Addr() string

	// EvalSHA runs each call by the digest of its script, in one pipeline and in order. It returns one reply per
	// call. If the server does not know a script, the reply has the code NOSCRIPT. EvalSHA must not send the text of
	// the script in this case, because that would hide a restart of the server from Holdfast. After EvalSHA has
	// returned, the caller may reuse calls.
	EvalSHA(ctx context.Context, calls []Call) []Reply

	// Eval runs one script from its text, and then loads other scripts. It sends EVAL with text and waits for the
	// answer. Then it sends a SCRIPT LOAD for each load, in one pipeline. After an error it loads nothing.
	//
	// The loads use the same connection as the EVAL. If this connection breaks, Eval gives the loads up. Otherwise
	// they could reach a server that was started in the place of the first one. Holdfast would then not notice that
	// the server has restarted.
	//
	// The reply is the reply to the EVAL. If a load fails, the reply has its error. Eval uses no transaction: a
	// server whose memory is full refuses each command of a transaction, although these commands need no memory.
	Eval(ctx context.Context, text string, call Call, load ...string) Reply

	// Listen subscribes to a channel and calls the function on for each message, one call at a time. It returns the
	// reason when ctx ends or the connection breaks. When the server has confirmed the subscription, Listen calls on
	// once with an empty message. The function on must return soon. Listen does not call it any more after Listen has
	// returned.
	Listen(ctx context.Context, channel string, on func(message string)) error

	// Close closes the connections. Calls that run fail. Later calls fail with [ErrClosed].
	Close()
}

// Configured is a [Node] that can read the settings of its server. In a node set that is declared durable, Holdfast
// checks these settings. If a node does not implement Configured, Holdfast cannot check them.
type Configured interface {
	// Setting returns the value of a setting, as CONFIG GET name does. The value is "" if the server has no setting
	// with this name.
	Setting(ctx context.Context, name string) Reply
}

// Identified is a [Node] whose driver proves where each new connection leads, before the connection carries a call.
// When a new connection leads to another server than the ones before, the driver closes these. Holdfast cannot notice
// that an address has moved, or leads to several servers, if a node does not implement Identified.
type Identified interface {
	Node

	// Identify opens one more connection, asks which server it leads to, and closes it. The Run of the result is "" if
	// the server does not tell it. An error means that the connection cannot be used. Moved and Returned count even
	// then.
	Identify(ctx context.Context) (Identity, error)

	// Met returns what the last new connection has proven, without a dial. Its Run is "" if there is none.
	Met() Identity
}

// Local is a [Node] whose driver can find out that its server runs on this machine. A set of such servers that was never
// used needs no quarantine. At any other address another server may have been a moment ago.
type Local interface {
	Node

	// Local opens one more connection, and closes it. It returns the run id of the server if the address is a loopback
	// address and no name, if nothing forwards the connection, and if the process of the server has been running for at
	// least as long as the server says. Otherwise, and if it cannot find out, it returns "".
	Local(ctx context.Context) (run string)
}

// Identity identifies the server behind a connection.
type Identity struct {
	Run string        // the run id (INFO server), which is new at every start of a server
	Up  time.Duration // the time since that start, in whole seconds
	Age time.Duration // the time since the dial of that connection began; Identify leaves it 0

	// Dials is the number of new connections in a row that led to this server. Each is evidence that the address leads
	// to one server only.
	Dials int

	// Moved is the number of times that a connection of this node led to another server while the one before still ran.
	Moved int
	// Returned is the time since a connection last led back to a server that the node had left: the address leads to
	// several servers. 0 means never. It stays 0 if Sentinel names the server.
	Returned time.Duration
}

// Sharded is a [Node] that can subscribe to the sharded channels of Redis 7 and Valkey. Only package compat/redisson
// needs it, and only for servers of a Redis Cluster.
type Sharded interface {
	Node

	// ListenShard does the same as [Node.Listen] with SSUBSCRIBE. It receives the messages of SPUBLISH.
	ListenShard(ctx context.Context, channel string, on func(message string)) error
}

// Commander is a [Node] that can send any command. Holdfast needs it only for calls of an operator. To list locks, it
// runs scripts with EVAL_RO, so that the server refuses any write in them. It also examines servers. If a node does
// not implement Commander, the scripts of a list run with EVAL.
type Commander interface {
	// Do sends one command. Like a script, the command must answer with a text or a number; any other type is an
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
	// Epoch makes a [Replicated] node append four arguments to Args, for the server behind the connection that the call
	// uses. The first two are for Sentinels: the epoch of the failover under which a majority of them names the server
	// (config-epoch, sixteen digits), and "F" if they have done so for ten seconds. Such a node keeps to [NamedFor].
	// The others are how long ago the node first met the last other master behind its address (µs), and the run id of
	// that master. An argument that is not known is "". Other nodes ignore Epoch. Only Eval has such calls.
	Epoch bool
}

// Reply is a node's answer to one call. The scripts of Holdfast answer with one string.
type Reply struct {
	Value string
	// Err is nil if the script answered. It is an *[Error] if the server answered with an error. Otherwise it says
	// why no answer came: see [Unsent].
	Err error
	// Unconfirmed says that too few replicas have confirmed a call with Confirm. It is nil if enough of them have, and
	// for any other call. It is beside Value, because only a grant needs to be confirmed.
	Unconfirmed error
}
