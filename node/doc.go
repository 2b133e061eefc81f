// Package node is the boundary between Holdfast and a Redis client library: the
// [Node] interface, what goes in (a batch of script [Call]s) and what comes out
// (one [Reply] per call).
//
// A program seldom needs this package itself. It takes a driver:
//
//   - github.com/holdfast-go/holdfast/node/rueidisnode makes nodes from URLs;
//   - github.com/holdfast-go/holdfast/node/goredisnode makes one from a go-redis
//     client the program already has.
//
// A driver of your own implements [Node] and runs the suite of
// github.com/holdfast-go/holdfast/node/nodetest against a real server.
package node
