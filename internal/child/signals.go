//go:build unix

package child

import (
	"os"
	"syscall"
)

// Ending are the signals that end a process that does nothing about them. They end a
// wait, and are forwarded to a command.
var Ending = []os.Signal{
	syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2,
}

// JobControl are the signals that stop and continue; they too are forwarded.
var JobControl = []os.Signal{syscall.SIGTSTP, syscall.SIGCONT}
