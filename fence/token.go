package fence

import (
	"errors"
	"fmt"
)

// Mode says whether a token comes from an exclusive or a shared lease. It does not say what the access does: a writer
// may also read.
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

// Token is the fencing token of a lease, with the lease's mode. Tokens can be compared only if they come from the
// same lock name. So each resource needs one lock name.
type Token struct {
	Fence int64 // at least 1
	Mode  Mode  // defaults to Writer
}

// Of returns the token of a lease, such as a [github.com/holdfast-go/holdfast.Lease]. The mode is Reader if the lease
// has a method Shared and this method returns true.
func Of(lease interface{ Fence() int64 }) Token {
	t := Token{Fence: lease.Fence()}
	if l, ok := lease.(interface{ Shared() bool }); ok && l.Shared() {
		t.Mode = Reader
	}
	return t
}

// String returns the token for people, such as "token 7 of a writer".
func (t Token) String() string { return fmt.Sprintf("token %d of a %s", t.Fence, t.Mode) }

// ErrBadToken means that no lease can have this token.
var ErrBadToken = errors.New("bad token")

// check returns an error if no lease can have this token. The error matches ErrBadToken.
func (t Token) check() error {
	if t.Fence < 1 {
		return fmt.Errorf("%w %d: a token is at least 1; was the lease's token passed on?", ErrBadToken, t.Fence)
	}
	if t.Mode > Reader {
		return fmt.Errorf("%w: its mode is %d; use Writer or Reader", ErrBadToken, t.Mode)
	}
	return nil
}
