// Package inside is the way from the packages around the lock to the inside of a client. Such a package, for example
// election, is a package of its own so that package holdfast has the lock only. It uses the public API where it can.
// This package has the rest: what users do not need, but those packages do.
package inside

import (
	"context"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/answers"
	"github.com/holdfast-go/holdfast/internal/core/events"
	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/verdict"
)

// Client is the inside of one *holdfast.Client. It is safe for concurrent use.
type Client struct {
	// Stop is closed by Close, just after Closed becomes true.
	Stop <-chan struct{}

	// Closed reports whether Close was called.
	Closed func() bool

	// NodeTimeout is the Config's.
	NodeTimeout time.Duration

	// Mutex returns the TTL of a *holdfast.Mutex. bad is the reason why nobody can ever lock it, or nil: a bad name, or
	// a bad option. It has no prefix "holdfast: ".
	Mutex func(mutex any) (ttl time.Duration, bad error)

	// Sets returns all node sets: one, or one for each shard of a Redis Cluster. Set returns the one that has a name,
	// which is without the Prefix. An error matches holdfast.ErrUnavailable: the shards are not known.
	Sets func(ctx context.Context) ([]Set, error)
	Set  func(ctx context.Context, name string) (Set, error)

	// Prefix and MaxTTL are the Config's.
	Prefix string
	MaxTTL time.Duration

	// Lock returns the lock of a name, which is without the Prefix.
	Lock func(name string) nodescript.Lock

	// Unavailable returns a *holdfast.UnavailableError. slots is 0 for a lock.
	Unavailable func(name string, slots int, nodes []verdict.Answer) error

	// Ended returns the error of a call that the end of ctx stopped. last is the error of the last attempt.
	Ended func(ctx context.Context, last error) error

	// Emit informs the observers of the client and its Logger.
	Emit func(events.Event)

	// Unconfirmed informs the observers of the client that too few nodes confirmed the release of a *holdfast.Lease:
	// EventUnconfirmed.
	Unconfirmed func(lease any)

	// Kept has what packages keep for this client. Each package uses keys of a type of its own, as for context values.
	Kept sync.Map
}

// Set is the inside of one node set of a client.
type Set struct {
	// Fan carries questions to the nodes, and Said makes the public answers.
	Fan  *fanout.Fanout
	Said answers.Source

	// Strange returns the answers of nodes that vote under other settings, by node; the other elements are nil. LookAt
	// does the same while look runs.
	Strange func(ctx context.Context) []*verdict.Answer
	LookAt  func(ctx context.Context, look func()) []*verdict.Answer

	// Enough returns the error of a look to which less than a majority of the nodes answered, or nil. errs has the
	// error of each node, or nil.
	Enough func(ctx context.Context, name string, errs []error, strange []*verdict.Answer) error
}

var of func(client any) *Client

// Register sets the function behind [Of]. Package holdfast calls it when the program begins.
func Register(f func(client any) *Client) { of = f }

// BadField returns a *holdfast.ConfigError. Package holdfast sets it.
var BadField func(field, format string, args ...any) error

// Of returns the inside of a *holdfast.Client.
func Of(client any) *Client { return of(client) }
