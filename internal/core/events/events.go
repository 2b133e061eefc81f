// Package events is the one stream of what happens to locks and nodes. The logger and [holdfast.OnWait] listen to it.
// Metrics and tracing could do so, too.
package events

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// Kind is the kind of an event.
type Kind uint8

// Kinds. The comments name the fields that an event of the kind has.
const (
	Waiting     Kind = iota // an attempt of a waiting call failed: Name, Err
	Acquired                // a call got a lock: Name, Owner, Token, Took
	Renewed                 // a majority renewed a lease: Name, Owner, Token
	Lost                    // a lease is lost: Name, Owner, Token, Err
	Released                // its holder ended a lease: Name, Owner, Token
	Unconfirmed             // work under a lease is done, and too few nodes confirmed the release: Name
	Dropped                 // a lease became garbage without Unlock and stays held: Name, Owner, Token
	Forced                  // an operator ended the lease of an owner by this client: Name, Owner, Token
	NodeState               // a node stops or begins to vote, or does not vote for another reason: Node, Answer, Offset
	kinds
)

// Event is one fact.
type Event struct {
	Kind  Kind
	Name  string // the name of the lock, with Config.Prefix
	Owner string
	Token int64
	Took  time.Duration // from the call to the lock
	Err   error         // the public error

	Node   int               // index in the list of nodes
	Answer nodescript.Answer // Done if the node votes
	Offset time.Duration     // of the node's clock from the majority's; 0 if unknown
}

// Listener receives events. It must not keep e. It runs on the goroutine that found the fact, which may hold locks: it
// must not block, and must not call the client. Waiting is an exception: its listeners run between two attempts of the
// waiting call, without locks.
type Listener func(e *Event)

// Stream delivers events to listeners. Its zero value has none. A nil Stream delivers nothing. It is safe for
// concurrent use after the last call of On.
type Stream struct{ listeners [kinds][]Listener }

// On adds a listener for events of kind k. It must not be called after the first Emit.
func (s *Stream) On(k Kind, l Listener) { s.listeners[k] = append(s.listeners[k], l) }

// Wanted reports whether anybody listens for events of kind k. A caller need not build an event that nobody wants.
func (s *Stream) Wanted(k Kind) bool { return s != nil && len(s.listeners[k]) > 0 }

// Emit calls the listeners of e's kind, in the order in which they came.
func (s *Stream) Emit(e *Event) {
	if s == nil {
		return
	}
	for _, l := range s.listeners[e.Kind] {
		l(e)
	}
}
