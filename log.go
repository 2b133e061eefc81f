package holdfast

import (
	"context"
	"log/slog"
	"runtime"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/events"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

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
	n := c.said.Of(e.Node, e.Answer, e.Offset)
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
