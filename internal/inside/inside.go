// Package inside is the way from the packages around the lock to the inside of a client. Such a package, for example
// election, is a package of its own so that package holdfast has the lock only. It uses the public API where it can. This
// package has the rest: what users do not need, but those packages do.
package inside

import (
	"sync"
	"time"
)

// Client is the inside of one *holdfast.Client. It is safe for concurrent use.
type Client struct {
	// Stop is closed by Close, just after Closed becomes true.
	Stop <-chan struct{}

	// Closed reports whether Close was called.
	Closed func() bool

	// NodeTimeout is the Config's.
	NodeTimeout time.Duration

	// Mutex returns the TTL of a *holdfast.Mutex. bad is the reason why nobody can ever lock it, or nil: a bad name, or a
	// bad option. It has no prefix "holdfast: ".
	Mutex func(mutex any) (ttl time.Duration, bad error)

	// Unconfirmed informs the observers of the client that too few nodes confirmed the release of a *holdfast.Lease:
	// EventUnconfirmed.
	Unconfirmed func(lease any)

	// Kept has what packages keep for this client. Each package uses keys of a type of its own, as for context values.
	Kept sync.Map
}

var of func(client any) *Client

// Register sets the function behind [Of]. Package holdfast calls it when the program begins.
func Register(f func(client any) *Client) { of = f }

// Of returns the inside of a *holdfast.Client.
func Of(client any) *Client { return of(client) }
