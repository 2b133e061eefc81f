// Package driver is what the drivers share, so that they agree: how a node is named,
// what the end of a context looks like, and how messages reach a listener.
package driver
