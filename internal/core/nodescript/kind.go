package nodescript

import "time"

// Kind makes the calls for one name. It separates the code that gets and keeps locks from the kinds of locks: packages
// bid, waiting and renewal decide when to ask, to renew and to release, and the answers have the same verdicts for all
// kinds. The kinds are [Exclusive], a lock with one holder, [Shared], a lock that several readers hold together, and
// [Slot], a slot of a semaphore.
//
// Stamps, tokens, tickets and instants are µs of stamp time. A Kind is safe for concurrent use.
type Kind interface {
	// Name returns the name of the lock, with the client's Config.Prefix before it.
	Name() string
	// Line returns the key of a line. Waiters of this process with equal keys wait in the same line. The key is the
	// name, or a text that cannot be a name.
	Line() string
	// Shares reports whether several owners can hold the name at the same time. If so, a waiter asks the nodes even if
	// another waiter of this process has just got the name. And a release then leaves no gap for clients of other
	// libraries.
	Shares() bool

	// Owner converts an owner of [NewOwner] into an owner of this kind. From that text the nodes know
	// whether the owner is a writer or a reader.
	Owner(owner string) string

	// These calls are for an attempt.

	// Acquire asks for the lock. The stamp of the attempt becomes the token.
	Acquire(owner string, token int64, ttl time.Duration) Call
	// Queue is Acquire for a waiter: if another owner has the lock, the owner joins the queue.
	Queue(owner string, token int64, ttl time.Duration, ticket int64) Call
	// Pass is Acquire for an owner to which another owner of this process passes its lease.
	Pass(owner string, token int64, ttl time.Duration, from string) Call
	// Abort gives back the partial grants of an attempt. None of its stamps, up to highest, won a majority.
	Abort(owner string, highest int64) Call
	// Quit removes the owner from the queue of a node that did not grant.
	Quit(owner string) Call

	// These calls are for a lease.

	// Extend renews the lease until stamp + ttl. deadline is the deadline that the owner knows. When deadline has
	// passed by more than a window, no node stores the lease if it does not have it.
	Extend(owner string, token, stamp, deadline int64, ttl, window time.Duration) Call
	// Release ends the lease. highest is the highest stamp that was ever sent for owner.
	Release(owner string, highest int64) Call
	// Leave ends the lease, but keeps the name taken until an instant.
	Leave(owner string, token, until int64) Call
	// LeaveGap is Leave for a gap. Clients of other libraries find the name free until that instant.
	LeaveGap(owner string, token, until int64) Call
	// EndGap ends a gap before its time.
	EndGap(owner string, highest int64) Call
}
