package fence

import "context"

// Register is a resource with one value that refuses old tokens. [File], [Redis] and [Object] are registers. For a
// database see [SQL].
//
// Each method is one atomic operation: nothing can come between the comparison of the token and the access. A Register
// is safe for concurrent use, by goroutines and by processes.
type Register interface {
	// Read shows the token and returns the value, or nil if there is none. From then on the resource refuses older
	// tokens, so a holder reads before it decides what to write.
	//
	// The error matches [ErrStale] if the token is old, and [ErrBadToken] if it is no token.
	Read(ctx context.Context, t Token) ([]byte, error)

	// Write replaces the value. The errors are those of Read, and [ErrReader] for the token of a reader.
	//
	// After another error, such as the end of ctx, the value may or may not be written, and a write under way may still
	// arrive. It arrives only while no higher token was shown.
	Write(ctx context.Context, t Token, value []byte) error
}

// checkAccess returns the reason why this access cannot be made, or nil.
func checkAccess(t Token, write bool) error {
	if err := t.check(); err != nil {
		return err
	}
	if write && t.Mode != Writer {
		return ErrReader
	}
	return nil
}
