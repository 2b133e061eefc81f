// Package rueidisnode makes nodes from URLs. It uses the client library rueidis.
//
//	nodes, err := rueidisnode.Open("redis://10.0.0.1", "redis://10.0.0.2", "redis://10.0.0.3")
//
// URLs:
//
//	redis://[user:password@]host[:port][/db]     port 6379 and db 0 by default
//	rediss://[user:password@]host[:port][/db]    over TLS; see below and [TLSConfig]
//	unix:///path/to/socket[?db=0]                user and password as above, or as
//	                                             the parameters user and password
//
//	redis+sentinel://[user:password@]host[:port],host[:port]/master[/db]
//	                                             the hosts are Sentinels, port 26379 by default;
//	                                             parameters sentinel-user and sentinel-password
//
// [NewCluster] makes a Redis Cluster, and each of its shards has a node:
//
//	redis+cluster://[user:password@]host[:port],host[:port]
//	                                             the hosts are some of the servers, port 6379 by default
//
// The last two forms declare that the master may change. rediss+sentinel:// and rediss+cluster:// use TLS. The parameter
// replicated=true of redis:// and rediss:// declares the same without Sentinel. wait=N and wait-timeout=100ms make the
// node wait for N replicas after each grant: see [Replicated] and [node.Replication].
//
// valkey:// and valkeys:// mean the same as redis:// and rediss://.
//
// Over TLS, cacert=FILE names the authorities of servers, and cert=FILE and key=FILE name the client's certificate and
// key, all in PEM. Without cacert the node accepts what the system accepts (SSL_CERT_FILE). New connections use files
// that have changed, except if one cannot be used: then they use its last good content.
//
// A password that contains one of the characters , / ? # @ : % must be percent-encoded. Errors never contain a
// password.
//
// # Connections
//
// A node connects at its first call. Each call has a connection for itself, and sends its commands in one pipeline.
// An Eval that loads scripts uses two pipelines: it sends the loads after the answer. Calls that are made at the same
// time may reach the server in any order.
//
// So the number of connections grows to the number of simultaneous calls: usually two or three for a Client, and at
// most [node.MaxCalls]. Further calls wait for a connection. Each Listen has one more connection.
//
// The node replaces a connection in three cases: it broke, its call was given up, or it was idle and a ping on it was
// not answered. A call is given up when its context ends. If the context has no deadline, each pipeline of the call
// is given up after three seconds. The node never sends a command twice.
//
// The node closes a connection if the server sends one of these:
//
//   - bytes that are not the Redis protocol, or an answer to no command
//   - a string of more than 8 MiB
//   - an answer of more than 16384 elements
//
// # Rights
//
// An ACL user needs +ping +select +client|setname +eval +evalsha +script|load +subscribe, and each command that the
// scripts call. holdfast acl prints the whole list. A durable node set also needs +config|get, and a cluster
// +cluster|nodes.
package rueidisnode
