package holdfast

import (
	"errors"
	"log/slog"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
	"github.com/holdfast-go/holdfast/node"
)

// NodeAnswer is the answer of one node: to an attempt, about a lock, or about the node itself. Reason says in a code
// what the node answered. The other fields have the details. A field that does not belong to this reason is zero.
type NodeAnswer struct {
	Node   string // the node's address, without password
	Reason Reason
	Cause  Cause // the cause, for a reason that has several causes
	// Value belongs to the reason or the cause: a setting of the server, the address of another node, or a key.
	Value string

	Owner     string        // owner of the lock: "label~client~random", or a foreign value
	Foreign   bool          // the owner is not a client of Holdfast
	Readers   int           // number of readers that have the lock, of which Owner is the first; 0: there are no readers
	Fence     int64         // fencing token of Owner, from Client.Status; 0 if Foreign
	Until     time.Time     // end of the lock if its holder does not renew it, from Client.Status; zero: the lock never ends
	ExpiresIn time.Duration // time until the lock ends, from an attempt; negative: the lock never ends

	VotesIn     time.Duration // time until a quarantined node votes again
	Took        time.Duration // time from the call to the answer, or to the end of the wait for an answer
	Seen        time.Time     // the time of the token that a node has seen
	Offset      time.Duration // node's clock minus the clocks of the majority; the node votes if this is at most Window
	OffsetKnown bool

	Settings []Difference // the settings that differ
	Lists    *Lists       // the lists of nodes that differ

	Version string // such as "Redis 7.0.15", from Admin.Nodes
	RunID   string // id of the server's incarnation, from Admin.Nodes

	// Loss is an id for the node's last loss of memory, from Admin.Nodes. Each loss has another id. Loss is "" if the
	// node votes.
	Loss string

	// Err is the error of the Redis client, or nil.
	Err error

	met       bool             // the node has answered this client at least once
	unsettled quorum.Unsettled // for ReasonUnsettled
	forgetful bool             // from Client.Status: the node does not vote, so it may have forgotten the holder
	readers   []NodeAnswer     // from Client.Status: one answer for each reader that the node lists; nil: there are no readers
}

// Difference is a setting for which a node and this client have different values. A value is "" if the node or the
// client does not have the setting.
type Difference struct {
	Setting      string // such as "max-ttl"
	Node, Client string
}

// Lists shows how the servers of a node set differ between a node and this client.
type Lists struct {
	Node, Client []Server
	Kept         time.Duration // time after which the node drops a server that no client reaches
}

// Server is one server of a list.
type Server struct {
	Addr string // without password
	ID   string // an id that the server stores with its data; "" if unknown
}

// Votes reports whether the node votes.
func (n NodeAnswer) Votes() bool { return n.Reason == ReasonVotes }

// Held reports whether the node stores an owner that has the lock, or a waiter for which the lock is reserved (a
// claim).
func (n NodeAnswer) Held() bool { return n.Reason == ReasonHeld || n.Reason == ReasonOffered }

// Reachable reports whether the node answered.
func (n NodeAnswer) Reachable() bool {
	switch n.Reason {
	case ReasonUnanswered, ReasonRefused, ReasonTimedOut, ReasonDisconnected, ReasonUnreadable:
		return false
	case ReasonFailed:
		return n.Cause == CauseUnreplicated || n.Cause == CauseElsewhere
	}
	return true
}

// LogValue returns the answer as attributes of a log record. node, reason and cause are codes for programs. votes_in
// is the rest of a quarantine. said has words for people.
func (n NodeAnswer) LogValue() slog.Value { return slog.GroupValue(n.attrs()...) }

func (n NodeAnswer) attrs() []slog.Attr {
	attrs := []slog.Attr{slog.String("node", n.Node), slog.String("reason", n.Reason.String())}
	if n.Cause != "" {
		attrs = append(attrs, slog.String("cause", string(n.Cause)))
	}
	if n.VotesIn > 0 {
		attrs = append(attrs, slog.Duration("votes_in", n.VotesIn))
	}
	return append(attrs, slog.String("said", n.Said()))
}

