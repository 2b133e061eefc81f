package fence

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

var (
	// ErrStale means that a later holder has used the resource. The access changed nothing. The caller's lease has
	// ended, even if the caller's clock shows otherwise, so the caller must stop. The error is a [*StaleError].
	ErrStale = errors.New("the token is old")

	// ErrReader means that a caller tried to write with the token of a reader.
	ErrReader = errors.New("a reader cannot write")

	// ErrBadName means that a resource cannot have this name.
	ErrBadName = errors.New("bad name of a resource")
)

// errNoContext is the error of a call with a nil context.
var errNoContext = errors.New("nil Context")

// StaleError says which token was refused, and why. It matches [ErrStale].
type StaleError struct {
	Resource string // the path, key or name of the resource
	Token    Token  // the token that was refused
	Mark     Token  // the mark that is higher than Token, so that Token was refused
}

// Error returns the text for people.
func (e *StaleError) Error() string {
	return fmt.Sprintf("fence: %q: %s is old: %s was here", e.Resource, e.Token, e.Mark)
}

// Unwrap returns [ErrStale].
func (e *StaleError) Unwrap() error { return ErrStale }

// longest is the length of the longest name, in bytes. A key of this length is possible in all databases that this
// package supports.
const longest = 512

// checkName returns an error if a resource cannot have this name. The error matches ErrBadName. The rule is the same
// for all stores, so that a resource can move from one store to another.
func checkName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: it is empty", ErrBadName)
	case len(name) > longest:
		return fmt.Errorf("%w: it has %d bytes; at most %d are possible", ErrBadName, len(name), longest)
	case !utf8.ValidString(name):
		return fmt.Errorf("%w %q: it is not UTF-8", ErrBadName, name)
	case strings.ContainsRune(name, 0):
		return fmt.Errorf("%w %q: it contains a NUL byte", ErrBadName, name)
	}
	return nil
}

// wrap adds the name of the resource to an error. A StaleError already has it.
func wrap(what, resource string, err error) error {
	if err == nil || errors.Is(err, ErrStale) {
		return err
	}
	return fmt.Errorf("fence: %s %q: %w", what, resource, err)
}
