package holdfast

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/answers"
	"github.com/holdfast-go/holdfast/internal/core/async"
	"github.com/holdfast-go/holdfast/internal/core/events"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// mostEvents is the number of events that wait for a slow observer.
const mostEvents = 16384

// eventQueue has the events that wait for one observer.
type eventQueue = async.Mailbox[*Event]

// observe subscribes [Config.Observers] to the stream of events.
func (c *Client) observe() {
	for _, o := range c.config.Observers {
		box := async.NewMailbox(mostEvents, o.Observe, func(n int) *Event {
			return &Event{Kind: EventMissed, Client: c, Time: time.Now(), Missed: n}
		})
		c.observers = append(c.observers, box)
		for kind, k := range streamed {
			if len(o.Kinds) > 0 && !slices.Contains(o.Kinds, kind) {
				continue
			}
			c.events.Timed = c.events.Timed || kind == EventReleased || kind == EventLost
			c.events.On(k, func(e *events.Event) { box.Put(c.public(kind, e)) })
		}
	}
}

// openObservers sends the first event, when the client is complete: an observer may call it.
func (c *Client) openObservers() {
	for _, box := range c.observers {
		box.Put(c.event(EventOpened))
	}
}

// streamed has the kinds of the internal stream.
var streamed = map[EventKind]events.Kind{
	EventWaiting: events.Waiting, EventAcquired: events.Acquired, EventRefused: events.Refused,
	EventRenewed: events.Renewed, EventReleased: events.Released, EventLost: events.Lost,
	EventUnconfirmed: events.Unconfirmed, EventDropped: events.Dropped, EventForced: events.Forced,
	EventNode: events.NodeState, EventDelay: events.Delayed,
}

func (c *Client) event(kind EventKind) *Event { return &Event{Kind: kind, Client: c, Time: time.Now()} }

// public returns the public form of an event. Its caller may hold locks, so public formats no text.
func (c *Client) public(kind EventKind, from *events.Event) *Event {
	e := c.event(kind)
	e.Lease, e.Owner, e.Fence = from.Lease, from.Owner, from.Token
	e.Context, e.Joined, e.Took, e.Held, e.Margin, e.Err = from.Context, from.Joined, from.Took, from.Held, from.Left, from.Err
	switch kind {
	case EventDelay:
		e.Took, e.Delay = 0, from.Took
		return e
	case EventNode:
		vote := answers.Vote(c.sets.at(from.Set).said.Of(from.Node, from.Answer, from.Offset))
		e.Node = &vote
		return e
	case EventRefused:
		e.Code = refusalCode(from.Err)
	case EventLost:
		e.Code = lossCode(from.Err)
	}
	e.Name = c.unprefixed(from.Name)
	return e
}

// closeObservers sends the last event, and waits for slow observers until the deadline.
func (c *Client) closeObservers(by time.Time) {
	for _, box := range c.observers {
		box.PutLast(c.event(EventClosed)) // an observer that misses it would ask a closed client for ever
	}
	for _, box := range c.observers {
		box.Wait(time.Until(by))
	}
}

// refusalCode returns the code of a call's error. If a context ended the wait, the error also matches ErrHeld or
// ErrUnavailable. So the end of the context is checked first.
func refusalCode(err error) EventCode {
	for _, is := range []struct {
		fact error
		code EventCode
	}{
		{ErrClosed, CodeClosed}, {context.DeadlineExceeded, CodeTimedOut}, {context.Canceled, CodeCancelled},
		{ErrHeld, CodeHeld}, {ErrUnavailable, CodeUnavailable},
	} {
		if errors.Is(err, is.fact) {
			return is.code
		}
	}
	return CodeOther
}

func lossCode(err error) EventCode {
	var lost *LostError
	switch {
	case errors.Is(err, ErrHoldLimit):
		return CodeMaxHold
	case !errors.As(err, &lost) || !lost.Gone:
		return CodeDeadline
	case lost.Forced:
		return CodeForced
	case lost.Owner != "":
		return CodeTaken
	}
	return CodeGone
}

// logs makes [Config.Logger] receive the events that no error reports.
func (c *Client) logs() {
	log := c.config.Logger
	c.events.On(events.NodeState, c.logNode)
	c.events.On(events.Lost, func(e *events.Event) {
		// Format the text in the log's goroutine. Thousands of leases may be lost at the same time. If each loss
		// formatted its text here, the last lease would be announced too late.
		name, owner, token, err := c.unprefixed(e.Name), e.Owner, e.Token, e.Err
		c.log.Do(func() {
			why := err.Error()
			if lost, ok := err.(*LostError); ok {
				why = lost.why()
			}
			log.Warn("lock lost", "name", name, "owner", owner, "token", token, "why", why)
		})
	})
	var logged time.Time // of the last message about a delay; only the pulse of the keeper emits these events
	c.events.On(events.Delayed, func(e *events.Event) {
		// The leases of a process that is late by a window can be lost, so people must know. Once a minute is enough.
		if e.Took >= c.config.Window && time.Since(logged) >= time.Minute {
			logged = time.Now()
			log.Warn("this process is busy: its goroutines run late, so leases may be lost, and Done of their contexts is late",
				"delay", e.Took.Round(time.Millisecond), "GOMAXPROCS", runtime.GOMAXPROCS(0))
		}
	})
	c.events.On(events.Unconfirmed, func(e *events.Event) {
		log.Warn("lock not given back on a majority; it ends with its TTL", "name", c.unprefixed(e.Name))
	})
	c.events.On(events.Forced, func(e *events.Event) {
		log.Warn("lock taken away by an operator", "name", c.unprefixed(e.Name), "owner", e.Owner, "token", e.Token, "by", c.config.Label)
	})
	c.events.On(events.Dropped, func(e *events.Event) {
		log.Warn("a lease was dropped without Unlock; it stays held and is renewed until the client is closed",
			"name", c.unprefixed(e.Name), "owner", e.Owner, "token", e.Token)
	})
}

// logNode logs that a node stops voting, that its reason changes, or that it votes again.
func (c *Client) logNode(e *events.Event) {
	n := c.sets.at(e.Set).said.Of(e.Node, e.Answer, e.Offset)
	level, message := slog.LevelWarn, "node does not vote"
	attrs := n.LogValue().Group()
	switch {
	case e.Answer.Verdict == nodescript.Done:
		level, message, attrs = slog.LevelInfo, "node votes again", []slog.Attr{slog.String("node", n.Node)}
	}
	c.config.Logger.LogAttrs(context.Background(), level, message, attrs...)
}

// unprefixed returns the name of a lock as callers know it, without [Config.Prefix].
func (c *Client) unprefixed(name string) string { return strings.TrimPrefix(name, c.config.Prefix) }
