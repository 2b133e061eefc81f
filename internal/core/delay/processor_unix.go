//go:build unix

package delay

import "golang.org/x/sys/unix"

// processorTime returns the time in nanoseconds for which threads of this process have had a processor.
func processorTime() int64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
