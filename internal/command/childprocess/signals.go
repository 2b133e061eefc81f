//go:build unix

package childprocess

import (
	"os"
	"syscall"
)

// Ending contains the signals that end a process that has no handler for them. These signals end a wait for the lock,
// and a command gets them.
var Ending = []os.Signal{
	syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2,
}

// JobControl contains the signals that stop and continue a process. A command gets them too.
var JobControl = []os.Signal{syscall.SIGTSTP, syscall.SIGCONT}
