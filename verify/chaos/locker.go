//go:build linux

package chaos

import (
	"context"
	"time"
)

// Locker is a lock as a client process uses it. It is safe for concurrent use.
type Locker interface {
	// Lock waits for the lock. ctx bounds the wait.
	Lock(ctx context.Context, name string) (Held, error)
	Close()
}

// Held is a lock during a lease.
type Held interface {
	// Token returns the fencing token, 0 if the lock has none.
	Token() int64
	// Deadline returns the instant until which the holder may rely on the lock without further news. It is zero if the
	// lock gives no deadline.
	Deadline() time.Time
	// Done returns a channel that closes when the holder learns of a loss. It is nil if the lock never reports a loss.
	Done() <-chan struct{}
	// Unlock releases the lock.
	Unlock(ctx context.Context) error
}

// Renewer is a held lock that its holder can renew by hand.
type Renewer interface {
	Renew(ctx context.Context) error
}

// Open returns the locker of a client process.
type Open func(Role) (Locker, error)

// Role contains the settings of a client process.
type Role struct {
	Client   int // the number of the client, unique in a run
	Locker   string
	Nodes    []string // the URLs of the nodes
	Names    []string // the names of the locks
	TTL      time.Duration
	Window   time.Duration
	Loops    int    // the number of goroutines that lock
	Resource string // host:port of the server with the registers
	Dir      string // the directory of the counter files
	Readers  int    // of a hundred locks, so many are shared
	Long     int    // of a hundred locks, so many are held for up to two TTLs, beside those of any client
	Busy     int    // during a lease, so many goroutines of the client compute, and look at its context
	Asks     bool   // the client reports each call after a failed one
	Parts    bool   // the client makes attempts that end early when the client must end
	Pause    int    // one time in this many, the client stops itself between its last check and its write; 0: never

	// These fields are for clients that the nodes must refuse.
	Misfit string // the reason for the refusal; "" if none
	MaxTTL time.Duration

	note func(what string) // counts a refusal; never nil in a process
}

// Note counts a refusal by a node or a lock.
func (r Role) Note(what string) { r.note(what) }
