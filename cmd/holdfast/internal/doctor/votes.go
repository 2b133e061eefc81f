package doctor

import (
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/verdict"
)

// Bar says why this client has no vote of a node, although others may have it.
type Bar uint8

// These are the bars.
const (
	NoBar       Bar = iota
	UserBar         // the server refuses the user, so nobody told this client whether the node votes
	SettingsBar     // the node refuses the settings or the list of this client
)

// BarOf returns the bar in the answer of a node.
func BarOf(n verdict.Answer) Bar {
	switch {
	case n.Reason == verdict.ReasonServerError && slices.Contains([]verdict.Cause{node.NoPerm, node.NoAuth, node.WrongPass}, n.Cause):
		return UserBar
	case n.Reason == verdict.ReasonMisconfigured && n.Cause != verdict.CauseCopy: // a copy harms all clients
		return SettingsBar
	}
	return NoBar
}

// votes examines whether the nodes vote, and how many more may fail.
func (e *exam) votes(answers []verdict.Answer) {
	voting, lost := 0, 0
	bars, unused := map[Bar]int{}, 0
	for _, n := range answers {
		if neverUsed(n) {
			e.unused(n)
			unused++
			continue
		}
		bar := BarOf(n)
		bars[bar]++
		e.belongs(n)
		e.vote(n, bar, slices.ContainsFunc(answers, keptData))
		switch {
		case n.Votes():
			voting++
		case bar == NoBar:
			lost++
		}
	}
	e.bears(len(answers), lost, bars[UserBar]+bars[SettingsBar]+unused)
	need := len(answers)/2 + 1
	switch {
	case voting >= need:
	case voting+unused >= need:
		e.find("votes", "", Warn, fmt.Sprintf("%d of %d nodes vote, and %d were never used; a lock needs %d", voting, len(answers), unused, need),
			"see the findings about these nodes")
	case voting+bars[UserBar] >= need:
		e.find("votes", "", Note, "not known whether clients get locks: the user of this command cannot ask the nodes", "see the findings about each node")
	case len(answers)-lost >= need:
		e.find("votes", "", Bad, fmt.Sprintf("%d of %d nodes vote for this command; a lock needs %d. Clients with the settings of the nodes may get locks", voting, len(answers), need),
			"see the checks members, protocol and settings")
	case len(answers) == 1:
		e.find("votes", "", Bad, "the only node does not vote, so nobody gets a lock", "see the finding about the node")
	default:
		e.find("votes", "", Bad, fmt.Sprintf("%d of %d nodes vote; a lock needs %d, so nobody gets a lock", voting, len(answers), need),
			"make more nodes vote; the findings about each node say how")
	}
}

// onItsWay reports whether a shard of a Redis Cluster did not answer because the hash slot is being moved or has moved.
func onItsWay(n verdict.Answer) bool {
	return n.Reason == verdict.ReasonServerError && slices.Contains([]verdict.Cause{node.Moved, node.Ask, node.TryAgain}, n.Cause)
}

// keptData reports whether a node answered and is not known to be new.
func keptData(n verdict.Answer) bool {
	return n.Reachable() && BarOf(n) == NoBar && !n.Cause.IsNew() && n.Cause != verdict.CausePlace
}

// belongs examines whether a node and this client belong to one node set. A node that did not say whether it votes does
// not say that either.
func (e *exam) belongs(n verdict.Answer) {
	if !n.Reachable() || BarOf(n) == UserBar {
		return
	}
	members, settings, protocol := OK, OK, OK
	switch {
	case n.Reason == verdict.ReasonDuplicate, n.Reason == verdict.ReasonMisconfigured && (n.Cause == verdict.CauseStranger || n.Cause == verdict.CauseCopy):
		members = Bad
	case n.Reason == verdict.ReasonMisconfigured && slices.ContainsFunc(n.Settings, func(d verdict.Difference) bool { return d.Setting == "protocol" }):
		protocol = Bad
	case n.Reason == verdict.ReasonMisconfigured:
		settings = Bad
	}
	said := n.Said()
	e.judged("members", n.Node, members, said, "a server of its own", membersFix(n))
	e.judged("protocol", n.Node, protocol, said, "the version of this program", "use one version of Holdfast for all clients: see docs/guide/operating.md, another protocol")
	e.judged("settings", n.Node, settings, said, "the settings of this command", settingsFix(n))
}

