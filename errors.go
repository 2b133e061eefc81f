package holdfast

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/answers"
	"github.com/holdfast-go/holdfast/internal/core/ending"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/printable"
	"github.com/holdfast-go/holdfast/internal/core/renewal"
	"github.com/holdfast-go/holdfast/verdict"
)

// Each of these errors states one fact. Check for it with [errors.Is]. Where a comment names evidence, [errors.As]
// finds a type with the details.
var (
	// ErrHeld means that somebody else has the lock. Try later. Evidence: [*HeldError].
	ErrHeld = errors.New("held by another owner")

	// ErrLost means that the caller had the lock, and that somebody else may have it now. Stop writing at once.
	// Evidence: [*LostError].
	ErrLost = renewal.ErrLost

	// ErrHoldLimit means that the caller had the lock for as long as [WithMaxHold] or [Config.MaxHold] allows. The
	// error also matches ErrLost, because the work must stop in the same way. Evidence: [*LostError].
	ErrHoldLimit = errors.New("held for as long as is allowed")

	// ErrReleased means that the caller itself has released the lock.
	ErrReleased = renewal.ErrReleased

	// ErrUnavailable means that no majority of the nodes answered, so nobody knows whether the lock is free.
	// Evidence: [*UnavailableError].
	ErrUnavailable = renewal.ErrNoQuorum

	// ErrReentrant means that the caller itself holds this lock: its context belongs to a lease of the lock. The
	// option [Reentrant](false) forbids a second handle of this lease.
	ErrReentrant = errors.New("held by the caller itself, under the lease of its context; Reentrant(false) forbids to take it twice")

	// ErrUpgrade means that the caller wants the exclusive lock while it has the shared lock of this name: its
	// context belongs to a shared lease. If two readers did this, each of them would wait for ever for the other one
	// to release its share. Release the shared lock first, or take the exclusive lock from the start.
	ErrUpgrade = errors.New("held shared by the caller itself: a reader cannot become a writer; unlock first, or lock exclusively from the start")

	// ErrOrder means that another owner has a lock, and LockAll did not wait for this lock. The reason is that the
	// caller already holds a lock whose name sorts above it. If two callers waited in this way, each could wait for
	// ever for the lock of the other. The error also matches [ErrHeld]. Take all locks in one call, or take the lower
	// names first.
	ErrOrder = errors.New("not waited for, because the caller holds a lock whose name sorts above it")

	// ErrClosed means that the client is closed.
	ErrClosed = errors.New("client is closed")

	// ErrBadName means that no lock can have this name. The error contains the reason.
	ErrBadName = errors.New("bad name")

	// ErrBadTTL means that a lock of this client cannot have this TTL. The error names the bounds. Evidence:
	// [*ConfigError].
	ErrBadTTL = errors.New("bad TTL")
)

// HeldError names the holders of a lock, as far as the nodes know them. It matches [ErrHeld].
type HeldError struct {
	Name string // the name of the lock, without [Config.Prefix]

	// Slots is the number of slots that the caller gave for a semaphore. All of them are held. It is 0 for a lock.
	Slots int

	// Holders are the holders that the nodes named. An exclusive lock has one: the one that most nodes named. A
	// shared lock has up to ten. Holders is empty if nobody holds the lock, but several clients compete for it and
	// none has a majority.
	Holders []verdict.Holder

	// Readers is the number of readers that have the lock. It is 0 if nobody has it shared.
	Readers int

	// ExpiresIn is the time until the last holder's lease ends, if its holder does not renew it. It counts from the
	// making of this error. It is negative if the lock never ends. A plain key of another library without expiry is
	// such a lock.
	ExpiresIn time.Duration

	// Place is the place of a waiting Lock in the queue. 1 is the first place. 0 means that the call is not in the
	// queue, for example a TryLock. All goroutines of one client that wait for one name have one place together.
	Place int

	// Nodes has the answer of each node, in the order of [Config.Nodes].
	Nodes []verdict.Answer

	cause  error // why the wait ended: nil, or the result of ending.Cause
	handle bool  // another handle of the caller's own lease has the lock
}

// Holder returns the first of Holders. It returns a zero Holder if there is none.
func (e *HeldError) Holder() verdict.Holder { return firstOf(e.Holders) }

func (e *HeldError) Error() string {
	said := e.Said()
	if h := e.Holder(); h.Own && !h.Shared && !e.handle {
		said += " (a call with the context of its lease would share it)"
	}
	return fmt.Sprintf("%s %q: %s", nounFor(e.Slots), e.Name, said) + ending.Because(e.cause)
}

// Said returns the holder and the remaining time in words, such as "held by web-3/4711 for up to 8s".
func (e *HeldError) Said() string {
	if len(e.Holders) == 0 {
		return "others are taking it at this moment"
	}
	if e.handle {
		return "another handle of this lease has it (unlock that handle first, or use the context of that handle)"
	}
	held := "held by " + e.Holder().String()
	if e.Holder().Own {
		held = "held by this very client, " + e.Holder().String() + ","
	}
	if e.Holder().Shared {
		held = "held shared by " + strings.TrimPrefix(held, "held by ") + printable.Others(e.Readers-1)
	}
	if e.Slots > 1 {
		held = fmt.Sprintf("all %d slots are held, one of them ", e.Slots) + strings.TrimPrefix(held, "held ")
	}
	if e.ExpiresIn >= 0 {
		return held + " for up to " + printable.Duration(e.ExpiresIn)
	}
	if e.Holder().Owner == "" {
		held += ","
	}
	return held + " without expiry; it stays until somebody deletes it"
}

