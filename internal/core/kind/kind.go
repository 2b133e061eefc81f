// Package kind is the seam between the machinery that gets and keeps locks, and the kinds of locks. The machinery
// (packages bid, waiting and renewal) decides when to ask, to renew and to give back. A kind supplies the calls. The
// scripts of all kinds answer with the verdicts of package nodescript, which reads the reply of each operation. So the
// meaning of an answer comes with the operation.
//
// The kinds are [Exclusive], a lock with one holder, [Shared], a lock that several readers hold together, and [Slot], a
// slot of a semaphore.
package kind

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// Kind makes the calls for one name. Stamps, tokens, tickets and instants are µs of stamp time. A Kind is safe for
// concurrent use.
type Kind interface {
	// Name returns the name of the lock, with the client's Config.Prefix before it.
	Name() string
	// Line returns a text. Waiters of this process with the same text form one line. The text is the name, or a text
	// that cannot be a name.
	Line() string
	// Shares reports whether several owners can hold the name at a time. A waiter then asks the nodes although another
	// waiter of this process has just got the name. A release leaves no gap for clients of other libraries.
	Shares() bool

	// Owner makes the owner of an attempt from an owner of [nodescript.NewOwner]. The nodes read the mode (writer or
	// reader) from the result.
	Owner(owner string) string

	// Calls of an attempt.

	// Acquire asks for the lock with a token.
	Acquire(owner string, token int64, ttl time.Duration) nodescript.Call
	// Queue is Acquire for an owner that joins the queue if the lock is held.
	Queue(owner string, token int64, ttl time.Duration, ticket int64) nodescript.Call
	// Pass is Acquire for an owner that takes the lock over from another owner of this process.
	Pass(owner string, token int64, ttl time.Duration, from string) nodescript.Call
	// Abort gives back the partial grants of an attempt whose stamps, up to highest, won no majority.
	Abort(owner string, highest int64) nodescript.Call
	// Quit leaves the queue of a node that did not grant.
	Quit(owner string) nodescript.Call

	// Calls of a lease.

	// Extend renews the lease until stamp + ttl. deadline is the deadline that the owner knows. If it has passed by more
	// than a window, no node repairs the lease.
	Extend(owner string, token, stamp, deadline int64, ttl, window time.Duration) nodescript.Call
	// Release ends the lease. highest is the highest stamp that was ever sent for owner.
	Release(owner string, highest int64) nodescript.Call
	// Leave ends the lease, and keeps the name taken until an instant.
	Leave(owner string, token, until int64) nodescript.Call
	// LeaveGap is Leave for a gap: clients of other libraries find the name free.
	LeaveGap(owner string, token, until int64) nodescript.Call
	// EndGap ends a gap before its time.
	EndGap(owner string, highest int64) nodescript.Call
}
