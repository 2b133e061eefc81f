package main

import (
	"context"
	"fmt"
)

// system is one lock that takes part in the comparison.
type system struct {
	name     string // the name in flags, tables and keys
	title    string
	settings string // the differences from the library's defaults, with reasons
	rival    bool   // false: Holdfast or a limit
	limit    bool
	extra    bool // the system takes part only if -systems names it
	onlyOne  bool // it uses one node, and has no quorum
	hot      bool // it takes part in workloads with one name for all
	tokens   bool // it has fencing tokens, so the bench can measure its hand-offs

	// open connects to the nodes. Each worker process calls it once.
	open func(urls []string) (locker, error)
}

// locker is an open system. It is safe for concurrent use.
type locker interface {
	// lock waits for the lock; ctx bounds the wait. unlock returns only after the release, because that completes a
	// cycle.
	lock(ctx context.Context, name string) (unlock func() error, err error)
	close()
}

// driven is a locker that runs each slice with its own loop. Only the physical limits do that: see limit. They have no
// waiting goroutines.
type driven interface {
	locker
	drive(s slice) (outcome, error)
}

const (
	holdfastRueidis = "holdfast/rueidis"
	holdfastGoredis = "holdfast/go-redis"
	holdfastPrivate = "holdfast/private"
	holdfastReaders = "holdfast/readers"
	redsyncGoredis  = "redsync/go-redis"
	redsyncRueidis  = "redsync/rueidis"
	bsmRedislock    = "redislock"
	rueidisLock     = "rueidislock"
	limitBare       = "limit/bare"
	limitScripts    = "limit/scripts"
	limitTogether   = "limit/together"
)

var systems = []*system{
	{name: holdfastRueidis, title: "Holdfast, rueidis", hot: true, tokens: true, open: openHoldfast(false, rueidisNodes),
		settings: "defaults: TTL 10 s, W 250 ms, plain Redlock key kept; automatic renewal, fencing tokens; two or three connections per node"},
	{name: holdfastGoredis, title: "Holdfast, go-redis", hot: true, tokens: true, open: openHoldfast(false, goredisNodes),
		settings: "as above, on a go-redis client with its defaults"},
	{name: holdfastPrivate, title: "Holdfast Private, rueidis", open: openHoldfast(true, rueidisNodes),
		settings: "Config.Private: no plain key, so other libraries do not see the locks"},
	{name: holdfastReaders, title: "Holdfast, readers", extra: true, hot: true, open: openReaders,
		settings: "as Holdfast with rueidis, but RLock in place of Lock"},
	{name: redsyncGoredis, title: "redsync v4, go-redis", rival: true, hot: true, open: openRedsync(goredisPool),
		settings: "the README's: one go-redis client per node, its defaults (10 connections per CPU), redsync's defaults (expiry 8 s, 32 tries 50–250 ms apart); no renewal; Lock is called again after 32 tries"},
	{name: redsyncRueidis, title: "redsync v4, rueidis", rival: true, hot: true, open: openRedsync(rueidisPool),
		settings: "as above over rueidis' compatibility adapter, rueidis' defaults (automatic pipelining)"},
	{name: bsmRedislock, title: "bsm/redislock", rival: true, hot: true, onlyOne: true, open: openRedislock,
		settings: "one go-redis client, its defaults; TTL 10 s; no renewal; hot name: ExponentialBackoff(16 ms, 128 ms), 16 ms being the least its documentation recommends"},
	{name: rueidisLock, title: "rueidislock", rival: true, hot: true, onlyOne: true, open: openRueidislock,
		settings: "the README's for one server: KeyMajority 1, NoLoopTracking on (its better setting from Redis 7.0.5 on); TryNextAfter 500 ms instead of 20 ms, without which a slow moment makes it wait for ever; automatic renewal; validity 5 s by default"},
	{name: limitBare, title: "limit (a): bare SET NX PX", limit: true, open: openBare,
		settings: "SET NX PX and compare-and-delete by EVALSHA, hand-written RESP on one pipelining connection per node; majority of nodes; no renewal, no token"},
	{name: limitScripts, title: "limit (b): Holdfast's scripts", limit: true, open: openScripts,
		settings: "Holdfast's acquire and release scripts with the plain key, sent as limit (a): one call for each lock"},
	{name: limitTogether, title: "limit (c): together", limit: true, open: openTogether,
		settings: "as (b), but what there is to say to a node at a time is said in one call of each script, as Holdfast does"},
	{name: "redsync/go-redis+failfast", title: "redsync v4, go-redis, FailFast", rival: true, extra: true, hot: true, open: openRedsync(goredisPool, failFast),
		settings: "WithFailFast(true): returns with the majority"},
	{name: "redsync/rueidis+failfast", title: "redsync v4, rueidis, FailFast", rival: true, extra: true, hot: true, open: openRedsync(rueidisPool, failFast),
		settings: "WithFailFast(true): returns with the majority"},
}

func systemNamed(name string) (*system, error) {
	for _, s := range systems {
		if s.name == name {
			return s, nil
		}
	}
	return nil, fmt.Errorf("no system is called %q; see: bench settings", name)
}
