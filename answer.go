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

// NodeAnswer is the answer of one node: to an attempt, about a lock, or about itself. Reason is the meaning of the
// answer as a code. The other fields have its numbers and values. A field that does not belong to the reason is zero.
type NodeAnswer struct {
	Node   string // the node's address, without password
	Reason Reason
	Cause  Cause // the cause, for a reason that has several causes
	// Value belongs to the reason or the cause: a setting of the server, the address of another node, or a key.
	Value string

	Owner     string        // owner of the lock: "label~client~random", or a foreign value
	Foreign   bool          // the owner is not a client of Holdfast
	Readers   int           // number of readers that have the lock; Owner is the first of them. 0: nobody has it shared
	Fence     int64         // fencing token of Owner, from Client.Status; 0 if Foreign
	Until     time.Time     // end of the lock unless it is renewed, from Client.Status; zero: it never ends
	ExpiresIn time.Duration // time to the end of the lock, from an attempt; negative: it never ends

	VotesIn     time.Duration // time until a quarantined node votes again
	Took        time.Duration // time from the call to the answer, or to the end of the wait for an answer
	Seen        time.Time     // the time of the token that a node has seen
	Offset      time.Duration // difference of the node's clock from the majority's clocks; the node votes up to Window
	OffsetKnown bool

	Settings []Difference // the settings that differ
	Lists    *Lists       // the lists of nodes that differ

	Version string // such as "Redis 7.0.15", from Admin.Nodes
	RunID   string // id of the server's incarnation, from Admin.Nodes

	// Loss names the loss of memory of a node that does not vote, from Admin.Nodes. Each loss has its own name. It is
	// "" if the node votes.
	Loss string

	// Err is the error of the Redis client, or nil.
	Err error

	unsettled quorum.Unsettled // for ReasonUnsettled
	forgetful bool             // Client.Status: the node does not vote, so it may have forgotten the holder
	readers   []NodeAnswer     // Client.Status: the readers that the node lists, one each; nil: there are none
}

// Difference is a setting for which a node and this client have different values. A value is "" if the node or the
// client does not have the setting.
type Difference struct {
	Setting      string // such as "max-ttl"
	Node, Client string
}

// Lists are two lists of a node set's servers.
type Lists struct {
	Node, Client []Server
	Kept         time.Duration // time for which the node keeps a server that no client sees
}

// Server is one server of a list.
type Server struct {
	Addr string // without password
	ID   string // an id that the server stores with its data; "" if unknown
}

// Votes reports whether the node votes.
func (n NodeAnswer) Votes() bool { return n.Reason == ReasonVotes }

// Held reports whether the node stores the lock for an owner, or a claim of an owner.
func (n NodeAnswer) Held() bool { return n.Reason == ReasonHeld || n.Reason == ReasonOffered }

// Reachable reports whether the node answered.
func (n NodeAnswer) Reachable() bool {
	switch n.Reason {
	case ReasonUnanswered, ReasonRefused, ReasonTimedOut, ReasonDisconnected, ReasonUnreadable:
		return false
	case ReasonFailed:
		return n.Cause == CauseUnreplicated
	}
	return true
}

// LogValue returns the answer as attributes of a log record: node, reason and cause as codes, votes_in, and said, which
// has words for people.
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

// answer returns the public form of a node's answer. offset is the difference of the node's clock from the majority's,
// 0 if unknown.
func (c *Client) answer(i int, a nodescript.Answer, offset time.Duration) NodeAnswer {
	n := NodeAnswer{Node: c.fan.Addr(i), Reason: verdictReasons[a.Verdict], Offset: offset, Err: a.Err}
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

// verdictReasons has the reason of each verdict. For Failed, failed finds the reason in the error.
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

// late sets the reason of an answer OffClock. There are three cases: the node's clock is wrong, the call came late, or
// the client does not know the nodes' time.
func (n *NodeAnswer) late(a nodescript.Answer, window time.Duration) {
	switch {
	case a.Cause == nodescript.Inexact:
		n.unsettle(quorum.Unsettled{Off: a.Evidence.Off, Window: window})
	case n.Offset.Abs() < a.Took/2: // a call of a client with right stamps arrives about Took/2 late
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

// failed sets the reason for a node that could not be asked.
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
	case node.Refused(err):
		n.Reason = ReasonRefused
	case node.Timeout(err):
		n.Reason = ReasonTimedOut
	case node.Disconnected(err):
		n.Reason = ReasonDisconnected
	}
}

// answers returns the public form of the answers about a lock or a slot. record returns the key of the record that an
// answer is about. settling is the reason why no stamp could be drawn, or nil.
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

// about adds the key of a record to an answer that is about this key.
func (n NodeAnswer) about(record string) NodeAnswer {
	if n.Reason == ReasonCorrupt {
		n.Value = record
	}
	return n
}
