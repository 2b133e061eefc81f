// Package check runs the adapters for schedulers with the real libraries: three or twenty real processes, whose clocks
// differ, on real servers. The test binary starts again as the processes of the fleet. They write a line to one file at
// the begin and at the end of each run, and for each run that was refused.
//
// The control is the same fleet with a locker on redsync, which has no ticks. The adapters also run without one safety
// mechanism at a time; a named test must then fail.
package check
