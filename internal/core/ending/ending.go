// Package ending has the parts that notice the end of a lease: contexts whose Err compares the clock with the deadline,
// and that deadline. It also has the errors of a wait that its context ended. The root package and the packages in
// compat use it.
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

// Changed returns a copy of the first E that err wraps, after change has set its fields. It returns nil if err wraps no
// E.
func Changed[E any, P interface {
	*E
	error
}](err error, change func(P)) error {
	var first P
	if !errors.As(err, &first) {
		return nil
	}
	e := *first
	change(&e)
	return P(&e)
}

// Facts returns the errors that an error must match: the fact, and the cause of the end of a wait unless it is nil.
func Facts(fact, cause error) []error {
	if cause == nil {
		return []error{fact}
	}
	return []error{fact, cause}
}
