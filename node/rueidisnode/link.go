package rueidisnode

import (
	"context"
	"time"

	"github.com/redis/rueidis"
)

// link is one connection for calls, as a rueidis client of its own that cannot dial.
// One call at a time has it to itself: then rueidis has no goroutines, and writes and
// reads on the caller's. Its own pipelining costs each call the way to a writing
// goroutine and back from a reading one.
//
// The client is never closed, only its connection: Close would start what it then
// waits for.
type link struct {
	client rueidis.Client
	wire   *wire
	giveUp func() // wire.giveUp, made once

	// The pool's, guarded by its mutex.
	quiet  int       // rounds of the pool since the last call
	back   time.Time // from the last call
	pinged uint64    // the last round in which it was pinged
}

// run makes a call; ctx ends it, and the link with it. A link that broke must not be
// used again: answers to the call that was given up would be taken for the next one's.
func (l *link) run(ctx context.Context, b *batch) []rueidis.RedisResult {
	l.wire.until, _ = ctx.Deadline()
	l.wire.ledger.Ask(len(b.commands))
	var stop func() bool
	if ctx.Done() != nil {
		stop = context.AfterFunc(ctx, l.giveUp)
	}
	// rueidis gets no context: for one that can be cancelled and has no deadline it
	// would start its goroutines. The wire ends the call.
	var results []rueidis.RedisResult
	if len(b.commands) == 1 {
		b.lone[0] = l.client.Do(context.Background(), b.commands[0])
		results = b.lone[:]
	} else {
		results = l.client.DoMulti(context.Background(), b.commands...)
	}
	if stop != nil && !stop() {
		l.drop() // giveUp is about to make the wire useless, if it has not yet
	}
	return results
}

// drop closes the connection; a call in flight fails.
func (l *link) drop() { _ = l.wire.Close() }

func (l *link) broken() bool { return l.wire.broken.Load() }
