//go:build linux

package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// system is a lock on a cluster, as one process uses it. It is safe for concurrent use.
type system interface {
	// Lock waits for the lock of a name; ctx bounds the wait.
	//
	// The context hold lasts as long as the holder may rely on the lock: it ends when the library says that the lock is
	// lost. Its deadline, if it has one, is the instant until which the holder may rely on the lock without further news.
	// A renewal may move it. The token is 0 if the lock has none.
	Lock(ctx context.Context, name string) (hold context.Context, token int64, unlock func(context.Context) error, err error)
	Close()
}

// kind says how a process opens a system, and what a run demands of it.
type kind struct {
	open func(role) (system, error)
	// promises reports whether a run fails for an overlap, a token out of order or a lost increment.
	promises bool
	renews   bool // some holds last longer than a TTL
	java     bool // it runs Java
}

// systems are the locks that can take part, by the name of -cluster.system.
var systems = map[string]kind{
	"holdfast":        {open: openHoldfast, promises: true, renews: true},
	"redsync":         {open: openRedsync},
	"redislock":       {open: openRedislock},
	"redisson":        {open: openRedisson, renews: true, java: true},
	"redisson-fenced": {open: openRedissonFenced, renews: true, java: true},
	"none":            {open: openNone},
}

func systemNamed(name string) (kind, error) {
	k, ok := systems[name]
	if !ok {
		return kind{}, fmt.Errorf("no system is called %q; there are: %s", name, strings.Join(slices.Sorted(maps.Keys(systems)), ", "))
	}
	return k, nil
}

// until returns a hold that ends at a deadline.
func until(at time.Time) (context.Context, context.CancelFunc) {
	return context.WithDeadline(context.Background(), at)
}

// none grants every lock to everybody at once. A run that finds no overlap of it cannot find any.
type none struct{}

func openNone(role) (system, error) { return none{}, nil }

func (none) Lock(context.Context, string) (context.Context, int64, func(context.Context) error, error) {
	return context.Background(), 0, func(context.Context) error { return nil }, nil
}

func (none) Close() {}
