// Package goredisnode makes a node from a go-redis client that the program already has.
//
//	client := redis.NewClient(&redis.Options{Addr: "10.0.0.7:6379"})
//	n, err := goredisnode.New(client)
//
// The node does not use, change or close the client itself. New copies the client's options (address, credentials,
// TLS, dialer, OnConnect) into a new client. The following options are changed, because a lock must know which calls
// were sent, and when a call was given up:
//
//	MaxRetries, DialerRetries   off: only the caller knows whether a lost call may be repeated
//	ContextTimeoutEnabled       on: without it go-redis ignores deadlines
//	ReadTimeout, WriteTimeout,  none: the deadline of the call's context counts. A call without a deadline has 5 s.
//	PoolTimeout                 A connection waits 2 s longer for a late answer; then it is replaced
//	PoolSize                    2 × node.MaxCalls, with MinIdleConns 0: New does not use the network
//	Protocol                    2, without maintenance notifications and client caching
//	Limiter                     none; hooks (AddHook) are not copied either
//
// New refuses the clients of a Redis Cluster and of a Ring, because neither is a node. [NewCluster] takes the options of
// a cluster client in the same way, and makes a node for each shard. Only Dialer, TLSConfig and the credentials apply to
// the connections that ask for the topology, and OnConnect does not.
//
// A client made by redis.NewFailoverClient is a node whose master may change: see [Replicated] and [node.Replication].
// The node asks Sentinel for the master four times a second. All such clients have the same address, so [Open] accepts
// only one of them. Set holdfast.Config.Cluster if other clients of the set use rueidisnode.
//
// The node closes a connection if the server sends bytes that are not the Redis protocol, a string of more than 8
// MiB, or an answer of more than 16384 elements. Without this check, such an answer could end the process inside
// go-redis.
//
// Two simultaneous calls use two connections, so they may arrive in any order. An Eval that loads scripts uses one
// connection for all its commands, and sends the loads after the answer.
package goredisnode
