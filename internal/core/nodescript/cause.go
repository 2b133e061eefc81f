package nodescript

import (
	"strings"

	"github.com/holdfast-go/holdfast/node"
)

// Cause is the code that says why a node gave its answer. The verdict is the answer itself.
type Cause uint8

// These are the causes. The scripts answer the first two groups with the codes in causeCodes. Clients find the others.
const (
	NoCause      Cause = iota
	UnknownCause       // the node is newer than this client and answered an unknown code: Evidence.Value

	MemoryNew     // Quarantined: the node was never used, or its data are gone
	Restarted     // Quarantined: it restarted, and its data may be old
	GuardGone     // Quarantined: its guard is gone, and with it perhaps locks
	KeysEvicted   // Quarantined: it evicted keys
	DataCopied    // Quarantined: its data came from another server
	ClockWentBack // Quarantined: its clock went back
	ClockAtBoot   // Quarantined: it booted with a wrong clock
	Reconfigured  // Quarantined: it has another configuration than before
	Vouched       // Quarantined: an operator vouched for it, so the time is short

	RoleNotMaster // Unfit: its role is Evidence.Value
	ClusterMode   // Unfit: it runs in Redis Cluster mode
	MayEvict      // Unfit: its maxmemory-policy is Evidence.Value

	PlaceTaken // Quarantined: the server is new to the set, and waits until the place of a missing server is free

	VersionTooOld // Unfit: its version is Evidence.Value; that version keeps scripts over a restart
	SyncNotAlways // Unfit: its appendfsync is Evidence.Value, and the set is declared durable
	NoSyncRewrite // Unfit: its no-appendfsync-on-rewrite is yes, and the set is declared durable

	OtherSettings // Misconfigured: its configuration is Evidence.Value
	Stranger      // Misconfigured: the server is not among the members of the node Evidence.Value
	DataTwice     // Misconfigured: this server and the node Evidence.Value have the same id, so one is a copy of the other

	TooLate // Granted: the lease had ended when a majority had granted
	Inexact // OffClock: the client's stamps may be off by Evidence.Off

	WrongType // Failed: a key of the name is of another type
	Forced    // Lost, NotMine: an operator has ended the lease

	Promoted     // Quarantined: it was a replica, and took the place of its master
	Unreplicated // Failed: too few replicas have confirmed the grant

	Several    // Unfit: its address leads to several servers
	Elsewhere  // Lost: its address leads to another server now
	NamedAgain // Quarantined: Sentinel names it under another epoch than before
	OldEpoch   // Unfit: the epoch under which the client's Sentinels name it, and the later one that it noted, are Evidence.Value

	// Failed, and Done from admit: the server refuses writes, so it grants nothing. See Answer.Unwritable.
	MemoryFull     // its memory is full; it still renews and releases
	SnapshotFailed // its last snapshot failed, and stop-writes-on-bgsave-error is yes
	LogFailed      // it cannot write its AOF
	FewReplicas    // it has fewer replicas than min-replicas-to-write

	Unused // Quarantined: it has no memory, and has granted nothing since its start, which was longer than a quarantine ago
	Idle   // Quarantined: the same of a node that restarted with its data

	SomeSlots // Quarantined: Evidence.Value hash slots of a shard are
	SlotCame  // Quarantined: the hash slot came from another shard lately, and the name has no record
	causes
)

// causeCodes contains the code of each cause. Scripts answer these codes, and programs read them. The meaning of a
// code never changes.
var causeCodes = [causes]string{
	NoCause: "", UnknownCause: "unknown",

	MemoryNew: "new", Restarted: "restarted", GuardGone: "guard", KeysEvicted: "evicted", DataCopied: "copied",
	ClockWentBack: "clock-back", ClockAtBoot: "boot-clock", Reconfigured: "configuration", Vouched: "vouched",

	RoleNotMaster: "role", ClusterMode: "cluster", MayEvict: "policy",

	PlaceTaken: "place",

	VersionTooOld: "version", SyncNotAlways: "appendfsync", NoSyncRewrite: "rewrite",

	OtherSettings: "settings", Stranger: "stranger", DataTwice: "copy",

	TooLate: "too-late", Inexact: "inexact",

	WrongType: "type", Forced: "forced",

	Promoted: "promoted", Unreplicated: "unreplicated",

	Several: "several", Elsewhere: "elsewhere",
	NamedAgain: "named", OldEpoch: "epoch",
	MemoryFull: "memory", SnapshotFailed: "snapshot", LogFailed: "aof", FewReplicas: "min-replicas",
	Unused: "unused", Idle: "idle",
	SomeSlots: "slots", SlotCame: "came",
}

// String returns the code of c.
func (c Cause) String() string {
	if c < causes {
		return causeCodes[c]
	}
	return causeCodes[UnknownCause]
}

// ofQuarantine and ofUnfit contain the causes that scripts answer.
var (
	ofQuarantine = []Cause{
		MemoryNew, Restarted, GuardGone, KeysEvicted, DataCopied, ClockWentBack, ClockAtBoot, Reconfigured, Vouched, Promoted,
		NamedAgain, Unused, Idle,
	}
	ofUnfit = []Cause{RoleNotMaster, ClusterMode, MayEvict, OldEpoch}
)

// These constants limit the texts that a node may put into an answer.
const (
	mostOfValue  = 200
	mostOfConfig = 1000
)

// parseCause returns the cause in known that has this code. For any other code it returns UnknownCause, with the code
// as evidence.
func parseCause(code string, known []Cause) (Cause, *Evidence) {
	if code == "" {
		return NoCause, nil
	}
	for _, c := range known {
		if causeCodes[c] == code {
			return c, nil
		}
	}
	return UnknownCause, &Evidence{Value: code[:min(len(code), mostOfValue)]}
}

// parseUnfit reads the cause of an answer Unfit. The answer has a code and, after a blank, the value on the server.
func parseUnfit(text string) (Cause, *Evidence) {
	code, value, valued := strings.Cut(text, " ")
	c, e := parseCause(code, ofUnfit)
	if e == nil && valued {
		e = &Evidence{Value: value[:min(len(value), mostOfValue)]}
	}
	return c, e
}

// RefusedWrite returns the cause if err is the error of a server that refuses writes, else NoCause.
func RefusedWrite(err error) Cause {
	switch node.Code(err) {
	case node.OOM:
		return MemoryFull
	case node.NoReplicas:
		return FewReplicas
	case node.MisConf:
		if strings.Contains(err.Error(), "AOF") {
			return LogFailed
		}
		return SnapshotFailed
	}
	return NoCause
}

// Unwritable reports whether the answer says that the server refuses writes.
func (a Answer) Unwritable() bool { return a.Cause >= MemoryFull && a.Cause <= FewReplicas }
