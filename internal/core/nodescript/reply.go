package nodescript

import (
	"fmt"
	"math"
	"time"

	"github.com/holdfast-go/holdfast/node"
)

// Verdict is the kind of a node's answer.
type Verdict uint8

// These are the verdicts. In the first group after Unanswered, the node did what was asked.
const (
	Unanswered Verdict = iota // no answer yet

	Granted  // acquire: the caller's owner is stored
	Extended // extend: the expiry moved; with Time if the stamp is older than a window
	Repaired // extend: the node did not have the lease, and has stored it now
	Done     // release, leave, refresh, store: done
	NotMine  // release: another owner or none was stored; the tombstone is set. Cause, Foreign and Owner as for Lost
	Loaded   // load: the value is in Evidence.Stored

	Held        // another owner has the name
	Stale       // the token must be higher than Seen
	Poisoned    // the same as Stale, and Seen is so far ahead of the node's clock that the client cannot follow it
	OffClock    // the stamp differs from the node's clock by more than W
	NotAdmitted // the node does not vote
	Lost        // extend, leave, load, store: another owner has the name, or the node saw a later lease

	Challenged    // admit: ask again, with Names and a new stamp
	Arrived       // admit: the hash slot came from the server whose run id is Names. Left: the sum of earlier differences of clocks
	Quarantined   // the node may have forgotten locks: it votes again after Left
	Misconfigured // the node votes under another configuration, or has other members: see Cause
	Unfit         // the server cannot keep locks: see Cause
	Duplicate     // the same server is in the list under another address: Evidence.Value
	Corrupt       // a key of Holdfast has a value that Holdfast never wrote
	Failed        // the call failed: Err
)

// Forever is the remaining time of a foreign key that does not expire.
const Forever = time.Duration(math.MaxInt64)

// Answer is one node's answer to one call.
type Answer struct {
	Verdict Verdict
	Cause   Cause         // the reason, if the verdict can have several reasons
	Claim   bool          // Held: the name is reserved for a waiter, and nobody has a lease
	Foreign bool          // Held, Lost, NotMine: the holder is foreign
	Waiting bool          // Granted: somebody waits in the queue
	Rank    int           // Held: the number of waiters before the caller; -1 if the caller is not in the queue
	Offered bool          // Held, for a slot: the node offers the caller Slot instead
	Full    bool          // Held, for a slot: the node has no slot for the caller
	Slot    int           // Held with Offered: the slot that is offered; in other answers for a slot: the slot that was asked for
	Owner   string        // Held, Lost, NotMine: the present owner
	Left    time.Duration // Held: the remaining time of the lease; Quarantined: of the quarantine
	Seen    int64         // Stale, Poisoned: the highest token that the node has seen
	Time    int64         // the node's clock, if the answer contains it
	Took    time.Duration // OffClock: the time from the call to the answer; 0: not measured
	Names   string        // Challenged, Quarantined, Misconfigured: the challenge or mark that a voucher must name
	Err     error         // Failed: the error

	Evidence *Evidence // the values that belong to Cause, and more: see Evidence; often nil
}

// MayHaveRun reports whether the call failed in such a way that the node may have run it: the answer was lost or
// unreadable.
func (a Answer) MayHaveRun() bool { return a.Verdict == Failed && !node.Unsent(a.Err) }

// Confirmed returns the answer of a node whose replicas did not confirm it, for the reason err. A grant becomes Failed:
// the call may have run, and the grant does not count. Any other answer stays, and so does every answer if err is nil.
func (a Answer) Confirmed(err error) Answer {
	if err == nil {
		return a
	}
	switch a.Verdict {
	case Granted, Extended, Repaired, Done:
		return Answer{Verdict: Failed, Cause: Unreplicated, Err: err}
	}
	return a
}

// ParseReply reads a node's reply to a call of op, by the table of answers. For an unreadable reply the verdict is
// Failed.
func ParseReply(op Op, r node.Reply) Answer {
	if r.Err != nil {
		a := Answer{Verdict: Failed, Err: r.Err, Cause: RefusedWrite(r.Err)}
		if op != Refresh && node.Code(r.Err) == node.WrongType { // the script refresh reads no key of a name
			a.Cause = WrongType
		}
		return a
	}
	if r.Value != "" && r.Value[0] >= 'A' && r.Value[0] <= 'Z' {
		if read := readers[op][r.Value[0]-'A']; read != nil {
			if a, ok := read(r.Value[1:]); ok {
				return a
			}
		}
	}
	return unreadable(op, r.Value)
}

func unreadable(op fmt.Stringer, value string) Answer {
	if len(value) > 80 {
		value = value[:80] + "…"
	}
	return Answer{Verdict: Failed, Err: Unreadable(fmt.Sprintf("unreadable answer to %s: %q; is this Redis or Valkey?", op, value))}
}

// Unreadable is the error for a reply that is not an answer of a script of Holdfast.
type Unreadable string

// Error returns the message.
func (u Unreadable) Error() string { return string(u) }
