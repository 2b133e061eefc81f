// Package rueidisnode makes nodes from URLs. It uses the client library rueidis.
//
//	nodes, err := rueidisnode.Open("redis://10.0.0.1", "redis://10.0.0.2", "redis://10.0.0.3")
//
// URLs:
//
//	redis://[user:password@]host[:port][/db]     port 6379 and db 0 unless given
//	rediss://[user:password@]host[:port][/db]    over TLS, see [TLSConfig]
//	unix:///path/to/socket[?db=0]                user and password as above, or as
//	                                             parameters of these names
//
// valkey:// and valkeys:// mean the same as redis:// and rediss://.
//
// A password with one of the characters , / ? # @ : % must be percent-encoded. Errors
// never contain it.
//
// Nothing is dialled until the first call. A call has a connection to itself, on which
// it goes in one pipeline (Eval in two: the scripts that it loads follow the answer);
// calls made at the same time may reach the server in any order. So a node keeps as
// many connections as it has calls under way, two of a Client and at most eight, where
// further calls wait for one, and one more for each Listen. A connection is replaced
// when it broke, when its call was given up, and when it was idle and a ping stayed
// without answer. A call is given up when its context ends; one whose context has no
// deadline, after three seconds. Nothing is ever sent twice. A server that sends what
// is not the Redis protocol, what nobody asked for, strings of more than 8 MiB or
// answers of more than 16384 elements loses its connection.
//
// An ACL user needs: +hello +ping +evalsha +eval +script|load +multi +exec +select
// +subscribe, and what the scripts call.
package rueidisnode
