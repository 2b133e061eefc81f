// Package async runs functions that may block, on a goroutine for which no caller waits. For example, a write to a
// terminal blocks while somebody has stopped the terminal.
//
// A goroutine that must keep the deadline of a lock must not block. So it gives its output to a [Queue]. The queue
// runs the functions in order. Its goroutine exists only while there is work. A [Handler] does the same for a logger.
package async
