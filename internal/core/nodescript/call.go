package nodescript

import (
	"strconv"
	"strings"
	"time"
)

// Call is one operation for every node. All nodes get the same keys and arguments. Only the digest of the script
// differs, because its text contains the run id of the node.
type Call struct {
	Op         Op
	Keys, Args []string
}

// Times is a TTL and the text of that TTL in calls. It saves the conversion of a TTL that is used often.
type Times struct {
	ttl    time.Duration
	millis string
}

// NewTimes returns the Times of a TTL.
func NewTimes(ttl time.Duration) Times { return Times{ttl, millis(ttl)} }

func (l Lock) timesOf(ttl time.Duration) Times {
	if l.times.ttl == ttl && ttl != 0 {
		return l.times
	}
	return NewTimes(ttl)
}

func millis(d time.Duration) string { return strconv.FormatInt(ceilMillis(d), 10) }

// ceilMillis rounds up to whole milliseconds, so that no key expires too early.
func ceilMillis(d time.Duration) int64 { return int64((d + time.Millisecond - 1) / time.Millisecond) }

// For an owner that [ReaderOwner] made, each function below returns the call of a reader.

// AcquireCall asks for l. The stamp, in µs, becomes the token of the lease.
func AcquireCall(l Lock, owner string, stamp int64, ttl time.Duration) Call {
	return acquire(l, owner, stamp, ttl, "")
}

// QueueCall is AcquireCall for a waiter: if another owner has the lock, the owner joins the queue. ticket is the
// waiter's first stamp. Nodes serve the lowest ticket first.
func QueueCall(l Lock, owner string, stamp int64, ttl time.Duration, ticket int64) Call {
	return acquire(l, owner, stamp, ttl, Micros(ticket))
}

// PassCall is AcquireCall for an owner to which another owner of the same process passes the lock. The parameter from
// is that other owner. Nodes distinguish it from a ticket by its length: every owner of [NewOwner] is longer than a
// ticket.
func PassCall(l Lock, owner string, stamp int64, ttl time.Duration, from string) Call {
	return acquire(l, owner, stamp, ttl, from)
}

func acquire(l Lock, owner string, stamp int64, ttl time.Duration, wants string) Call {
	expiry := stamp + ttl.Microseconds()
	if IsReader(owner) {
		return Call{AcquireShared, l.keys(), []string{micros(stamp, expiry), l.timesOf(ttl).millis, wants, owner}}
	}
	r := Record{Seen: stamp, Token: stamp, Expiry: expiry}
	return Call{Acquire, l.keys(), []string{r.head(), l.timesOf(ttl).millis, wants, owner}}
}

// ReleaseCall releases l after a lease. highest is the highest stamp that was ever sent for owner.
func ReleaseCall(l Lock, owner string, highest int64) Call { return release(l, owner, highest, "0") }

// AbortCall gives back the partial grants of an attempt. None of its stamps, up to highest, won a majority. So the
// attempt was never a lease, and these nodes can still repair an older lease of another owner.
func AbortCall(l Lock, owner string, highest int64) Call { return release(l, owner, highest, "1") }

// DeclineCall rejects a claim that owner cannot use, because its attempt has ended. The next waiter gets the claim.
// The call covers no stamp, so it never ends a lease of owner.
func DeclineCall(l Lock, owner string) Call { return release(l, owner, 0, "1") }

// ForceCall ends the lease of owner with token T for an operator. Send it with [ForceText] of its Op, and parse the
// reply like a reply to that Op.
func ForceCall(l Lock, owner string, T int64) Call { return release(l, owner, T, "0") }

func release(l Lock, owner string, highest int64, never string) Call {
	both := micros(highest, highest+1)
	return Call{opOf(owner, Release, ReleaseShared), l.keys(), []string{owner, both[:digits], both[digits:], never}}
}

// ExtendCall renews the lease of owner with token T until stamp + ttl. deadline is the deadline that the owner knows,
// in stamp time. Later than deadline + w, a window, no node stores the lease if it does not have it.
func ExtendCall(l Lock, owner string, T, stamp, deadline int64, ttl, w time.Duration) Call {
	return Call{opOf(owner, Extend, ExtendShared), l.keys(), []string{
		owner, Micros(T), Micros(stamp + ttl.Microseconds()), Micros(deadline + w.Microseconds()), Micros(stamp),
	}}
}

// LeaveCall ends the lease of owner with token T, but keeps the name taken until an instant in stamp time.
func LeaveCall(l Lock, owner string, T, until int64) Call {
	return Call{opOf(owner, Leave, LeaveShared), l.keys(), []string{owner, Micros(T), Micros(until), LeftOwner(owner)}}
}

// opOf returns the operation for a writer or for a reader, whichever owner is.
func opOf(owner string, writer, reader Op) Op {
	if IsReader(owner) {
		return reader
	}
	return writer
}

// QuitCall removes owner from the queue of a node that did not grant.
func QuitCall(l Lock, owner string) Call { return Call{Quit, l.keys(), []string{owner}} }

// LeftOwner returns the owner under which a name stays taken after LeaveCall.
func LeftOwner(owner string) string {
	if writer, reader := strings.CutSuffix(owner, readerTail); reader {
		return writer + leftTail + readerTail
	}
	return owner + leftTail
}

const leftTail = "~left"

// RefreshCall extends the life of the guard on a node that votes.
func RefreshCall(stamp int64, w time.Duration) Call {
	return Call{Refresh, nil, []string{Micros(stamp - w.Microseconds()), Micros(stamp + w.Microseconds())}}
}
