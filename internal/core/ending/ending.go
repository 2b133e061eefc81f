// Package ending builds the errors of waits that a context ended. The root package and package compat/redisson have error
// types of their own, and both describe the end of a wait by this package.
package ending

import (
	"context"
	"errors"
)

// Cause returns the reason why ctx ended, nil if it has not ended. The error has the text of the context's cause. It also
// matches ctx's Err, because a caller that checks for [context.Canceled] does not know a cause that somebody else gave.
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

// Because returns the words for the cause of the end of a wait, "" for nil.
func Because(cause error) string {
	if cause == nil {
		return ""
	}
	return " (waiting ended: " + cause.Error() + ")"
}

// Facts returns the errors that an error matches: a fact, and the cause of the end of a wait if it is not nil.
func Facts(fact, cause error) []error {
	if cause == nil {
		return []error{fact}
	}
	return []error{fact, cause}
}
