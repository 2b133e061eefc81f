// Package events is the stream of all events of locks and nodes. The logger, [holdfast.OnWait] and the observers of a
// client listen to it.
package events

import (
	"context"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// Kind is the kind of an event.
type Kind uint8

// These are the kinds. Each comment names the fields of Event that are set.
const (
	Waiting     Kind = iota // an attempt of a waiting call failed: Name, Err
	Acquired                // a call got a lock: Name, Owner, Token, Lease, Context, Joined, Took
	Refused                 // a call that asked the nodes did not get the lock: Name, Context, Took, Err
	Renewed                 // a majority renewed a lease: Name, Owner, Token, Lease, Left
	Lost                    // a lease is lost, or its release found that: Name, Owner, Token, Lease, Held, Err
	Released                // a release has its result, and the lease was not lost: Name, Owner, Token, Lease, Held
	Unconfirmed             // the work under a lease is done, but too few nodes confirmed the release: Name
	Dropped                 // the program lost its last reference to a lease without Unlock, and the lease stays held: Name, Owner, Token
	Forced                  // an operator used this client to end the lease of an owner: Name, Owner, Token
	NodeState               // a node starts or stops voting, or the reason why it does not vote has changed: Node, Answer, Offset
	Delayed                 // the goroutines of this process run late: Took; 0: no longer
	kinds
)

// Event is one event of a lock or a node.
type Event struct {
	Kind  Kind
	Name  string // the name of the lock, with Config.Prefix
	Owner string
	Token int64
	Lease string // the first owner of the lease; a downgrade does not change it

	Context context.Context // of the call
	Joined  bool            // the caller shares a lease that other readers of this client have
	Took    time.Duration   // the time from the call to its end
	Held    time.Duration   // the time from the grant of the lock to its end; 0 unless the stream is Timed
	Left    time.Duration   // the time from the renewal to the earlier deadline
	Err     error           // the error as users of the public package see it

	Set    int               // the index of the node set
	Node   int               // the index of the node in that set
	Answer nodescript.Answer // the verdict is Done if the node votes
	Offset time.Duration     // the difference between the node's clock and the majority's; 0 if unknown
}

// Listener receives events. It must not keep e. It runs on the goroutine that emits the event, and that goroutine may
// hold mutexes. So a Listener must not block, and must not call the client. Listeners of Waiting are an exception:
// they run between two attempts of the waiting call, without mutexes.
type Listener func(e *Event)

// Stream delivers events to listeners. The zero Stream has no listeners. A nil Stream delivers nothing. A Stream is
// safe for concurrent use after the last call of On.
type Stream struct {
	// Timed is true if a listener wants to know how long leases were held. It must not change after the first Emit.
	Timed bool

	listeners [kinds][]Listener
}

// On adds a listener for events of kind k. Do not call On after the first Emit.
func (s *Stream) On(k Kind, l Listener) { s.listeners[k] = append(s.listeners[k], l) }

// Wanted reports whether events of kind k have a listener. If not, the caller need not make the event.
func (s *Stream) Wanted(k Kind) bool { return s != nil && len(s.listeners[k]) > 0 }

// pool has events that no listener has any more.
var pool = sync.Pool{New: func() any { return new(Event) }}

// Emit calls the listeners for e.Kind, in the order in which On added them.
func (s *Stream) Emit(e Event) {
	if !s.Wanted(e.Kind) {
		return
	}
	p := pool.Get().(*Event)
	*p = e
	for _, l := range s.listeners[e.Kind] {
		l(p)
	}
	*p = Event{}
	pool.Put(p)
}
