//go:build unix

package childprocess

import (
	"os"
	"syscall"
)

// Ending has the signals that end a process without a handler for them. They end a wait, and a command gets them.
var Ending = []os.Signal{
	syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2,
}

// JobControl has the signals that stop and continue a process. A command gets them too.
var JobControl = []os.Signal{syscall.SIGTSTP, syscall.SIGCONT}
