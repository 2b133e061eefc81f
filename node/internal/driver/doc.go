// Package driver contains the code that the drivers share, so that they behave alike. This is the name of a node, the
// error of an ended context, the limits of a server's answers, and the delivery of messages to a listener.
package driver
