// Package answers makes the public answers of package verdict from the answers of the nodes' scripts.
package answers

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/printable"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/verdict"
)

// Source is the nodes that answer.
type Source struct {
	Fan    *fanout.Fanout
	Window time.Duration // of the configuration
}

// Of makes the public answer from the answer a of node i. offset is the node's clock minus the clocks of the
// majority, or 0 if unknown.
func (s Source) Of(i int, a nodescript.Answer, offset time.Duration) verdict.Answer {
	n := verdict.Answer{Reason: verdictReasons[a.Verdict], Offset: offset, Err: a.Err}
	s.Name(&n, i)
	n.Cause, n.Value = causeOfAnswer(a)
	switch a.Verdict {
	case nodescript.Granted:
		if a.Cause == nodescript.TooLate {
			n.Reason, n.Cause = verdict.ReasonGrantedLate, ""
		}
	case nodescript.Held:
		n.Owner, n.Foreign, n.ExpiresIn = a.Owner, a.Foreign, a.Left
		if a.Left == nodescript.Forever {
			n.ExpiresIn = -1
		}
		if a.Claim {
			n.Reason = verdict.ReasonOffered
		}
		if a.Evidence != nil {
			n.Readers = a.Evidence.Readers
		}
	case nodescript.Lost:
		n.Owner, n.Foreign = a.Owner, a.Foreign
	case nodescript.Poisoned:
		n.Seen = time.UnixMicro(a.Seen)
	case nodescript.OffClock:
		late(&n, a, s.Window)
	case nodescript.Quarantined:
		n.VotesIn = a.Left
	case nodescript.Misconfigured:
		differs(&n, a, s.Fan.Set())
	case nodescript.Loaded:
		if e := a.Evidence; e == nil || e.Stored == nil || !e.Stored.Whole {
			n.Reason = verdict.ReasonYoungMemory
		}
	case nodescript.Failed:
		if s.Fail(&n, a.Err); a.Cause == nodescript.WrongType {
			n.Reason, n.Cause = verdict.ReasonCorrupt, verdict.CauseType
		} else if a.Cause == nodescript.Unreplicated {
			n.Cause = verdict.CauseUnreplicated
		}
	}
	return n
}

// Needed returns how many of these nodes must vote so that every name can be locked: a majority, or all shards of a Redis
// Cluster, because each shard has other names.
func Needed(nodes []verdict.Answer) int {
	if len(nodes) > 0 && nodes[0].Master != "" {
		return len(nodes)
	}
	return quorum.Majority(len(nodes))
}

// NoQuorum says that these nodes gave no quorum: "no quorum of 3 nodes". Each shard of a Redis Cluster decides alone.
func NoQuorum(nodes []verdict.Answer) string {
	switch {
	case len(nodes) == 1 && nodes[0].Master != "":
		return "no vote of the shard"
	case len(nodes) > 1 && nodes[0].Master != "":
		return fmt.Sprintf("no vote of each of %d shards", len(nodes))
	}
	return "no quorum of " + printable.Count(len(nodes), "node")
}

// Name sets the fields of an answer of node i that say which node it is.
func (s Source) Name(n *verdict.Answer, i int) {
	n.Node, n.Master, n.Met = s.Fan.Addr(i), s.Fan.Master(), s.Fan.Answered(i)
}

// Fail sets the reason from the error of a node that gave no usable answer. For a shard of a Redis Cluster it leaves the
// codes that say where a hash slot is.
func (s Source) Fail(n *verdict.Answer, err error) {
	if Fail(n, err); n.Cause == verdict.CauseCluster && s.Fan.Set().Sharded {
		n.Reason, n.Cause = verdict.ReasonServerError, verdict.Cause(node.Code(err))
	}
}

// verdictReasons maps each verdict to its public reason. The verdict Failed needs more: the method failed finds its
// reason in the error.
var verdictReasons = [...]verdict.Reason{
	nodescript.Unanswered: verdict.ReasonUnanswered, nodescript.Granted: verdict.ReasonGranted, nodescript.Extended: verdict.ReasonExtended,
	nodescript.Repaired: verdict.ReasonRepaired, nodescript.Loaded: verdict.ReasonDone, nodescript.Done: verdict.ReasonDone, nodescript.NotMine: verdict.ReasonNotHeld,
	nodescript.Held: verdict.ReasonHeld, nodescript.Stale: verdict.ReasonStale, nodescript.Poisoned: verdict.ReasonFutureToken,
	nodescript.OffClock: verdict.ReasonOffClock, nodescript.NotAdmitted: verdict.ReasonRestarting, nodescript.Lost: verdict.ReasonLost,
	nodescript.Challenged: verdict.ReasonChallenged, nodescript.Quarantined: verdict.ReasonQuarantined,
	nodescript.Misconfigured: verdict.ReasonMisconfigured, nodescript.Unfit: verdict.ReasonUnfit, nodescript.Duplicate: verdict.ReasonDuplicate,
	nodescript.Corrupt: verdict.ReasonCorrupt, nodescript.Failed: verdict.ReasonFailed,
}

