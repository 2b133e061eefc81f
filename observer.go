package holdfast

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/verdict"
)

// Observer receives the events of a client. Packages metrics/promholdfast and metrics/otelholdfast have observers for
// Prometheus and OpenTelemetry.
//
// A client without observers does no work for events. With an observer, each event costs the client's goroutine one
// place in a queue: it never waits for the observer. Each observer of each client has its own queue, and one goroutine
// that calls Observe, in the order of the events. On a busy client an event reaches the observer up to a millisecond
// later.
//
// If an observer is slow, up to 16,384 events wait for it, and the client drops later ones. The observer then receives
// [EventMissed], with the number of the dropped events, in their place. [Client.Stats] is right in that case, too.
type Observer struct {
	// Kinds are the kinds of events that the observer wants. Events of other kinds cost nothing. EventOpened,
	// EventClosed and EventMissed come in any case. Defaults to all kinds.
	Kinds []EventKind

	// Observe is called with each event. The event belongs to the observer. Observe may call the client, but not Close.
	// Nothing recovers a panic of Observe, so a panic ends the process.
	Observe func(*Event)
}

// EventKind is the kind of an [Event].
type EventKind uint8

// The kinds of events. Each comment names the fields that an event of the kind has, besides Kind, Client and Time.
//
// The end of a lease is one event: EventReleased or EventLost. A release has its result when a majority of the nodes
// has answered, or when all of them have answered or failed.
//
// A handle of a lease that the caller's context already has makes no events: see [Mutex.Lock]. Neither does a call that
// fails before it asks the nodes, such as a call for a bad name.
const (
	EventOpened      EventKind = iota // New made the client. It is the first event.
	EventWaiting                      // an attempt of a waiting call failed: Name, Err, as for [OnWait]
	EventAcquired                     // a call got a lock: Name, Lease, Owner, Fence, Context, Joined, Took
	EventRefused                      // a call got no lock: Name, Code, Err, Context, Took
	EventRenewed                      // a majority renewed a lease: Name, Lease, Owner, Fence, Margin
	EventReleased                     // a release has its result, and the lease was not lost: Name, Lease, Owner, Fence, Held
	EventLost                         // a lease was lost, or its release found that: Name, Lease, Owner, Fence, Held, Code, Err
	EventUnconfirmed                  // too few nodes confirmed a release after the work of Do: Name
	EventDropped                      // a lease became garbage without Unlock and stays held: Name, Owner, Fence
	EventForced                       // admin.Unlock of this client ended a lease: Name, Owner, Fence
	EventNode                         // a node stops or begins to vote, or has another reason not to vote: Node
	EventMissed                       // the observer was slow, and events were dropped: Missed
	EventClosed                       // Close of the client is nearly done. It is the last event.
	EventDelay                        // goroutines of this process run late: Delay; it comes once a second, and once with 0 at the end
	eventKinds
)

var kindWords = [eventKinds]string{
	"opened", "waiting", "acquired", "refused", "renewed", "released", "lost", "unconfirmed", "dropped", "forced", "node",
	"missed", "closed", "delay",
}

// String returns the kind as one lower-case word, such as "acquired", and "EventKind(99)" for a number that is no kind.
func (k EventKind) String() string {
	if k >= eventKinds {
		return fmt.Sprintf("EventKind(%d)", uint8(k))
	}
	return kindWords[k]
}

// Event is a fact about a lock, a lease or a node. A field that does not belong to the kind is zero.
type Event struct {
	Kind   EventKind
	Client *Client   // whose event it is
	Time   time.Time // of the fact, by this machine's clock

	Name  string // the name of the lock, without [Config.Prefix]
	Lease string // identifies the lease: the owner at its beginning
	Owner string // the present owner; a downgrade changes it
	Fence int64  // the fencing token

	// Context is the context of the call, for its values.
	Context context.Context

	// Joined is true if the caller shares the lease of other readers of this client. Lease is that lease.
	Joined bool

	Took   time.Duration // the time from the call to its end
	Held   time.Duration // the time from the beginning of the lease to its end
	Margin time.Duration // the time that was left until the deadline before the renewal

	Code EventCode // why the call got no lock, or the lease was lost
	Err  error     // the error of the call, or a [*LostError]

	Delay time.Duration // how long a goroutine of this process waited for a processor: see [Stats.Delay]

	Node   *verdict.Answer // the state of the node, nil for other kinds; VotesIn counts from Time
	Missed int             // the number of events
}

// EventCode is the reason of an event as a code. A code never changes.
type EventCode string

// Codes of [EventRefused].
const (
	CodeHeld        EventCode = "held"        // somebody else has the lock: [ErrHeld]
	CodeUnavailable EventCode = "unavailable" // too few nodes answered: [ErrUnavailable]
	CodeTimedOut    EventCode = "timed-out"   // the deadline of the caller's context passed
	CodeCancelled   EventCode = "cancelled"   // the caller's context was cancelled
	CodeClosed      EventCode = "closed"      // the client was closed: [ErrClosed]
	CodeOther       EventCode = "other"       // any other error
)

// Codes of [EventLost].
const (
	CodeDeadline EventCode = "deadline" // no majority renewed the lease before its deadline
	CodeTaken    EventCode = "taken"    // a majority did not have the lease any more, and another owner has the lock
	CodeGone     EventCode = "gone"     // a majority did not have the lease any more: it was deleted or forgotten
	CodeForced   EventCode = "forced"   // an operator took the lock away
	CodeMaxHold  EventCode = "max-hold" // the lock was held for as long as is allowed: [ErrHoldLimit]
)

// checkObservers returns the error of a bad observer, or nil.
func (c Config) checkObservers() error {
	for i, o := range c.Observers {
		if o.Observe == nil {
			return badField("Observers", "{Observers}[%d] has no Observe; set the function that receives the events, or leave the observer out", i)
		}
		if j := slices.IndexFunc(o.Kinds, func(k EventKind) bool { return k >= eventKinds }); j >= 0 {
			return badField("Observers", "{Observers}[%d].Kinds[%d] is %d; it must be one of the constants EventOpened (0) to EventDelay (%d)", i, j, o.Kinds[j], eventKinds-1)
		}
	}
	return nil
}
