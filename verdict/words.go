package verdict

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/printable"
	"github.com/holdfast-go/holdfast/node"
)

// This file translates the codes of [Answer] into words for people. Programs must read the codes and not these
// words.

// Said returns the answer in a few words: "granted", "held by web-3/4711 for up to 8s", "connection refused",
// "quarantined for another 7s: it restarted", "clock off by +3.2s", "configuration differs: …". The text is one line
// without control characters, even if the node's own text has some.
func (n Answer) Said() string { return printable.Text(n.said()) }

// String returns the node's place and its answer in words, in one line.
func (n Answer) String() string { return n.Place() + ": " + n.Said() }

// Place returns the node's address. For a shard of a Redis Cluster it also returns that of the present master.
func (n Answer) Place() string {
	if n.Master == "" {
		return n.Node
	}
	return n.Node + " (" + n.Master + ")"
}

// Why returns the cause in words, such as "its memory is new". It returns "" if the answer has no cause.
func (n Answer) Why() string { return printable.Text(n.why()) }

func (n Answer) said() string {
	if n.wholeCluster() && n.Err != nil {
		return n.Err.Error() // it names the server that its cause is about, and how many servers answered
	}
	switch n.Reason {
	case ReasonHeld:
		if n.Readers > 0 {
			return "held shared " + byWhom(n.Owner, false) + printable.Others(n.Readers-1) + n.forHowLong()
		}
		return "held " + byWhom(n.Owner, n.Foreign) + n.forHowLong()
	case ReasonOffered:
		return "held for " + nodescript.Label(n.Owner) + n.forHowLong()
	case ReasonLost:
		if n.Cause == CauseForced {
			s := causeWords[CauseForced]
			if n.Owner != "" {
				s += ", now held " + byWhom(n.Owner, false)
			}
			return s
		}
		if n.Cause == CauseElsewhere {
			return causeWords[CauseElsewhere]
		}
		if n.Owner == "" && !n.Foreign {
			return "does not have the lease"
		}
		return "taken " + byWhom(n.Owner, n.Foreign)
	case ReasonFutureToken:
		return fmt.Sprintf("has seen a token from the future (%s)", n.Seen.UTC().Format(time.RFC3339))
	case ReasonOffClock:
		s := fmt.Sprintf("clock off by %+.1fs", n.Offset.Seconds())
		if n.Err != nil {
			s += "; " + n.Err.Error()
		}
		return s
	case ReasonLate:
		if n.Took > 0 {
			return "the call arrived too late: it was answered after " + printable.Duration(n.Took)
		}
	case ReasonUnsettled:
		if n.Err != nil {
			return n.Err.Error()
		}
		if why := n.why(); why != "" {
			return why
		}
	case ReasonQuarantined:
		s := "quarantined for another " + printable.Duration(n.VotesIn)
		if why := n.why(); why != "" {
			s += ": " + why
		}
		return s
	case ReasonMisconfigured:
		if why := n.why(); why != "" {
			return "configuration differs: " + why
		}
	case ReasonUnfit, ReasonUnwritable:
		if why := n.why(); why != "" {
			return why
		}
	case ReasonCorrupt:
		if n.Value != "" {
			return "the key " + n.Value + " does not hold a record of Holdfast; stop the users of this name, then delete the key on this node"
		}
	case ReasonDuplicate:
		return "is the same server as " + n.Value + "; each node needs a server of its own"
	case ReasonTimedOut:
		if n.Took > 0 {
			return "timed out: no answer within the node timeout, " + n.Took.String()
		}
	case ReasonServerError:
		if words := n.slot(); words != "" {
			return words
		}
		if n.Err != nil {
			return node.Reason(n.Err)
		}
	case ReasonNoScripts, ReasonUnreadable, ReasonVoidVoucher, ReasonFailed:
		switch {
		case n.Cause == CauseElsewhere:
			return causeWords[CauseElsewhere]
		case n.Cause == CauseTopology && n.Err != nil:
			return printable.Text(n.Err.Error())
		case n.Err != nil:
			return node.Reason(n.Err)
		}
	}
	if n.Reason < reasons {
		return reasonWords[n.Reason]
	}
	return fmt.Sprintf("unknown reason %d", n.Reason)
}

