// Package aside does what may block, such as writing a line to a terminal that somebody
// has stopped, where nobody waits for it.
//
// A lock lives by its deadlines. Whoever has one to keep, or a process to end by then,
// hands a [Queue] what is to be said: it is done in order, by a goroutine that is there
// only while there is something to do. A logger behind [Handler] is called by it, too.
package aside
