//go:build unix

package childprocess

import (
	"os"
	"syscall"
)

// Ending contains the signals that end a process without a handler for them. Holdfast catches them: they end a wait
// for the lock, and while a command runs, the command gets them.
var Ending = []os.Signal{
	syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2,
}

// JobControl contains the signals that stop and continue a process. A command gets them, too.
var JobControl = []os.Signal{syscall.SIGTSTP, syscall.SIGCONT}
