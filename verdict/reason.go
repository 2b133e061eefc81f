package verdict

// Reason is a node's answer as a code for programs. [Answer.Said] returns the answer in words for people.
type Reason uint8

// Reasons.
const (
	ReasonUnanswered Reason = iota // no answer came before the result of the call was clear

	// Answers to an attempt, a renewal or a release.
	ReasonGranted     // the lock is granted
	ReasonGrantedLate // the node granted the lock, but the answer came after the end of the lease
	ReasonExtended    // the lease is renewed
	ReasonRepaired    // the node did not have the lease, and has it now
	ReasonDone        // the node has done what the call asked for
	ReasonNotHeld     // the release found no lease
	ReasonHeld        // Owner has the lock
	ReasonOffered     // the lock is reserved for Owner, who has not taken it yet
	ReasonLost        // the lease is gone; Owner has the lock, if Owner is not empty
	ReasonStale       // the node has seen a later token
	ReasonFutureToken // the node has seen a token from the future; Seen is its time
	ReasonCorrupt     // the key Value, where the node keeps its record, contains something else
	ReasonYoungMemory // the node's memory is too young: it may have forgotten a value that was stored before

	// Answers to [holdfast.Client.Status] and [admin.Nodes].
	ReasonFree       // nobody has the lock
	ReasonFreeNoVote // the node stores no holder, but does not vote: it may have forgotten one
	ReasonVotes      // the node votes

	// Answers of a node that does not vote.
	ReasonOffClock      // the node's clock is off by Offset
	ReasonLate          // the call arrived too late; Took is its duration, if known
	ReasonUnsettled     // the client does not know the nodes' time well enough; Cause says why
	ReasonRestarting    // the node is being admitted again
	ReasonChallenged    // the node lost its memory while it was admitted
	ReasonQuarantined   // the node may have forgotten locks, and votes again after VotesIn; Cause says why
	ReasonMisconfigured // the node has other settings, or another list of nodes; Cause says which
	ReasonUnfit         // the node's server cannot keep locks; Cause says why
	ReasonDuplicate     // the node is the same server as the node Value
	ReasonVoidVoucher   // the node lost its memory, or its configuration changed, after the voucher was made
	ReasonUnwritable    // the server refuses writes, so the node grants nothing; Cause says why

	// No answer, or an unexpected one. Err says more.
	ReasonRefused      // nothing listens at the node's address
	ReasonTimedOut     // no answer in time; Took is the node timeout, if that was the limit
	ReasonDisconnected // the connection was lost
	ReasonServerError  // the server answered with an error; Cause is its code, such as "NOPERM"
	ReasonNoScripts    // the server knows no EVAL, because it is a Sentinel or a proxy
	ReasonUnreadable   // the answer does not have the form of Holdfast's answers
	ReasonFailed       // any other error
	reasons
)

var reasonCodes = [reasons]string{
	ReasonUnanswered: "unanswered",

	ReasonGranted: "granted", ReasonGrantedLate: "granted-late", ReasonExtended: "extended", ReasonRepaired: "repaired",
	ReasonDone: "done", ReasonNotHeld: "not-held", ReasonHeld: "held", ReasonOffered: "offered", ReasonLost: "lost",
	ReasonStale: "stale", ReasonFutureToken: "future-token", ReasonCorrupt: "corrupt", ReasonYoungMemory: "young-memory",

	ReasonFree: "free", ReasonFreeNoVote: "free-no-vote", ReasonVotes: "votes",

	ReasonOffClock: "off-clock", ReasonLate: "late", ReasonUnsettled: "unsettled", ReasonRestarting: "restarting",
	ReasonChallenged: "challenged", ReasonQuarantined: "quarantined", ReasonMisconfigured: "misconfigured",
	ReasonUnfit: "unfit", ReasonDuplicate: "duplicate", ReasonVoidVoucher: "void-voucher",
	ReasonUnwritable: "unwritable",

	ReasonRefused: "refused", ReasonTimedOut: "timed-out", ReasonDisconnected: "disconnected",
	ReasonServerError: "server-error", ReasonNoScripts: "no-scripts", ReasonUnreadable: "unreadable", ReasonFailed: "failed",
}

// String returns the code of r, such as "quarantined". A code never changes.
func (r Reason) String() string {
	if r < reasons {
		return reasonCodes[r]
	}
	return "unknown"
}

// Cause tells programs why the node gave its answer, as a code. If another client of the nodes is newer than this
// one, a node may answer with a code that is not among these constants. For [ReasonServerError] the cause is the code
// of the server's error, such as "NOPERM".
type Cause string

