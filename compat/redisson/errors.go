package redisson

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/ending"
	"github.com/holdfast-go/holdfast/internal/core/printable"
)

// ErrWrongKind means that the key of the lock is not a hash. So it is no lock of Redisson. Waiting is not the answer:
// Redisson's own calls fail with WRONGTYPE there. Evidence: [*KindError].
var ErrWrongKind = errors.New("the key is of another kind")

// HeldError describes the holder of a lock. It matches [holdfast.ErrHeld].
type HeldError struct {
	Name string

	// Holder is "client id:thread id" of the holder, as Redisson and this package store it. If several nodes name
	// different holders, it is the one that most of them name. It is empty if nobody was named.
	Holder string

	// Count is the reentrant count of the holder.
	Count int

	// Mode is "read" or "write" if the holder has an RReadWriteLock of this name, else "".
	Mode string

	// ExpiresIn is the time until the lock ends if it is not renewed. It is negative if the key never expires.
	ExpiresIn time.Duration

	own   bool  // the holder is a lease of this client
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
	case e.Mode != "":
		fmt.Fprintf(&b, ", as a read-write lock in mode %s", printable.Text(e.Mode))
	}
	switch {
	case e.ExpiresIn < 0:
		b.WriteString("; the key never expires")
	case e.ExpiresIn > 0:
		fmt.Fprintf(&b, " for up to %s", e.ExpiresIn)
	}
	return b.String() + ending.Because(e.cause)
}

// Unwrap makes the error match ErrHeld. If the context ended the wait, the error also matches the context's Err and
// cause.
func (e *HeldError) Unwrap() []error { return ending.Facts(holdfast.ErrHeld, e.cause) }

// KindError describes a key that is no lock of Redisson. It matches [ErrWrongKind].
type KindError struct {
	Name      string
	Key       string        // Name after Config.MapName
	Type      string        // as Redis's TYPE says, such as "string"
	Value     string        // the start of a string, at most 128 bytes
	ExpiresIn time.Duration // negative if the key never expires
}

func (e *KindError) Error() string {
	left := "and never expires"
	if e.ExpiresIn >= 0 {
		left = fmt.Sprintf("and expires in %s", e.ExpiresIn)
	}
	if e.Type != "string" {
		return fmt.Sprintf("lock %q: WRONGTYPE: the key %q is a %s %s; a lock of Redisson is a hash: use another name, or delete the key",
			e.Name, e.Key, e.Type, left)
	}
	return fmt.Sprintf("lock %q: WRONGTYPE: the key %q is a string, %q, %s; that is the lock of a client of Holdfast, of Redlock or of SETNX, "+
		"which Redisson does not understand: give the two sides different names, or use this package for all clients of the name",
		e.Name, e.Key, printable.Text(e.Value), left)
}

// Unwrap makes the error match ErrWrongKind.
func (e *KindError) Unwrap() error { return ErrWrongKind }

// LostError describes how a lock was lost. It matches [holdfast.ErrLost].
type LostError struct {
	Name string

	// Gone is true if so many nodes answered that they do not have the lock that no majority can have it. Somebody
	// deleted it (forceUnlock of RLock does), or the nodes lost their memory. Otherwise the deadline passed.
	Gone bool

	// Nodes has what each node said in the last renewal, in the order of [Config.Nodes].
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

// UnavailableError has the answer of each node, in the order of [Config.Nodes]. It matches [holdfast.ErrUnavailable].
type UnavailableError struct {
	Name  string
	Nodes []string

	cause error
}

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("lock %q: no majority of %d node(s) answered: %s", e.Name, len(e.Nodes), strings.Join(e.Nodes, "; ")) + ending.Because(e.cause)
}

// Unwrap makes the error match ErrUnavailable. If the context ended the wait, the error also matches the context's Err
// and cause.
func (e *UnavailableError) Unwrap() []error { return ending.Facts(holdfast.ErrUnavailable, e.cause) }

// ended returns the error of a wait that ctx ended. It has the evidence of the last attempt.
func ended(ctx context.Context, last error) error {
	cause := ending.Cause(ctx)
	var held *HeldError
	var un *UnavailableError
	switch {
	case errors.As(last, &held):
		e := *held
		e.cause = cause
		return &e
	case errors.As(last, &un):
		e := *un
		e.cause = cause
		return &e
	}
	return cause
}
