package holdfast

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/ending"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/renewal"
)

// These errors are facts. A method that meets a fact returns an error that matches it with [errors.Is]. The evidence of
// a fact has its own type: see [errors.As].
var (
	// ErrHeld means that somebody else has the lock. Try later. Evidence: [*HeldError].
	ErrHeld = errors.New("held by another owner")

	// ErrLost means that the caller had the lock, and that somebody else may have it now. Stop writing, at once.
	// Evidence: [*LostError].
	ErrLost = renewal.ErrLost

	// ErrReleased means that the caller itself has released the lock.
	ErrReleased = renewal.ErrReleased

	// ErrUnavailable means that no quorum of the nodes answered, so nothing is known. Evidence: [*UnavailableError].
	ErrUnavailable = renewal.ErrNoQuorum

	// ErrReentrant means that the caller itself holds this lock, under the lease whose context it passed, and that the
	// option [Reentrant](false) forbids a second handle.
	ErrReentrant = errors.New("held by the caller itself, under the lease of its context; Reentrant(false) forbids to take it twice")

	// ErrUpgrade means that the caller wants the exclusive lock and has the shared lock of this name, under the lease
	// whose context it passed. Two such callers would wait for each other for ever. Release the shared lock first, or
	// take the exclusive lock from the start.
	ErrUpgrade = errors.New("held shared by the caller itself: a reader cannot become a writer; unlock first, or lock exclusively from the start")

	// ErrOrder means that LockAll did not wait for a lock that another owner has. The reason is that the caller holds a
	// lock whose name sorts above it: two such callers would wait for each other for ever. The error also matches
	// [ErrHeld]. Take all locks in one call, or take the lower names first.
	ErrOrder = errors.New("not waited for, because the caller holds a lock whose name sorts above it")

	// ErrClosed means that the client is closed.
	ErrClosed = errors.New("client is closed")

	// ErrBadName means that no lock can have this name. The error contains the reason.
	ErrBadName = errors.New("bad name")

	// ErrBadTTL means that no lock of this client can have this TTL. The error names the bounds. Evidence:
	// [*ConfigError].
	ErrBadTTL = errors.New("bad TTL")
)

// HeldError describes the holders of a lock, as far as the nodes know them. It matches [ErrHeld].
type HeldError struct {
	Name string

	// Slots is the number of slots of a semaphore, as the caller gave it: all of them are held. It is 0 for a lock.
	Slots int

	// Holders are the holders that the nodes named: one for an exclusive lock, the one that most nodes named. Of
	// readers it has the first ten. It is empty if nobody holds the lock and several clients took votes from each other.
	Holders []Holder

	// Readers is the number of readers that have the lock. It is 0 if nobody has it shared.
	Readers int

	// ExpiresIn is the time from the making of this error to the end of the last holder's lease, if the lease is not
	// renewed. It is negative if the lock never ends (a foreign key without expiry).
	ExpiresIn time.Duration

	// Place is the place of a waiting Lock in the queue. 1 is next. 0 means that the call is not in the queue, as for
	// TryLock. Goroutines of one client that wait for one name share one place among the clients, and wait behind each
	// other.
	Place int

	// Nodes has the answer of each node, in the order of [Config.Nodes].
	Nodes []NodeAnswer

	cause error // the reason why the wait ended: nil, or the result of causeOf
}

// Holder returns the first of Holders. It returns a zero Holder if there is none.
func (e *HeldError) Holder() Holder { return firstOf(e.Holders) }

func (e *HeldError) Error() string {
	said := e.Said()
	if h := e.Holder(); h.Own && !h.Shared {
		said += " (a call with the context of its lease would share it)"
	}
	return fmt.Sprintf("%s %q: %s", nounFor(e.Slots), e.Name, said) + ending.Because(e.cause)
}

// Unwrap makes the error match ErrHeld. If the context ended the wait, the error also matches the context's Err and
// cause.
func (e *HeldError) Unwrap() []error { return ending.Facts(ErrHeld, e.cause) }

// UnavailableError has each node's reason for the lack of a quorum. It matches [ErrUnavailable].
type UnavailableError struct {
	Name  string       // "" if the call was about no lock
	Slots int          // as in a [HeldError]
	Nodes []NodeAnswer // in the order of [Config.Nodes]

	cause error
	trust string // the command that gives the client's configuration to the nodes; "" if unknown
}

func (e *UnavailableError) Error() string {
	var b strings.Builder
	if e.Name != "" {
		fmt.Fprintf(&b, "%s %q: ", nounFor(e.Slots), e.Name)
	}
	fmt.Fprintf(&b, "no quorum of %d node", len(e.Nodes))
	if len(e.Nodes) != 1 {
		b.WriteByte('s')
	}
	for i, n := range e.Nodes {
		sep := "; "
		if i == 0 {
			sep = ": "
		}
		b.WriteString(sep + n.String())
	}
	b.WriteString(ending.Because(e.cause))
	if hint := e.Hint(); hint != "" {
		b.WriteString(" (hint: " + hint + ")")
	}
	return b.String()
}

// nounFor returns the noun for a name with this number of slots: 0 for a lock.
func nounFor(slots int) string {
	if slots > 0 {
		return "semaphore"
	}
	return "lock"
}

// unavailable returns the error of a call that did not get a quorum.
func (c *Client) unavailable(name string, slots int, nodes []NodeAnswer) *UnavailableError {
	e := &UnavailableError{Name: name, Slots: slots, Nodes: nodes}
	if slices.ContainsFunc(nodes, func(n NodeAnswer) bool { return n.Reason == ReasonMisconfigured }) {
		e.trust = c.trustCommand()
	}
	return e
}

// trustCommand returns the command that vouches for the nodes with this client's configuration. It does not contain the
// nodes' URLs, because these may contain users and passwords, which the client does not know.
func (c *Client) trustCommand() string {
	command := fmt.Sprintf("holdfast nodes trust --max-ttl %s --window %s --cluster %s", c.config.MaxTTL, c.config.Window, c.config.Cluster)
	if c.config.Durable {
		command += " --durable"
	}
	return command + " (with the same nodes)"
}

// Unwrap makes the error match ErrUnavailable. If the context ended the wait, the error also matches the context's Err
// and cause.
func (e *UnavailableError) Unwrap() []error { return ending.Facts(ErrUnavailable, e.cause) }

// ended returns the error of a wait that ctx ended. It has the evidence of the last attempt, and matches ending.Cause(ctx).
func ended(ctx context.Context, last error) error {
	cause := ending.Cause(ctx)
	var held *HeldError
	var un *UnavailableError
	switch {
	case errors.As(last, &held):
		e := *held
		e.cause = cause
		return &e
	case errors.As(last, &un):
		e := *un
		e.cause = cause
		return &e
	}
	return cause
}

// checkName returns the reason why name cannot be locked, or nil. The error matches ErrBadName.
func checkName(name string) error {
	if err := nodescript.CheckName(name); err != nil {
		return badName{err}
	}
	return nil
}

// badName has the whole text of the error. ErrBadName adds no words.
type badName struct{ error }

func (badName) Is(target error) bool { return target == ErrBadName }

// badTTL does the same as badName for ErrBadTTL.
type badTTL struct{ error }

func (badTTL) Is(target error) bool { return target == ErrBadTTL }

// Unwrap returns the [*ConfigError].
func (b badTTL) Unwrap() error { return b.error }