// answer makes the public answer from the answer a of node i. offset is the node's clock minus the clocks of the
// majority, or 0 if unknown.
func (c *Client) answer(i int, a nodescript.Answer, offset time.Duration) NodeAnswer {
	n := NodeAnswer{Node: c.fan.Addr(i), Reason: verdictReasons[a.Verdict], Offset: offset, Err: a.Err, met: c.fan.Answered(i)}
	n.Cause, n.Value = causeOfAnswer(a)
	switch a.Verdict {
	case nodescript.Granted:
		if a.Cause == nodescript.TooLate {
			n.Reason, n.Cause = ReasonGrantedLate, ""
		}
	case nodescript.Held:
		n.Owner, n.Foreign, n.ExpiresIn = a.Owner, a.Foreign, a.Left
		if a.Left == nodescript.Forever {
			n.ExpiresIn = -1
		}
		if a.Claim {
			n.Reason = ReasonOffered
		}
		if a.Evidence != nil {
			n.Readers = a.Evidence.Readers
		}
	case nodescript.Lost:
		n.Owner, n.Foreign = a.Owner, a.Foreign
	case nodescript.Poisoned:
		n.Seen = time.UnixMicro(a.Seen)
	case nodescript.OffClock:
		n.late(a, c.config.Window)
	case nodescript.Quarantined:
		n.VotesIn = a.Left
	case nodescript.Misconfigured:
		n.differs(a, c.fan.Set())
	case nodescript.Loaded:
		if e := a.Evidence; e == nil || e.Stored == nil || !e.Stored.Whole {
			n.Reason = ReasonYoungMemory
		}
	case nodescript.Failed:
		if n.failed(a.Err); a.Cause == nodescript.WrongType {
			n.Reason, n.Cause = ReasonCorrupt, CauseType
		} else if a.Cause == nodescript.Unreplicated {
			n.Cause = CauseUnreplicated
		}
	}
	return n
}

// verdictReasons maps each verdict to its public reason. The verdict Failed needs more: the method failed finds its
// reason in the error.
var verdictReasons = [...]Reason{
	nodescript.Unanswered: ReasonUnanswered, nodescript.Granted: ReasonGranted, nodescript.Extended: ReasonExtended,
	nodescript.Repaired: ReasonRepaired, nodescript.Loaded: ReasonDone, nodescript.Done: ReasonDone, nodescript.NotMine: ReasonNotHeld,
	nodescript.Held: ReasonHeld, nodescript.Stale: ReasonStale, nodescript.Poisoned: ReasonFutureToken,
	nodescript.OffClock: ReasonOffClock, nodescript.NotAdmitted: ReasonRestarting, nodescript.Lost: ReasonLost,
	nodescript.Challenged: ReasonChallenged, nodescript.Quarantined: ReasonQuarantined,
	nodescript.Misconfigured: ReasonMisconfigured, nodescript.Unfit: ReasonUnfit, nodescript.Duplicate: ReasonDuplicate,
	nodescript.Corrupt: ReasonCorrupt, nodescript.Failed: ReasonFailed,
}

func causeOfAnswer(a nodescript.Answer) (Cause, string) {
	if a.Cause == nodescript.UnknownCause {
		return Cause(a.Value()), ""
	}
	return Cause(a.Cause.String()), a.Value()
}

// late sets the reason of an answer OffClock. With this answer the node refused a stamp that is too far from its
// clock. There are three causes: the node's clock is wrong, the request arrived too late, or the client does not know
// the nodes' time.
func (n *NodeAnswer) late(a nodescript.Answer, window time.Duration) {
	switch {
	case a.Cause == nodescript.Inexact:
		n.unsettle(quorum.Unsettled{Off: a.Evidence.Off, Window: window})
	case n.Offset.Abs() < a.Took/2: // a request with a right stamp reaches the node about Took/2 after that stamp
		n.Reason, n.Took = ReasonLate, a.Took
	case n.Offset.Abs() < 10*time.Millisecond:
		n.Reason = ReasonLate
	}
}