// Unwrap makes the error match ErrHeld. If a context ended the wait, the error also matches the Err and the cause of
// this context.
func (e *HeldError) Unwrap() []error { return ending.Facts(ErrHeld, e.cause) }

// UnavailableError says for each node why it did not contribute to a majority. It matches [ErrUnavailable].
type UnavailableError struct {
	Name  string           // the same as in a [HeldError]; "" if the call was about no lock
	Slots int              // the same as in a [HeldError]
	Nodes []verdict.Answer // in the order of [Config.Nodes]

	cause error
	trust string // command that gives this client's configuration to the nodes; "" if that is not needed or not known

	outage bool // a call without WaitThroughOutages waited, and has given up
}

// Hint returns advice for a person that the texts of the answers do not give, or "": see [verdict.Hint]. The text of
// Error contains the hint. It also names the option [WaitThroughOutages] if a call gave up that would wait with it.
func (e *UnavailableError) Hint() string {
	hint := verdict.Hint(e.Nodes)
	if hint != "" && e.trust != "" {
		hint += ", in short: when all clients have stopped and no lock is alive, " + e.trust
	}
	return hint
}

func (e *UnavailableError) Error() string {
	var b strings.Builder
	if e.Name != "" {
		fmt.Fprintf(&b, "%s %q: ", nounFor(e.Slots), e.Name)
	}
	b.WriteString(answers.NoQuorum(e.Nodes))
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
	// An operator must repair a node that answers and does not vote. Waiting helps only if a node does not answer.
	if e.outage && e.cause == nil && slices.ContainsFunc(e.Nodes, func(n verdict.Answer) bool { return !n.Reachable() }) {
		b.WriteString(" (waiting ended; with the option holdfast.WaitThroughOutages it continues)")
	}
	return b.String()
}

// nounFor returns the noun for a lock (slots is 0) or a semaphore.
func nounFor(slots int) string {
	if slots > 0 {
		return "semaphore"
	}
	return "lock"
}

// unavailable returns the error of a call that did not get a majority.
func (c *Client) unavailable(name string, slots int, nodes []verdict.Answer) *UnavailableError {
	e := &UnavailableError{Name: name, Slots: slots, Nodes: nodes}
	if slices.ContainsFunc(nodes, func(n verdict.Answer) bool { return n.Reason == verdict.ReasonMisconfigured }) {
		e.trust = c.trustCommand(c.config.Prefix + name)
	}
	return e
}

// trustCommand returns the command that gives this client's configuration to the nodes of a name. It leaves out the
// nodes' URLs: they may contain passwords, and the client does not know these.
func (c *Client) trustCommand(name string) string {
	cluster := c.config.Cluster
	if n := c.sets.fixed; n > 0 {
		cluster = label(cluster, setOf(name, n), n)
	}
	command := fmt.Sprintf("holdfast nodes trust --max-ttl %s --window %s --cluster %s", c.config.MaxTTL, c.config.Window, cluster)
	if c.config.Durable {
		command += " --durable"
	}
	return command + " (with the same nodes)"
}

// Unwrap makes the error match ErrUnavailable. If a context ended the wait, the error also matches the Err and the
// cause of this context.
func (e *UnavailableError) Unwrap() []error { return ending.Facts(ErrUnavailable, e.cause) }

// ended returns the error of a wait that the end of ctx stopped. It has the node answers of last, the error of the
// last attempt, and it matches the Err and the cause of ctx.
func ended(ctx context.Context, last error) error {
	cause := ending.Cause(ctx)
	return cmp.Or(
		ending.Changed(last, func(e *HeldError) { e.cause = cause }),
		ending.Changed(last, func(e *UnavailableError) { e.cause = cause }),
		cause)
}

// checkName returns the reason why name cannot be locked, or nil. The error matches ErrBadName.
func checkName(name string) error {
	if err := nodescript.CheckName(name); err != nil {
		return badName{err}
	}
	return nil
}

// badName is an error that matches ErrBadName. Wrapping ErrBadName would add its words to the text.
type badName struct{ error }

func (badName) Is(target error) bool { return target == ErrBadName }

// badTTL is an error that matches ErrBadTTL, in the same way as badName.
type badTTL struct{ error }

func (badTTL) Is(target error) bool { return target == ErrBadTTL }

// Unwrap returns the [*ConfigError].
func (b badTTL) Unwrap() error { return b.error }

// firstOf returns the first holder, or a zero Holder if there is none.
func firstOf(all []verdict.Holder) verdict.Holder {
	if len(all) == 0 {
		return verdict.Holder{}
	}
	return all[0]
}
