package rueidisnode

import (
	"context"
	"time"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast/node/internal/driver"
)

// link is one connection for calls. It is a rueidis client that cannot dial again. Only one call at a time uses it.
// Then rueidis starts no goroutines: it writes and reads on the caller's goroutine. rueidis's own pipelining would cost
// each call a switch to a writing goroutine, and a switch back from a reading goroutine.
//
// The node closes only the connection, never the client, because the client's Close would start goroutines and then
// wait for them.
type link struct {
	client rueidis.Client
	wire   *wire
	reign  *driver.Reign // nil unless the master may change
	giveUp func()        // wire.giveUp as a value, which is allocated only once

	// The pool owns these fields, and its mutex guards them.
	quiet  int       // the number of rounds of the pool since the last call
	back   time.Time // when the last call ended
	pinged uint64    // the last round in which the link got a ping
}

// run makes a call. The end of ctx ends the call and the link. A link that broke must not be used again, because the
// next call would read the answers to the call that was given up.
func (l *link) run(ctx context.Context, b *batch) []rueidis.RedisResult {
	l.wire.until, _ = ctx.Deadline()
	l.wire.ledger.Ask(len(b.commands))
	var stop func() bool
	if ctx.Done() != nil {
		stop = context.AfterFunc(ctx, l.giveUp)
	}
	// rueidis gets no context here, because it would start its goroutines for a context that can be cancelled and has
	// no deadline. The wire ends the call instead.
	var results []rueidis.RedisResult
	if len(b.commands) == 1 {
		b.lone[0] = l.client.Do(context.Background(), b.commands[0])
		results = b.lone[:]
	} else {
		results = l.client.DoMulti(context.Background(), b.commands...)
	}
	if stop != nil && !stop() {
		l.drop() // giveUp has made the wire useless, or does so at this moment
	}
	return results
}

// drop closes the connection. A running call then fails.
func (l *link) drop() { _ = l.wire.Close() }

func (l *link) broken() bool { return l.wire.broken.Load() }
