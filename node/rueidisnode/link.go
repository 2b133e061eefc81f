package rueidisnode

import (
	"context"
	"time"

	"github.com/redis/rueidis"
)

// link is one connection for calls. It is a rueidis client that cannot dial again. One call at a time uses it. Then
// rueidis starts no goroutines: it writes and reads on the caller's. rueidis's own pipelining would cost each call a
// switch to a writing goroutine and back from a reading one.
//
// Only the connection is closed, never the client. Close would start goroutines and then wait for them.
type link struct {
	client rueidis.Client
	wire   *wire
	giveUp func() // wire.giveUp as a value, allocated once

	// Owned by the pool, guarded by its mutex.
	quiet  int       // rounds of the pool since the last call
	back   time.Time // when the last call ended
	pinged uint64    // the last round with a ping to it
}

// run makes a call. The end of ctx ends the call and the link. A link that broke must not be used again: the next call
// would read the answers to the call that was given up.
func (l *link) run(ctx context.Context, b *batch) []rueidis.RedisResult {
	l.wire.until, _ = ctx.Deadline()
	l.wire.ledger.Ask(len(b.commands))
	var stop func() bool
	if ctx.Done() != nil {
		stop = context.AfterFunc(ctx, l.giveUp)
	}
	// rueidis gets no context. It would start its goroutines for a context that can be cancelled and has no deadline.
	// The wire ends the call instead.
	var results []rueidis.RedisResult
	if len(b.commands) == 1 {
		b.lone[0] = l.client.Do(context.Background(), b.commands[0])
		results = b.lone[:]
	} else {
		results = l.client.DoMulti(context.Background(), b.commands...)
	}
	if stop != nil && !stop() {
		l.drop() // giveUp has made the wire useless, or does so now
	}
	return results
}

// drop closes the connection. A running call fails.
func (l *link) drop() { _ = l.wire.Close() }

func (l *link) broken() bool { return l.wire.broken.Load() }
