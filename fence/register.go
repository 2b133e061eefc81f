package fence

import "context"

// Register is a resource with one value that refuses old tokens. [File], [Redis] and [Object] are registers. For
// databases see [SQL].
//
// Each method is one atomic operation: no other access can happen between the comparison of the token and the access.
// A Register is safe for concurrent use by goroutines and by processes.
type Register interface {
	// Read compares the token, and returns the value, or nil if there is none. From then on the resource refuses
	// older tokens. So a holder reads first, and then decides what to write.
	//
	// The error matches [ErrStale] if the token is old, and [ErrBadToken] if it is not a valid token.
	Read(ctx context.Context, t Token) ([]byte, error)

	// Write replaces the value. The errors are those of Read. For the token of a reader the error matches
	// [ErrReader].
	//
	// After any other error, for example because ctx ended, the value may or may not be written. A write that is
	// still under way may also arrive later, but only until a higher token is used.
	Write(ctx context.Context, t Token, value []byte) error
}

// checkAccess returns an error if an access with this token is not allowed at all.
func checkAccess(t Token, write bool) error {
	if err := t.check(); err != nil {
		return err
	}
	if write && t.Mode != Writer {
		return ErrReader
	}
	return nil
}