// Causes of [ReasonQuarantined].
const (
	CauseNew           Cause = "new"           // the node was never used, or lost its data
	CauseUnused        Cause = "unused"        // it has no memory, and has granted nothing since its start, which was long ago
	CauseRestarted     Cause = "restarted"     // it restarted, and the data that it loaded may be old
	CauseGuard         Cause = "guard"         // its guard key is gone or its admission is spoilt: keys were changed, or its clock jumped
	CauseEvicted       Cause = "evicted"       // it evicted keys
	CauseCopied        Cause = "copied"        // its data came from another server
	CausePromoted      Cause = "promoted"      // it was a replica, and took the place of its master
	CauseNamed         Cause = "named"         // Sentinel names it again: another server may have been the master in between
	CauseClockBack     Cause = "clock-back"    // its clock went back
	CauseBootClock     Cause = "boot-clock"    // it booted with a wrong clock
	CauseConfiguration Cause = "configuration" // an operator gave it another configuration
	CauseVouched       Cause = "vouched"       // an operator vouched for it
	CauseCame          Cause = "came"          // the hash slot of the name came from another shard lately, and the name has no record
	CauseSlots         Cause = "slots"         // so many hash slots of a shard of a Redis Cluster are: Value, such as "3 of 5461"
	CausePlace         Cause = "place"         // it is new or lost its data, and has no place among the members yet; nothing shortens that
)

// Causes of [ReasonUnfit].
const (
	CauseRole        Cause = "role"        // it is not a master, but has the role Value
	CauseCluster     Cause = "cluster"     // it is part of a Redis Cluster
	CausePolicy      Cause = "policy"      // it may evict keys; Value is its maxmemory-policy
	CauseEpoch       Cause = "epoch"       // it was named in a later failover than this client's Sentinels know; Value has both epochs
	CauseVersion     Cause = "version"     // its version, Value, keeps scripts over a restart
	CauseAppendfsync Cause = "appendfsync" // [holdfast.Config.Durable] is set, and its appendfsync is Value and not always
	CauseRewrite     Cause = "rewrite"     // [holdfast.Config.Durable] is set, and its no-appendfsync-on-rewrite is yes
	CauseSeveral     Cause = "several"     // its address leads to several servers, as behind a load balancer
)

// Causes of [ReasonUnwritable].
const (
	CauseMemory      Cause = "memory"       // its memory is full (maxmemory); it still renews and releases leases
	CauseSnapshot    Cause = "snapshot"     // its last snapshot failed, and stop-writes-on-bgsave-error is yes
	CauseAOF         Cause = "aof"          // it cannot write its AOF
	CauseMinReplicas Cause = "min-replicas" // it has fewer replicas than its min-replicas-to-write
)

// Causes of [ReasonMisconfigured].
const (
	CauseSettings Cause = "settings" // settings differ: Answer.Settings
	CauseStranger Cause = "stranger" // the node Value has another list of the node set: Answer.Members
	CauseCopy     Cause = "copy"     // it or the node Value is a copy of the other
)

// IsNew reports whether the node has no memory of locks and has granted nothing since its start: [CauseNew] or
// [CauseUnused]. Only about such a node can an operator know that no lock is alive on it.
func (c Cause) IsNew() bool { return c == CauseNew || c == CauseUnused }

// CauseUnreplicated is the cause of [ReasonFailed] if too few replicas have confirmed a grant: see package node,
// Replication. The node has the grant, but the client does not count it, and gives it back.
const CauseUnreplicated Cause = "unreplicated"

// CauseElsewhere is the cause of [ReasonLost], and of [ReasonFailed], if the node's address leads to another server
// now.
const CauseElsewhere Cause = "elsewhere"

// CauseFormer is the cause of [ReasonFailed] if a hash slot of a shard of a Redis Cluster came from another master, and a
// master that may be that one does not answer: see Answer.Err. When the cluster calls that master failed, the slot has a
// quarantine.
const CauseFormer Cause = "former"

// CauseTopology is the cause of [ReasonFailed] if no majority of the servers of a Redis Cluster says which server has which
// hash slots, or if it says that no server has any: see Answer.Err.
const CauseTopology Cause = "topology"

// CauseForced is the cause of [ReasonLost] if an operator ended the lease: see [admin.Unlock].
const CauseForced Cause = "forced"

// CauseType is the cause of [ReasonCorrupt] if a key of the name has another type, such as a hash.
const CauseType Cause = "type"

// Causes of [ReasonUnsettled].
const (
	CauseMinority Cause = "minority" // fewer than a majority of the clocks are known, or they differ by more than Window
	CauseFar      Cause = "far"      // a majority of the nodes takes too long to answer
	CauseInexact  Cause = "inexact"  // the client could not read the clocks exactly enough
	CauseUnread   Cause = "unread"   // the last reading of the clocks is too old
	CauseMoved    Cause = "moved"    // the clocks of a majority were set to another time
)
