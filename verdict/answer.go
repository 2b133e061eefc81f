package verdict

import (
	"log/slog"
	"time"
)

// Answer is the answer of one node: to an attempt, about a lock, or about the node itself. Reason says in a code
// what the node answered. The other fields have the details. A field that does not belong to this reason is zero.
type Answer struct {
	Node   string // the node's address, without password
	Master string // the address (host:port) of the present master, if the node is a shard of a Redis Cluster
	Reason Reason
	Cause  Cause // the cause, for a reason that has several causes
	// Value belongs to the reason or the cause: a setting of the server, the address of another node, or a key.
	Value string

	Owner     string        // owner of the lock: "label~client~ticket-random", or a foreign value
	Foreign   bool          // the owner is not a client of Holdfast
	Readers   int           // number of readers that have the lock, of which Owner is the first; 0: there are no readers
	Fence     int64         // fencing token of Owner, from [holdfast.Client.Status]; 0 if Foreign
	Until     time.Time     // end of the lock if its holder does not renew it, from [holdfast.Client.Status]; zero: the lock never ends
	ExpiresIn time.Duration // time until the lock ends, from an attempt; negative: the lock never ends

	VotesIn time.Duration // time until a quarantined node votes again
	Took    time.Duration // time from the call to the answer, or to the end of the wait for an answer
	Seen    time.Time     // the time of the token that a node has seen
	// Offset is the node's clock minus the clocks of the majority; the node votes if this is at most Window. For a shard
	// of a Redis Cluster, from [admin.Nodes], it is the shard's clock minus that of the middle shard.
	Offset      time.Duration
	OffsetKnown bool

	Settings []Difference // the settings that differ
	Members  *Members     // the lists of nodes that differ

	Version string // such as "Redis 7.0.15", from [admin.Nodes]
	RunID   string // id of the server's incarnation, from [admin.Nodes]

	// Loss is an id for the node's last loss of memory, from [admin.Nodes]. Each loss has another id. Loss is "" if the
	// node votes.
	Loss string

	// Err is the error of the Redis client, or nil.
	Err error

	// Met is true if the node has answered this client at least once.
	Met bool

	// Unsure is true if the node does not vote, so it may have forgotten the holder. Only an answer about a lock has
	// it.
	Unsure bool

	// Listed has one answer for each reader that the node lists, and is nil if there are no readers. Only an answer
	// about a lock has it.
	Listed []Answer
}

// Difference is a setting for which a node and this client have different values. A value is "" if the node or the
// client does not have the setting.
type Difference struct {
	Setting      string // such as "max-ttl"
	Node, Client string
}

// Members shows how the servers of a node set differ between a node and this client.
type Members struct {
	Node, Client []Server      // the list of the node, and that of this client
	Kept         time.Duration // time after which the node drops a server that no client reaches
}

// Server is one server of a list.
type Server struct {
	Addr string // without password
	ID   string // an id that the server stores with its data; "" if unknown
}

// Votes reports whether the node votes.
func (n Answer) Votes() bool { return n.Reason == ReasonVotes }

// Held reports whether the node stores an owner that has the lock, or a waiter for which the lock is reserved (a
// claim).
func (n Answer) Held() bool { return n.Reason == ReasonHeld || n.Reason == ReasonOffered }

// Reachable reports whether the node answered.
func (n Answer) Reachable() bool {
	switch n.Reason {
	case ReasonUnanswered, ReasonRefused, ReasonTimedOut, ReasonDisconnected, ReasonUnreadable:
		return false
	case ReasonFailed:
		return n.Cause == CauseUnreplicated || n.Cause == CauseElsewhere || n.Cause == CauseFormer
	}
	return true
}

// LogValue returns the answer as attributes of a log record. node, master, reason and cause are for programs. votes_in
// is the rest of a quarantine. said has words for people.
func (n Answer) LogValue() slog.Value { return slog.GroupValue(n.attrs()...) }

func (n Answer) attrs() []slog.Attr {
	attrs := []slog.Attr{slog.String("node", n.Node), slog.String("reason", n.Reason.String())}
	if n.Master != "" {
		attrs = append(attrs, slog.String("master", n.Master))
	}
	if n.Cause != "" {
		attrs = append(attrs, slog.String("cause", string(n.Cause)))
	}
	if n.VotesIn > 0 {
		attrs = append(attrs, slog.Duration("votes_in", n.VotesIn))
	}
	return append(attrs, slog.String("said", n.Said()))
}
