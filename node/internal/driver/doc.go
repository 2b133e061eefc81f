// Package driver contains the code that all drivers share, so that they behave in the same way: the name of a node,
// the error of an ended context, the limits of a server's answers, and the delivery of messages to a listener.
package driver