// wholeCluster reports whether the node is a Redis Cluster and none of its shards.
func (n Answer) wholeCluster() bool {
	_, servers, is := strings.Cut(n.Node, "+cluster://")
	return is && !strings.Contains(servers, "/")
}

// slot returns the answer of a server of a Redis Cluster that cannot do a call because of its hash slot, in words. It
// returns "" for other answers.
func (n Answer) slot() string {
	switch n.Cause {
	case node.Moved:
		return "the hash slot of the name has moved to another shard (MOVED)"
	case node.Ask, node.TryAgain:
		return "the hash slot of the name is being moved to another shard (" + string(n.Cause) + ")"
	case node.ClusterDown:
		if n.Err != nil && (strings.Contains(n.Err.Error(), "not served") || strings.Contains(n.Err.Error(), "names an owner")) {
			return "no shard has the hash slot of the name now (CLUSTERDOWN)"
		}
		return "the cluster is down (CLUSTERDOWN): a shard has failed, or this server cannot reach most of the masters"
	}
	return ""
}

// reasonWords has the words for each reason. said uses them if the answer has no details.
var reasonWords = [reasons]string{
	ReasonUnanswered: "had not answered when the call ended",

	ReasonGranted: "granted", ReasonGrantedLate: "granted, but too late", ReasonExtended: "extended",
	ReasonRepaired: "had forgotten the lease", ReasonDone: "done", ReasonNotHeld: "does not have the lease",
	ReasonHeld: "held", ReasonOffered: "offered to the first in line", ReasonLost: "does not have the lease",
	ReasonStale: "has seen a later token", ReasonFutureToken: "has seen a token from the future",
	ReasonCorrupt:     "the key of the name's record does not hold a record of Holdfast",
	ReasonYoungMemory: "its memory is younger than 30 days, and it has no value written since: it may have forgotten one",

	ReasonFree: "free", ReasonFreeNoVote: "free (does not vote: it may have forgotten)", ReasonVotes: "votes",

	ReasonOffClock: "clock off", ReasonLate: "the call arrived too late", ReasonUnsettled: "the nodes' time is not known",
	ReasonRestarting: "is being admitted again: it restarted, or another server took its place", ReasonChallenged: "lost its memory again while it was admitted",
	ReasonQuarantined: "quarantined", ReasonMisconfigured: "configuration differs", ReasonUnfit: "cannot keep locks",
	ReasonDuplicate: "is the same server as another node", ReasonVoidVoucher: "the voucher is void",

	ReasonRefused: "connection refused", ReasonTimedOut: "timed out", ReasonDisconnected: "connection lost",
	ReasonServerError: "the server answered with an error", ReasonNoScripts: "it knows no EVAL",
	ReasonUnwritable: "the server refuses writes",
	ReasonUnreadable: "its answer is unreadable; is this Redis or Valkey?", ReasonFailed: "failed",
}

func (n Answer) why() string {
	switch n.Cause {
	case "":
		return ""
	case CauseRole:
		if n.Value == "" {
			return "its INFO does not contain its role; the service must not hide the section replication of INFO"
		}
		role := n.Value
		if role == "slave" {
			role = "replica"
		}
		return "it is a " + role + "; a node must be a master"
	case CausePolicy:
		return "maxmemory-policy is " + n.Value + ", which may delete locks; set it to noeviction"
	case CauseEpoch:
		return "the Sentinels of this client name it under an epoch that is older than the one it has noted (" + n.Value + "); it votes when they have named it for 10s"
	case CauseSlots:
		return n.Value + " hash slots may have forgotten locks"
	case CauseVersion:
		return "it is " + n.Value + ", which keeps scripts over a restart; Redis 7.0 or later, or Valkey, is needed"
	case CauseAppendfsync:
		return "appendfsync is " + n.Value + ", which may lose the last second, and the node set is declared durable; set it to always"
	case CauseSettings:
		return n.settings()
	case CauseStranger:
		return n.lists()
	case CauseCopy:
		return fmt.Sprintf("one of it and %s is a copy of the other; delete the key %s on one of them", n.Value, nodescript.AdmissionKey)
	}
	switch words, known := causeWords[n.Cause]; {
	case known:
		return words
	case n.Reason == ReasonServerError:
		return string(n.Cause)
	}
	code := string(n.Cause)
	if strings.ContainsFunc(code, notInCode) {
		code = strconv.Quote(code)
	}
	return "unknown reason " + code + "; another client of this node set is newer than this one"
}

