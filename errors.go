package holdfast

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/nodescript"
	"github.com/holdfast-go/holdfast/internal/renewal"
)

// Facts. Every method that meets one of them returns an error that matches it
// with [errors.Is]; the evidence is in a type of its own, see [errors.As].
var (
	// ErrHeld: somebody else has it. Try later. Evidence: [*HeldError].
	ErrHeld = errors.New("held by another owner")

	// ErrLost: it was mine and may now be somebody else's. Stop writing, at once.
	// Evidence: [*LostError].
	ErrLost = renewal.ErrLost

	// ErrReleased: I gave it back myself.
	ErrReleased = renewal.ErrReleased

	// ErrUnavailable: no quorum of the nodes answered, so nothing is known.
	// Evidence: [*UnavailableError].
	ErrUnavailable = renewal.ErrNoQuorum

	// ErrReentrant: the caller holds this lock itself, by the lease whose context it gave. Use that lease,
	// or a context that is not of it.
	ErrReentrant = errors.New("held by the caller itself, under the lease of its context; a lock cannot be taken twice")

	// ErrClosed: the client was closed.
	ErrClosed = errors.New("client is closed")

	// ErrBadName: nothing can be locked under this name, now or later; the error says why.
	ErrBadName = errors.New("bad name")

	// ErrBadTTL: no lock of this client can have this TTL; the error names the bounds. Evidence: [*ConfigError].
	ErrBadTTL = errors.New("bad TTL")
)

// HeldError says who has a lock, as far as the nodes told. It matches [ErrHeld].
type HeldError struct {
	Name string

	// Owner is the holder that most nodes named: "label~client~random" for a client
	// of Holdfast, with "~left" behind it if Left; any value at all where Foreign. Empty
	// where nobody holds the lock and several clients took votes from each other, and
	// for a foreign key that is no string or is empty.
	Owner string

	// Left is true if the holder has ended its lease and keeps the name taken: by
	// [Lease.UnlockAt], or in a gap of [Config.PollGap]. The lock is then not renewed.
	Left bool

	// ExpiresIn is when the holder's lease ends if it is not renewed, counted from when
	// the error was made; negative if it never does (a foreign key without expiry).
	ExpiresIn time.Duration

	// Foreign is true where the holder is not a client of Holdfast: a value under
	// the plain key that another Redlock library, or a person, set.
	Foreign bool

	// Place is where a waiting Lock stands in line: 1 is next. Several goroutines of one
	// client that wait for one name stand behind each other, with one place among the
	// clients. 0: not in line, as TryLock is.
	Place int

	// Nodes is what each node said, in the order of [Config.Nodes].
	Nodes []NodeAnswer

	cause error // why the wait for it ended: nil, or causeOf
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("lock %q: %s", e.Name, e.Said()) + because(e.cause)
}

// Unwrap makes the error match ErrHeld and, where a wait was ended by its context,
// the context's Err and cause.
func (e *HeldError) Unwrap() []error { return facts(ErrHeld, e.cause) }

// UnavailableError says why no quorum could be had, one reason per node. It matches
// [ErrUnavailable].
type UnavailableError struct {
	Name  string
	Nodes []NodeAnswer // in the order of [Config.Nodes]

	cause error
	trust string // the command that makes the client's configuration the nodes'; "" if that is not known
}

func (e *UnavailableError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "lock %q: no quorum of %d node", e.Name, len(e.Nodes))
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
	b.WriteString(because(e.cause))
	if hint := e.Hint(); hint != "" {
		b.WriteString(" (hint: " + hint + ")")
	}
	return b.String()
}

// Hint says what a person can do, where the answers of the nodes do not: how to shorten a quarantine, and what a
// configuration is. Error contains it. "" for any other answers.
func (e *UnavailableError) Hint() string {
	var longest time.Duration
	shorter := false // if an operator vouches
	for _, n := range e.Nodes {
		if n.Reason == ReasonMisconfigured {
			hint := "the number of nodes, MaxTTL, Window, Durable and Cluster must be the same for all clients of these nodes; " +
				"another database of the same servers is another node set; docs/operating.md says how to change them"
			if e.trust != "" {
				hint += ", in short: when all clients have stopped and no lock is alive, " + e.trust
			}
			return hint
		}
		longest = max(longest, n.VotesIn)
		shorter = shorter || n.VotesIn > 0 && n.Cause != CausePlace
	}
	switch {
	case longest == 0:
		return ""
	case !shorter:
		return "these nodes vote within " + forPeople(longest) + ": Lock waits for that, and nothing shortens it"
	}
	return "these nodes vote within " + forPeople(longest) + ": Lock waits for that; where it is certain that no lock is alive on them, " +
		"as when they are new, holdfast nodes trust or Client.Trust shortens it"
}

// Unwrap makes the error match ErrUnavailable and, where a wait was ended by its
// context, the context's Err and cause.
func (e *UnavailableError) Unwrap() []error { return facts(ErrUnavailable, e.cause) }

func because(cause error) string {
	if cause == nil {
		return ""
	}
	return " (waiting ended: " + cause.Error() + ")"
}

func facts(fact, cause error) []error {
	if cause == nil {
		return []error{fact}
	}
	return []error{fact, cause}
}

// ended is the error of a wait that ctx ended: it keeps the evidence of the last
// attempt and matches causeOf(ctx).
func ended(ctx context.Context, last error) error {
	cause := causeOf(ctx)
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

// causeOf is why ctx ended. It reads as its cause, and matches its Err, too: who looks
// for context.Canceled does not know what cause another gave.
func causeOf(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return contextError{err: err, cause: cause}
}

type contextError struct{ err, cause error }

func (e contextError) Error() string   { return e.cause.Error() }
func (e contextError) Unwrap() []error { return []error{e.err, e.cause} }

// checkName returns why name cannot be locked, an error that matches ErrBadName, or nil.
func checkName(name string) error {
	if err := nodescript.CheckName(name); err != nil {
		return badName{err}
	}
	return nil
}

// badName says all that there is to say: ErrBadName adds no words.
type badName struct{ error }

func (badName) Is(target error) bool { return target == ErrBadName }

// badTTL is the same for ErrBadTTL.
type badTTL struct{ error }

func (badTTL) Is(target error) bool { return target == ErrBadTTL }

// Unwrap returns the [*ConfigError].
func (b badTTL) Unwrap() error { return b.error }
