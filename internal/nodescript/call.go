package nodescript

import (
	"strconv"
	"time"
)

// Call is one operation as every node gets it; only the digest differs per node.
type Call struct {
	Op         Op
	Keys, Args []string
}

// Lock is what a node needs to know to find a name's keys.
type Lock struct {
	Name    string
	Private bool // without the plain key

	made  []string // the keys; nil: made for every call
	times Times
}

// NewLock returns a lock whose calls share what they have in common, if they take it for
// the TTL of times.
func NewLock(name string, private bool, times Times) Lock {
	l := Lock{Name: name, Private: private, times: times}
	l.made = l.keys()
	return l
}

// Times is a TTL as calls carry it.
type Times struct {
	ttl    time.Duration
	millis string
}

// NewTimes prints a TTL.
func NewTimes(ttl time.Duration) Times { return Times{ttl, millis(ttl)} }

func (l Lock) timesOf(ttl time.Duration) Times {
	if l.times.ttl == ttl && ttl != 0 {
		return l.times
	}
	return NewTimes(ttl)
}

func (l Lock) keys() []string {
	switch {
	case l.made != nil:
		return l.made
	case l.Private:
		return []string{RecordKey(l.Name)}
	}
	return []string{RecordKey(l.Name), l.Name}
}

func millis(d time.Duration) string { return strconv.FormatInt(ceilMillis(d), 10) }

// ceilMillis rounds up: a key must not go before its time.
func ceilMillis(d time.Duration) int64 { return int64((d + time.Millisecond - 1) / time.Millisecond) }

// AcquireCall asks for l with token T = stamp (µs of stamp time).
func AcquireCall(l Lock, owner string, stamp int64, ttl time.Duration) Call {
	return acquire(l, owner, stamp, ttl, "")
}

// QueueCall is AcquireCall for an owner that joins the queue where somebody else has the
// lock. ticket is the waiter's first stamp: the lowest is served first.
func QueueCall(l Lock, owner string, stamp int64, ttl time.Duration, ticket int64) Call {
	return acquire(l, owner, stamp, ttl, Micros(ticket))
}

// PassCall is AcquireCall for an owner to whom from, which has the lock in the same
// process, passes it on. from is longer than a ticket, as every owner of [NewOwner] is.
func PassCall(l Lock, owner string, stamp int64, ttl time.Duration, from string) Call {
	return acquire(l, owner, stamp, ttl, from)
}

func acquire(l Lock, owner string, stamp int64, ttl time.Duration, wants string) Call {
	r := Record{Seen: stamp, Token: stamp, Expiry: stamp + ttl.Microseconds()}
	return Call{Acquire, l.keys(), []string{r.head(), l.timesOf(ttl).millis, wants, owner}}
}

// ReleaseCall gives l back after a lease; highest is the highest stamp ever sent under owner.
func ReleaseCall(l Lock, owner string, highest int64) Call { return release(l, owner, highest, "0") }

// AbortCall gives back what an attempt got whose stamps, up to highest, never won a majority: no
// lease was, so the one that somebody else may hold can be repaired here.
func AbortCall(l Lock, owner string, highest int64) Call { return release(l, owner, highest, "1") }

// DeclineCall gives on a claim that owner has no use for: it bids no more. It leaves a lease of owner
// alone, because it covers no stamp.
func DeclineCall(l Lock, owner string) Call { return release(l, owner, 0, "1") }

func release(l Lock, owner string, highest int64, never string) Call {
	both := micros(highest, highest+1)
	return Call{Release, l.keys(), []string{owner, both[:digits], both[digits:], never}}
}

// ExtendCall renews the lease of owner with token T until stamp + ttl. deadline is
// the one the owner knows, in stamp time: nothing is repaired later than that + w, the
// window.
func ExtendCall(l Lock, owner string, T, stamp, deadline int64, ttl, w time.Duration) Call {
	return Call{Extend, l.keys(), []string{
		owner, Micros(T), Micros(stamp + ttl.Microseconds()), Micros(deadline + w.Microseconds()), Micros(stamp),
	}}
}

// LeaveCall ends the lease of owner with token T but keeps the name taken until an
// instant of stamp time.
func LeaveCall(l Lock, owner string, T, until int64) Call {
	return Call{Leave, l.keys(), []string{owner, Micros(T), Micros(until), LeftOwner(owner)}}
}

// QuitCall takes owner out of the queue of a node that did not grant.
func QuitCall(l Lock, owner string) Call { return Call{Quit, l.keys(), []string{owner}} }

// LeftOwner is the owner under which a name that was left stays taken.
func LeftOwner(owner string) string { return owner + "~left" }

// RefreshCall keeps the guard of a node that votes.
func RefreshCall(stamp int64, w time.Duration) Call {
	return Call{Refresh, nil, []string{Micros(stamp - w.Microseconds()), Micros(stamp + w.Microseconds())}}
}