func causeOfAnswer(a nodescript.Answer) (verdict.Cause, string) {
	if a.Cause == nodescript.UnknownCause {
		return verdict.Cause(a.Value()), ""
	}
	if a.Cause == nodescript.Idle {
		return verdict.CauseRestarted, "" // whether it was used since then concerns clients only
	}
	return verdict.Cause(a.Cause.String()), a.Value()
}

// late sets the reason of an answer OffClock. With this answer the node refused a stamp that is too far from its
// clock. There are three causes: the node's clock is wrong, the request arrived too late, or the client does not know
// the nodes' time.
func late(n *verdict.Answer, a nodescript.Answer, window time.Duration) {
	switch {
	case a.Cause == nodescript.Inexact:
		unsettle(n, quorum.Unsettled{Off: a.Evidence.Off, Window: window})
	case n.Offset.Abs() < a.Took/2: // a request with a right stamp reaches the node about Took/2 after that stamp
		n.Reason, n.Took = verdict.ReasonLate, a.Took
	case n.Offset.Abs() < 10*time.Millisecond:
		n.Reason = verdict.ReasonLate
	}
}

func unsettle(n *verdict.Answer, u quorum.Unsettled) {
	n.Reason, n.Err = verdict.ReasonUnsettled, u
	switch {
	case u.Took > 0:
		n.Cause, n.Took = verdict.CauseFar, u.Took
	case u.Off > 0:
		n.Cause = verdict.CauseInexact
	case u.Unread > 0:
		n.Cause = verdict.CauseUnread
	case u.Moved == 0:
		n.Cause = verdict.CauseMinority
	default:
		n.Cause = verdict.CauseMoved
	}
}

func differs(n *verdict.Answer, a nodescript.Answer, set nodescript.Config) {
	switch a.Cause {
	case nodescript.OtherSettings:
		n.Value = ""
		for _, d := range nodescript.Differences(a.Value(), set.String()) {
			n.Settings = append(n.Settings, verdict.Difference{Setting: d.Setting, Node: d.Theirs, Client: d.Ours})
		}
	case nodescript.Stranger:
		n.Members = &verdict.Members{Node: servers(a.Evidence.Theirs), Client: servers(a.Evidence.Ours), Kept: a.Evidence.Kept}
	}
}

func servers(peers []nodescript.Peer) []verdict.Server {
	list := make([]verdict.Server, len(peers))
	for i, p := range peers {
		list[i] = verdict.Server{Addr: p.Addr, ID: p.ID}
	}
	return list
}

// Fail sets the reason from the error of a node that gave no usable answer.
func Fail(n *verdict.Answer, err error) {
	var unsettled quorum.Unsettled
	var overdue fanout.Overdue
	var unreadable nodescript.Unreadable
	var foreign nodescript.BadRecord
	var unproved fanout.Unproved
	n.Reason, n.Cause, n.Err = verdict.ReasonFailed, "", err
	switch code := node.Code(err); {
	case errors.As(err, &unproved):
		n.Cause = verdict.CauseFormer
	case errors.Is(err, nodescript.ErrNoScripts):
		n.Reason = verdict.ReasonNoScripts
	case errors.Is(err, nodescript.ErrVoid):
		n.Reason = verdict.ReasonVoidVoucher
	case nodescript.RefusedWrite(err) != nodescript.NoCause:
		n.Reason, n.Cause = verdict.ReasonUnwritable, verdict.Cause(nodescript.RefusedWrite(err).String())
	case slices.Contains([]string{"MOVED", "ASK", "TRYAGAIN", "CROSSSLOT", "CLUSTERDOWN"}, code): // a look needs no admission
		n.Reason, n.Cause = verdict.ReasonUnfit, verdict.CauseCluster
	case code != "":
		n.Reason, n.Cause = verdict.ReasonServerError, verdict.Cause(code)
	case errors.As(err, &unsettled):
		unsettle(n, unsettled)
	case errors.As(err, &foreign):
		n.Reason = verdict.ReasonCorrupt
	case errors.As(err, &unreadable):
		n.Reason = verdict.ReasonUnreadable
	case errors.As(err, &overdue):
		n.Reason, n.Took = verdict.ReasonTimedOut, overdue.Timeout
	case errors.Is(err, node.ErrElsewhere):
		n.Cause = verdict.CauseElsewhere
	case node.Refused(err):
		n.Reason = verdict.ReasonRefused
	case node.Timeout(err):
		n.Reason = verdict.ReasonTimedOut
	case node.Disconnected(err):
		n.Reason = verdict.ReasonDisconnected
	}
}