func (n *NodeAnswer) unsettle(u quorum.Unsettled) {
	n.Reason, n.unsettled = ReasonUnsettled, u
	switch {
	case u.Took > 0:
		n.Cause, n.Took = CauseFar, u.Took
	case u.Off > 0:
		n.Cause = CauseInexact
	case u.Unread > 0:
		n.Cause = CauseUnread
	case u.Moved == 0:
		n.Cause = CauseMinority
	default:
		n.Cause = CauseMoved
	}
}

func (n *NodeAnswer) differs(a nodescript.Answer, set nodescript.Config) {
	switch a.Cause {
	case nodescript.OtherSettings:
		n.Value = ""
		for _, d := range nodescript.Differences(a.Value(), set.String()) {
			n.Settings = append(n.Settings, Difference{d.Setting, d.Theirs, d.Ours})
		}
	case nodescript.Stranger:
		n.Lists = &Lists{Node: servers(a.Evidence.Theirs), Client: servers(a.Evidence.Ours), Kept: a.Evidence.Kept}
	}
}

func servers(peers []nodescript.Peer) []Server {
	list := make([]Server, len(peers))
	for i, p := range peers {
		list[i] = Server{p.Addr, p.ID}
	}
	return list
}

// failed sets the reason from the error of a node that gave no usable answer.
func (n *NodeAnswer) failed(err error) {
	var unsettled quorum.Unsettled
	var overdue fanout.Overdue
	var unreadable nodescript.Unreadable
	var foreign nodescript.BadRecord
	n.Reason, n.Cause, n.Err = ReasonFailed, "", err
	switch code := node.Code(err); {
	case errors.Is(err, nodescript.ErrNoScripts):
		n.Reason = ReasonNoScripts
	case errors.Is(err, nodescript.ErrVoid):
		n.Reason = ReasonVoidVoucher
	case nodescript.RefusedWrite(err) != nodescript.NoCause:
		n.Reason, n.Cause = ReasonUnwritable, Cause(nodescript.RefusedWrite(err).String())
	case code != "":
		n.Reason, n.Cause = ReasonServerError, Cause(code)
	case errors.As(err, &unsettled):
		n.unsettle(unsettled)
	case errors.As(err, &foreign):
		n.Reason = ReasonCorrupt
	case errors.As(err, &unreadable):
		n.Reason = ReasonUnreadable
	case errors.As(err, &overdue):
		n.Reason, n.Took = ReasonTimedOut, overdue.Timeout
	case errors.Is(err, node.ErrElsewhere):
		n.Cause = CauseElsewhere
	case node.Refused(err):
		n.Reason = ReasonRefused
	case node.Timeout(err):
		n.Reason = ReasonTimedOut
	case node.Disconnected(err):
		n.Reason = ReasonDisconnected
	}
}

// answers makes the public answers about a lock or a slot. record returns the key of the record that an answer
// concerns. settling is an error if the client could not make a stamp, else nil; it becomes the answer of all nodes
// that were not asked.
func (c *Client) answers(record func(nodescript.Answer) string, answers []nodescript.Answer, settling error) []NodeAnswer {
	nodes := make([]NodeAnswer, len(answers))
	for i, a := range answers {
		offset, known := c.fan.Offset(i)
		n := c.answer(i, a, offset)
		n.OffsetKnown = known
		if settling != nil && a.Verdict == nodescript.Unanswered {
			if n.failed(settling); offset.Abs() > c.config.Window {
				n.Reason, n.Cause = ReasonOffClock, ""
			}
		}
		nodes[i] = n.about(record(a))
	}
	return nodes
}

// about stores the key of the record in an answer that says that this key is corrupt.
func (n NodeAnswer) about(record string) NodeAnswer {
	if n.Reason == ReasonCorrupt {
		n.Value = record
	}
	return n
}
