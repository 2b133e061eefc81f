// Package async runs functions that may block, where no caller waits for them. An example is writing a line to a
// terminal that somebody has stopped.
//
// A lock depends on its deadlines. A goroutine that must keep a deadline, or end a process by it, gives its output to a
// [Queue]. The queue runs the functions in order, on a goroutine that exists only while there is work. A queue also
// calls the logger behind a [Handler].
package async
