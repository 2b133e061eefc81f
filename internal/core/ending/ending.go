// Package ending makes the errors of waits that a context ended. The root package and package compat/redisson have
// their own error types, and both use this package to describe the end of a wait.
package ending

import (
	"context"
	"errors"
)

// Cause returns the reason why ctx ended, or nil if ctx has not ended. The error has the text of the context's cause.
// It also matches ctx.Err(), so that a check for [context.Canceled] works, whatever the cause is.
func Cause(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return both{err: err, cause: cause}
}

type both struct{ err, cause error }

func (e both) Error() string   { return e.cause.Error() }
func (e both) Unwrap() []error { return []error{e.err, e.cause} }

// Because returns the part of a message that names the cause of the end of a wait, or "" for nil.
func Because(cause error) string {
	if cause == nil {
		return ""
	}
	return " (waiting ended: " + cause.Error() + ")"
}

// Facts returns the errors that an error must match: the fact, and the cause of the end of a wait unless it is nil.
func Facts(fact, cause error) []error {
	if cause == nil {
		return []error{fact}
	}
	return []error{fact, cause}
}