func notInCode(r rune) bool { return r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') }

// causeWords has the words for each cause whose text does not contain a value.
var causeWords = map[Cause]string{
	CauseNew: "its memory is new", CauseUnused: "it was not used since its start", CauseRestarted: "it restarted", CauseGuard: "its guard vanished",
	CauseEvicted: "it evicted keys", CauseCopied: "its data came from another server",
	CausePromoted:  "it was a replica, and was promoted",
	CauseNamed:     "Sentinel names it again, and another server may have been the master in between",
	CauseClockBack: "its clock went back", CauseBootClock: "it booted with a wrong clock",
	CauseConfiguration: "its configuration changed", CauseVouched: "an operator vouched for it",
	CausePlace: "it is new or lost its data, and its place is free only then; nothing shortens this",

	CauseCluster: "it runs in Redis Cluster mode, and its URL is that of a single server; use redis+cluster:// and list some servers of the cluster",
	CauseRewrite: "no-appendfsync-on-rewrite is yes, which may lose what is written during a rewrite, and the node set is declared durable; set it to no",

	CauseMinority: "fewer than a majority of the clocks are known", CauseFar: "the nodes take too long to answer",
	CauseInexact: "the nodes' clocks are known too badly", CauseUnread: "the nodes' clocks were not read for too long",
	CauseMoved: "the clocks of a majority moved",

	CauseMemory:      "its memory is full (OOM): it grants nothing; renewals and releases still work",
	CauseSnapshot:    "its last snapshot failed (MISCONF), so it refuses all writes",
	CauseAOF:         "it cannot write its AOF (MISCONF), so it refuses all writes",
	CauseMinReplicas: "it has too few replicas (NOREPLICAS), so it refuses all writes",

	CauseType: "a key of the name is of another type", CauseForced: "an operator took it away",
	CauseCame:         "the hash slot of the name came from another shard lately, and a lock of the name may have been lost on the way",
	CauseUnreplicated: "too few replicas have confirmed the grant",
	CauseSeveral:      "its address leads to several servers in turns",
	CauseElsewhere:    "its address leads to another server now",
}

func (n Answer) settings() string {
	var theirs, ours []string
	for _, d := range n.Settings {
		if d.Node != "" {
			theirs = append(theirs, d.Setting+"="+d.Node)
		}
		if d.Client != "" {
			ours = append(ours, d.Setting+"="+d.Client)
		}
	}
	if len(theirs) == 0 {
		theirs = []string{"none of these settings"}
	}
	s := "the node has " + strings.Join(theirs, " ") + ", this client " + strings.Join(ours, " ")
	switch {
	case len(n.Settings) != 1 || n.Settings[0].Setting != "cluster":
	case n.Master != "":
		s += " (without a name, it is " + redisCluster + ")"
	default:
		s += " (without a name, it is a hash of the URLs)"
	}
	return s
}

func (n Answer) lists() string {
	if n.Members == nil {
		return n.Value + " has another list of this node set"
	}
	words := func(list []Server) (all []string) {
		for _, s := range list {
			if s.ID != "" {
				s.Addr += " (id " + s.ID[:min(len(s.ID), 8)] + "…)"
			}
			all = append(all, s.Addr)
		}
		return all
	}
	theirs := words(n.Members.Node)
	slices.Sort(theirs)
	return fmt.Sprintf("%s knows this node set as %s, which clients saw alive within %s; this client's list is %s; stop the old server, or give all clients the same list",
		n.Value, strings.Join(theirs, ", "), printable.Duration(n.Members.Kept), strings.Join(words(n.Members.Client), ", "))
}

func byWhom(owner string, foreign bool) string {
	switch {
	case foreign && owner == "":
		return "by " + noText
	case foreign:
		return fmt.Sprintf("by a foreign key (%q)", owner)
	}
	return "by " + nodescript.Label(owner)
}

// forHowLong returns the time until the lock ends, in words. It returns "" for an answer that has its end in Until.
func (n Answer) forHowLong() string {
	switch {
	case n.ExpiresIn < 0:
		return " without expiry"
	case n.ExpiresIn == 0:
		return ""
	}
	return " for up to " + printable.Duration(n.ExpiresIn)
}
