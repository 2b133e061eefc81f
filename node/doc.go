// Package node is the boundary between Holdfast and a Redis client library. The interface [Node] is one Redis server.
// A Node gets a batch of script [Call]s, and returns one [Reply] per call.
//
// Most programs use this package only through a driver, which makes the nodes of a client:
//
//	nodes, err := rueidisnode.Open("redis://10.0.0.1", "redis://10.0.0.2", "redis://10.0.0.3")
//
// There are two drivers:
//
//   - github.com/holdfast-go/holdfast/node/rueidisnode makes nodes from URLs;
//   - github.com/holdfast-go/holdfast/node/goredisnode makes a node from a go-redis client that the program already
//     has.
//
// To write a new driver, implement [Node], and run the test suite of github.com/holdfast-go/holdfast/node/nodetest
// with it against a real server.
package node
