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
// A password with one of the characters , / ? # @ : % must be percent-encoded. Errors
// never contain it.
//
// Nothing is dialled until the first call. A node keeps one connection, on which all
// its calls are pipelined in the order they were made, and one more for each Listen.
// A connection that broke, or that answered nothing for about three seconds, is
// replaced by the next call. Nothing is ever sent twice.
//
// An ACL user needs: +hello +ping +evalsha +eval +script|load +multi +exec +select
// +subscribe, and what the scripts call.
package rueidisnode
