package fence

import (
	"errors"
	"fmt"
)

// Mode is the mode of the lease that a token comes from. It is not the kind of access: a writer may also read.
type Mode uint8

const (
	// Writer is the mode of an exclusive lease. It is the default.
	Writer Mode = iota
	// Reader is the mode of a shared lease, which several clients have at the same time.
	Reader
)

// String returns "writer" or "reader".
func (m Mode) String() string {
	switch m {
	case Writer:
		return "writer"
	case Reader:
		return "reader"
	}
	return fmt.Sprintf("mode %d", uint8(m))
}

// Token is the fencing token of a lease, and the lease's mode. Tokens of one lock name can be compared, tokens of two
// names cannot. So one resource needs one lock name.
type Token struct {
	Fence int64 // at least 1
	Mode  Mode  // defaults to Writer
}

// Of returns the token of a lease, such as a [github.com/holdfast-go/holdfast.Lease]. If the lease has a method Shared
// that returns true, the token has the mode [Reader].
func Of(lease interface{ Fence() int64 }) Token {
	t := Token{Fence: lease.Fence()}
	if l, ok := lease.(interface{ Shared() bool }); ok && l.Shared() {
		t.Mode = Reader
	}
	return t
}

// String returns the token for people: "token 7 of a writer".
func (t Token) String() string { return fmt.Sprintf("token %d of a %s", t.Fence, t.Mode) }

// ErrBadToken means that a token cannot be one of a lease.
var ErrBadToken = errors.New("bad token")

// check returns the reason why no lease has this token, or nil. The error matches ErrBadToken.
func (t Token) check() error {
	if t.Fence < 1 {
		return fmt.Errorf("%w %d: a token is at least 1; was the lease's token passed on?", ErrBadToken, t.Fence)
	}
	if t.Mode > Reader {
		return fmt.Errorf("%w: its mode is %d; use Writer or Reader", ErrBadToken, t.Mode)
	}
	return nil
}
