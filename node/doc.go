// Package node is the boundary between Holdfast and a Redis client library. It defines the [Node] interface, its input
// (a batch of script [Call]s) and its output (one [Reply] per call).
//
// A program seldom uses this package directly. It takes a driver:
//
//   - github.com/holdfast-go/holdfast/node/rueidisnode makes nodes from URLs;
//   - github.com/holdfast-go/holdfast/node/goredisnode makes a node from a go-redis client that the program already
//     has.
//
// A new driver implements [Node] and runs the test suite of github.com/holdfast-go/holdfast/node/nodetest against a
// real server.
package node
