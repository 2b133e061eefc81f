package redisson

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/ending"
	"github.com/holdfast-go/holdfast/internal/core/printable"
)

// ErrWrongKind means that the key of the lock is not a hash. So it is not a lock of Redisson, and Redisson's own
// calls fail with WRONGTYPE. Lock does not wait in this case. Evidence: [*KindError].
var ErrWrongKind = errors.New("the key is of another kind")

// HeldError names the holder of the lock. It matches [holdfast.ErrHeld].
type HeldError struct {
	Name string

	// Holder is "client id:thread id" of the holder, as the nodes store it. If the nodes name different holders,
	// Holder is the one that most of them name. It is empty if no node named a holder.
	Holder string

	// Count is the reentrant count of the holder.
	Count int

	// Mode is "read" if readers have the lock: an RReadWriteLock of Java, or [Mutex.RLock]. Holder is then one of them,
	// or empty if they are more than 63. Mode is "write" for the write lock of RReadWriteLock and for [Mutex.Lock]. It
	// is "" for the other locks of Java, and for earlier versions of this package.
	Mode string

	// ExpiresIn is the time until the lock ends if nobody renews it. It is negative if the key never expires.
	ExpiresIn time.Duration

	own   bool  // the holder is this client
	split bool  // no holder has a majority
	cause error // the reason why the wait ended, or nil
}

func (e *HeldError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "lock %q: ", e.Name)
	switch {
	case e.split:
		b.WriteString("nobody has a majority of the nodes: several clients try at once")
	case e.Holder == "":
		b.WriteString("held")
	default:
		fmt.Fprintf(&b, "held by %s", printable.Text(e.Holder))
	}
	switch {
	case e.own:
		b.WriteString(", a lease of this client (a call with the context of that lease would share it)")
	case e.Mode == "read":
		b.WriteString(", as a reader: readers have the lock together")
	}
	switch {
	case e.ExpiresIn < 0:
		b.WriteString("; the key never expires")
	case e.ExpiresIn > 0:
		fmt.Fprintf(&b, " for up to %s", e.ExpiresIn)
	}
	return b.String() + ending.Because(e.cause)
}

// Unwrap makes the error match ErrHeld. If a context ended the wait, the error also matches the Err and the cause of
// this context.
func (e *HeldError) Unwrap() []error { return ending.Facts(holdfast.ErrHeld, e.cause) }

// KindError describes a key that is not a lock of Redisson. It matches [ErrWrongKind].
type KindError struct {
	Name      string
	Key       string        // Name after Config.MapName
	Type      string        // the answer of Redis's TYPE, such as "string"
	Value     string        // the beginning of a string, at most 128 bytes
	ExpiresIn time.Duration // negative if the key never expires
}

func (e *KindError) Error() string {
	left := "and never expires"
	if e.ExpiresIn >= 0 {
		left = fmt.Sprintf("and expires in %s", e.ExpiresIn)
	}
	if e.Type != "string" {
		return fmt.Sprintf("lock %q: WRONGTYPE: the key %q is a %s %s; a lock of Redisson is a hash: use another name, or delete the key",
			e.Name, e.Key, printable.Text(e.Type), left)
	}
	return fmt.Sprintf("lock %q: WRONGTYPE: the key %q is a string, %q, %s; that is the lock of a client of Holdfast, of Redlock or of SETNX, "+
		"which Redisson does not understand: give the two sides different names, or use this package for all clients of the name",
		e.Name, e.Key, printable.Text(e.Value), left)
}

// Unwrap makes the error match ErrWrongKind.
func (e *KindError) Unwrap() error { return ErrWrongKind }

// LostError says how a lock was lost. It matches [holdfast.ErrLost].
type LostError struct {
	Name string

	// Gone is true if so many nodes no longer have the lock that a majority is impossible: somebody deleted it
	// (forceUnlock of RLock does that), or the nodes lost their memory. Otherwise the deadline passed.
	Gone bool

	// Nodes has the answer of each node to the last renewal, in the order of [Config.Nodes].
	Nodes []string
}

func (e *LostError) Error() string {
	why := "its deadline passed before a majority of the nodes renewed it"
	if e.Gone {
		why = "a majority of the nodes can no longer have it: it was deleted (forceUnlock), or they lost their memory"
	}
	if len(e.Nodes) > 0 {
		why += " (" + strings.Join(e.Nodes, "; ") + ")"
	}
	return fmt.Sprintf("lock %q lost: %s", e.Name, why)
}

// Unwrap makes the error match ErrLost.
func (e *LostError) Unwrap() error { return holdfast.ErrLost }

// UnavailableError has the answer of each node, in the order of [Config.Nodes]. It means that no majority answered.
// It matches [holdfast.ErrUnavailable].
type UnavailableError struct {
	Name  string
	Nodes []string

	cause error
}

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("lock %q: no majority of %d node(s) answered: %s", e.Name, len(e.Nodes), strings.Join(e.Nodes, "; ")) + ending.Because(e.cause)
}

// Unwrap makes the error match ErrUnavailable. If a context ended the wait, the error also matches the Err and the
// cause of this context.
func (e *UnavailableError) Unwrap() []error { return ending.Facts(holdfast.ErrUnavailable, e.cause) }

// ended returns the error of a wait that the end of ctx stopped. It has the node answers of last, the error of the
// last attempt.
func ended(ctx context.Context, last error) error {
	cause := ending.Cause(ctx)
	return cmp.Or(
		ending.Changed(last, func(e *HeldError) { e.cause = cause }),
		ending.Changed(last, func(e *UnavailableError) { e.cause = cause }),
		cause)
}
