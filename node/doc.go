// Package node is the boundary between Holdfast and a Redis client library. The interface [Node] is one Redis server.
// A Node gets a batch of script [Call]s, and returns one [Reply] per call.
//
// Most programs use this package only through a driver, which makes nodes:
//
//   - github.com/holdfast-go/holdfast/node/rueidisnode makes nodes from URLs;
//   - github.com/holdfast-go/holdfast/node/goredisnode makes a node from a go-redis client that the program already
//     has.
//
// To write a new driver, implement [Node], and run the test suite of github.com/holdfast-go/holdfast/node/nodetest
// with it against a real server.
package node