// vote examines whether a node votes. kept says that some nodes kept their data.
func (e *exam) vote(n verdict.Answer, bar Bar, kept bool) {
	switch said := n.Said(); {
	case n.Votes():
		e.find("votes", n.Node, OK, "votes", "")
	case bar == UserBar && n.Cause == node.NoPerm:
		e.find("votes", n.Node, Note, "not known: "+said, "give the user the rights of: holdfast acl --role operator")
	case bar == UserBar:
		e.find("votes", n.Node, Note, "not known: "+said, "see the check answer")
	case bar == SettingsBar:
		e.find("votes", n.Node, Note, "not known: it refuses the settings or the list of this command", "see the checks members, protocol and settings")
	case n.VotesIn > 0:
		fix := fmt.Sprintf("wait %s", (n.VotesIn + time.Second - 1).Truncate(time.Second)) // the state names tenths, so never less
		switch {
		case n.Cause == verdict.CausePlace || n.Cause == verdict.CauseVouched:
		case e.Cluster != nil:
			fix += "; nothing shortens this"
		case n.Cause.IsNew() && kept:
			fix += ", and some seconds more for its place among the nodes that kept their data; nothing shortens this"
		default:
			fix += "; only if no lock can be alive on these nodes: holdfast nodes trust"
		}
		e.find("votes", n.Node, Warn, said, fix)
	case n.Reason == verdict.ReasonUnsettled && n.Cause == verdict.CauseMinority:
		e.find("votes", n.Node, Note, "has no vote yet: "+said, "nothing is wrong with this node: mend the others")
	case onItsWay(n):
		e.find("votes", n.Node, Note, "not known: the hash slot that this command asked for is being moved, or has moved ("+string(n.Cause)+")",
			"look again: holdfast doctor --only votes,moves")
	case n.Reason == verdict.ReasonServerError && n.Cause == node.ClusterDown:
		e.find("votes", n.Node, Bad, "does not vote: "+said, "see the check cluster")
	case !n.Reachable():
		e.find("votes", n.Node, Bad, "does not vote: "+said, "see the check answer")
	case n.Cause == verdict.CauseSeveral || n.Reason == verdict.ReasonFailed && n.Cause == verdict.CauseElsewhere:
		e.find("votes", n.Node, Bad, "does not vote: "+said, "see the check address")
	case n.Reason == verdict.ReasonUnwritable && n.Cause == verdict.CauseMemory:
		e.find("votes", n.Node, Bad, "does not vote: "+said, "see the check memory")
	default:
		e.find("votes", n.Node, Bad, "does not vote: "+said, "mend what the other checks say about this node; then: holdfast nodes")
	}
}

// bears examines how many of n nodes may fail. lost nodes do not vote, and of some it is not known.
func (e *exam) bears(n, lost, unknown int) {
	severity, state, fix := OK, fmt.Sprintf("%d nodes bear the loss of %d", n, (n-1)/2), ""
	switch {
	case n == 1:
		severity, state, fix = Note, "one node: if it fails, nobody gets a lock", "use three nodes on machines that fail independently"
	case n%2 == 0:
		severity, fix = Warn, "add a node, or take one out: all clients must change together (docs/guide/operating.md)"
		state += ", and one node less would bear the same"
	}
	switch spare := (n-1)/2 - lost; {
	case n == 1:
	case lost > 0 && spare < 0:
		severity, state = Bad, fmt.Sprintf("%s; %d without a vote now", state, lost)
	case lost > 0:
		severity, state = max(severity, Warn), fmt.Sprintf("%s; %d without a vote now, so %d more may fail", state, lost, spare)
	case unknown > 0:
		severity, state = max(severity, Note), state+fmt.Sprintf(" if all of them vote; that is not known of %d", unknown)
	}
	switch {
	case severity > OK && fix == "" && lost == 0:
		fix = "see the findings of the check votes"
	case severity > OK && fix == "":
		fix = "mend the nodes that do not vote"
	}
	e.find("count", "", severity, state, fix)
}
