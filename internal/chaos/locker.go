//go:build linux

package chaos

import (
	"context"
	"time"
)

// Locker is a lock as a client process uses it. It is safe for concurrent use.
type Locker interface {
	// Lock waits for the lock; ctx bounds the wait.
	Lock(ctx context.Context, name string) (Held, error)
	Close()
}

// Held is a lock that is held.
type Held interface {
	// Token is the fencing token; 0 if the lock has none.
	Token() int64
	// Deadline is until when the holder may believe in it if it hears nothing more; zero if
	// the lock does not say.
	Deadline() time.Time
	// Done is closed when the holder is told that it lost the lock; nil if it is never told.
	Done() <-chan struct{}
	// Unlock gives it back.
	Unlock(ctx context.Context) error
}

// Renewer is a held lock whose holder may renew it by itself.
type Renewer interface {
	Renew(ctx context.Context) error
}

// Open makes the locker of a client process.
type Open func(Role) (Locker, error)

// Role is what a client process is told.
type Role struct {
	Client   int // unique in a run
	Locker   string
	Nodes    []string // URLs
	Names    []string // of locks
	TTL      time.Duration
	Window   time.Duration
	Loops    int    // how many goroutines lock
	Resource string // host:port of the server that has the registers
	Dir      string // of the counter files
	Parts    bool   // makes attempts that are cut short, when it is told to end
	Pause    int    // one in so many stops itself between its last look at the lease and its write; 0: none

	// Of clients that must be refused.
	Misfit string // says why; "" is none
	MaxTTL time.Duration

	note func(what string) // counts a refusal; never nil in a process
}

// Note counts what a node or a lock said instead of yes.
func (r Role) Note(what string) { r.note(what) }
