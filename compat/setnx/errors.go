package setnx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/ending"
	"github.com/holdfast-go/holdfast/internal/core/printable"
)

// ErrForeign means that the key is no lock of this pattern: its value is no time. The client never overwrites it, and
// does not wait for it. Evidence: [*ForeignError].
var ErrForeign = errors.New("the key is no lock by SETNX with a time")

// HeldError describes a lock that another client holds. It matches [holdfast.ErrHeld].
type HeldError struct {
	Name string

	// Value is the time at which the lock ends, as the holder wrote it. It is empty if the server named nobody.
	Value string

	// ExpiresIn is the time until this client would take the lock: until the value's time by the server's clock, plus
	// [Config.Skew]. It is shorter if the key itself expires before.
	ExpiresIn time.Duration

	own   bool  // a lease of this client has the lock
	cause error // the reason why the wait ended, or nil
}

func (e *HeldError) Error() string {
	s := fmt.Sprintf("lock %q: held", e.Name)
	if e.own {
		s += " by a lease of this client"
	}
	if e.Value != "" {
		s += fmt.Sprintf(" until %s, for up to %s", printable.Text(e.Value), e.ExpiresIn)
	}
	return s + ending.Because(e.cause)
}

// Unwrap makes the error match ErrHeld. If the context ended the wait, the error also matches the context's Err and
// cause.
func (e *HeldError) Unwrap() []error { return ending.Facts(holdfast.ErrHeld, e.cause) }

// ForeignError describes a key that is no lock of this pattern. It matches [ErrForeign].
type ForeignError struct {
	Name      string
	Key       string        // Name after Config.MapName
	Type      string        // as Redis's TYPE says, such as "string"
	Value     string        // the start of a string, at most 128 bytes
	ExpiresIn time.Duration // negative if the key never expires
}

func (e *ForeignError) Error() string {
	left := "never expires"
	if e.ExpiresIn >= 0 {
		left = fmt.Sprintf("expires in %s", e.ExpiresIn)
	}
	what := "a " + printable.Text(e.Type)
	if e.Type == "string" {
		what = fmt.Sprintf("%q, which is no Unix time in seconds or milliseconds", printable.Text(e.Value))
	}
	return fmt.Sprintf("lock %q: the key %q is %s, and %s; that is no lock by SETNX with a time, and is left alone: "+
		"use another name, or delete the key when its owner has ended", e.Name, e.Key, what, left)
}

// Unwrap makes the error match ErrForeign.
func (e *ForeignError) Unwrap() error { return ErrForeign }

// LostError describes how a lock was lost. It matches [holdfast.ErrLost].
type LostError struct {
	Name string

	// Gone is true if the server answered that the value is not this holder's. Somebody deleted or changed it, or the
	// server lost its memory. Otherwise the deadline passed.
	Gone bool

	// Value is the value that the server had then, "" for none. Another client may hold the lock.
	Value string

	// Node has the server's last failure, "" for none.
	Node string
}

func (e *LostError) Error() string {
	why := "its deadline passed before the server renewed it"
	switch {
	case e.Gone && e.Value == "":
		why = "the key was deleted, or the server lost its memory"
	case e.Gone:
		why = fmt.Sprintf("another client wrote its value %s", printable.Text(e.Value))
	case e.Node != "":
		why += " (" + e.Node + ")"
	}
	return fmt.Sprintf("lock %q lost: %s", e.Name, why)
}

// Unwrap makes the error match ErrLost.
func (e *LostError) Unwrap() error { return holdfast.ErrLost }

// UnavailableError says why the server did not answer. It matches [holdfast.ErrUnavailable].
type UnavailableError struct {
	Name string
	Node string // the address, and the reason

	cause error
}

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("lock %q: the server did not answer: %s", e.Name, e.Node) + ending.Because(e.cause)
}

// Unwrap makes the error match ErrUnavailable. If the context ended the wait, the error also matches the context's Err
// and cause.
func (e *UnavailableError) Unwrap() []error { return ending.Facts(holdfast.ErrUnavailable, e.cause) }

// ended returns the error of a wait that ctx ended. It has the evidence of the last try.
func ended(ctx context.Context, last error) error {
	cause := ending.Cause(ctx)
	return cmp.Or(
		ending.Changed(last, func(e *HeldError) { e.cause = cause }),
		ending.Changed(last, func(e *UnavailableError) { e.cause = cause }),
		cause)
}
