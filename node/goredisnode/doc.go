// Package goredisnode makes a node of a go-redis client the program already has.
//
//	client := redis.NewClient(&redis.Options{Addr: "10.0.0.7:6379"})
//	n, err := goredisnode.New(client)
//
// The client itself is not used, changed or closed: New copies its options (address,
// credentials, TLS, dialer, OnConnect) into a client of its own. Some of them must
// differ, because a lock has to know what was sent and when it gave up:
//
//	MaxRetries, DialerRetries   off: a lost call is repeated by who knows what it meant
//	ContextTimeoutEnabled       on: go-redis ignores deadlines without it
//	ReadTimeout, WriteTimeout,  none: the deadline of the call's context counts. A call without one has 5 s.
//	PoolTimeout                 A connection waits 2 s longer for a late answer; then it is replaced
//	PoolSize                    16, and MinIdleConns 0: New does not use the network
//	Protocol                    2, without maintenance notifications and client caching
//	Limiter                     none; hooks (AddHook) are not copied either
//
// A Redis Cluster is no node, nor is a Ring: their clients are refused. A client made
// by redis.NewFailoverClient works and follows Sentinel to the current master; but
// after a failover that master may have forgotten locks, so a replicated set is not
// promised to be a node. All such clients have the same address, so [Open] takes one
// at most.
//
// A server that sends what is not the Redis protocol, strings of more than 8 MiB or answers
// of more than 16384 elements loses its connection: go-redis would end the process.
//
// Two calls at a time use two connections, so nothing is said about their order. An Eval that loads scripts has one
// connection for all of it; the scripts follow the answer.
package goredisnode