// All makes the public answers about a lock or a slot. record returns the key of the record that an answer
// concerns. settling is an error if the client could not make a stamp, else nil; it becomes the answer of all nodes
// that were not asked.
func (s Source) All(record func(nodescript.Answer) string, answers []nodescript.Answer, settling error) []verdict.Answer {
	nodes := make([]verdict.Answer, len(answers))
	for i, a := range answers {
		offset, known := s.Fan.Offset(i)
		n := s.Of(i, a, offset)
		n.OffsetKnown = known
		if settling != nil && a.Verdict == nodescript.Unanswered {
			if s.Fail(&n, settling); offset.Abs() > s.Window {
				n.Reason, n.Cause = verdict.ReasonOffClock, ""
			}
		}
		nodes[i] = About(n, record(a))
	}
	return nodes
}

// About stores the key of the record in an answer that says that this key is corrupt.
func About(n verdict.Answer, record string) verdict.Answer {
	if n.Reason == verdict.ReasonCorrupt {
		n.Value = record
	}
	return n
}

// View makes the public answer from the data that a node stores about a lock.
func View(v nodescript.View) verdict.Answer {
	switch {
	case v.Live() && (v.Kind == '-' || v.Plain == v.Record.Owner):
		n := verdict.Answer{Reason: verdict.ReasonHeld, Owner: v.Record.Owner, Fence: v.Record.Token, Until: time.UnixMicro(v.Record.Expiry)}
		if n.Fence == 0 {
			n.Reason = verdict.ReasonOffered
		}
		return n
	case v.Foreign() && (v.Live() || v.Record.Owner == "" || v.Plain != v.Record.Owner):
		n := verdict.Answer{Reason: verdict.ReasonHeld, Foreign: true, Owner: v.Plain}
		if v.Left != nodescript.Forever {
			n.Until = time.UnixMicro(v.Time).Add(v.Left)
		}
		return n
	case len(v.Readers.List) > 0:
		return readersOf(v.Readers)
	}
	if !v.Votes {
		return verdict.Answer{Reason: verdict.ReasonFreeNoVote}
	}
	return verdict.Answer{Reason: verdict.ReasonFree}
}

// readersOf makes the public answer of a node that stores readers. In the list, claims come after leases. If there
// are only claims, the lock is not held yet but offered to their owners.
func readersOf(r nodescript.Readers) verdict.Answer {
	var all []verdict.Answer
	for _, one := range r.List {
		n := verdict.Answer{Reason: verdict.ReasonHeld, Owner: one.Owner, Fence: one.Token, Until: time.UnixMicro(one.Expiry)}
		if n.Fence == 0 {
			n.Reason = verdict.ReasonOffered
		}
		all = append(all, n)
	}
	first := all[0]
	first.Listed = all
	if first.Fence != 0 {
		first.Readers = r.Count - len(slices.DeleteFunc(slices.Clone(all), func(n verdict.Answer) bool { return n.Fence != 0 }))
	}
	for _, n := range all {
		if n.Until.After(first.Until) {
			first.Until = n.Until
		}
	}
	return first
}

// Vote returns the answer of a node about its vote.
func Vote(n verdict.Answer) verdict.Answer {
	if n.Reason == verdict.ReasonDone {
		n.Reason = verdict.ReasonVotes
	}
	return n
}

// Standings makes the public answers about the votes of all nodes.
func (s Source) Standings(said []nodescript.Answer) []verdict.Answer {
	out := make([]verdict.Answer, len(said))
	for i, a := range said {
		offset, known := s.Fan.Offset(i)
		n := Vote(s.Of(i, a, offset))
		n.OffsetKnown = known
		n.RunID, n.Version = s.Fan.Incarnation(i)
		n.Loss = s.Fan.Loss(i)
		out[i] = n
	}
	return out
}
