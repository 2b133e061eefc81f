package rueidisnode

import (
	"context"
	"time"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/internal/driver"
)

// link is one connection for calls: a rueidis client that cannot dial again. Only one call at a time uses a link. In
// this case rueidis starts no goroutines: it writes and reads in the goroutine of the caller. With rueidis's own
// pipelining, each call would have to wait for two other goroutines, one that writes and one that reads.
//
// The node closes only the connection and never the client. The Close of a rueidis client would start goroutines and
// wait for them.
type link struct {
	client rueidis.Client
	wire   *wire
	reign  *driver.Reign // nil unless the master may change
	giveUp func()        // the method value wire.giveUp, so that it is allocated only once

	// The mutex of the pool guards these fields.
	quiet  int       // rounds of the pool's goroutine since the last call
	back   time.Time // time at which the last call ended
	pinged uint64    // the last round in which the link got a ping
}

// run makes a call. If ctx ends, the call ends, and the link must not be used again. Otherwise the next call could
// read the answer to the call that was given up.
func (l *link) run(ctx context.Context, b *batch) []rueidis.RedisResult {
	l.wire.until, _ = ctx.Deadline()
	l.wire.wrote = false
	l.wire.ledger.Ask(len(b.commands))
	var stop func() bool
	if ctx.Done() != nil {
		stop = context.AfterFunc(ctx, l.giveUp)
	}
	// rueidis does not get ctx: for a context that can be cancelled and has no deadline, it would start goroutines.
	// The wire ends the call when ctx ends.
	var results []rueidis.RedisResult
	if len(b.commands) == 1 {
		b.lone[0] = l.client.Do(context.Background(), b.commands[0])
		results = b.lone[:]
	} else {
		results = l.client.DoMulti(context.Background(), b.commands...)
	}
	if stop != nil && !stop() {
		l.drop() // giveUp has run or is running, so the wire is useless
	}
	return results
}

// late reports whether the time of the last call was over before any part of it was written.
func (l *link) late(r rueidis.RedisResult) bool {
	return !l.wire.wrote && node.Timeout(r.NonRedisError())
}

// drop closes the connection. If a call uses the link, the call fails.
func (l *link) drop() { _ = l.wire.Close() }

func (l *link) broken() bool { return l.wire.broken.Load() }
