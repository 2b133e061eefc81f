// Package parentdeath starts processes that die with their parent, also if the parent is killed or they are frozen. Only
// Linux can do that. Elsewhere such a process lives on.
package parentdeath

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// Start starts cmd. The kernel kills the process when this one ends.
func Start(cmd *exec.Cmd) error {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	Signal(cmd.SysProcAttr, syscall.SIGKILL)
	started := make(chan error)
	thread() <- func() { started <- cmd.Start() }
	return <-started
}

// thread runs functions on one operating system thread that never ends. The kernel sends the signal when the thread that
// started the process ends, and Go may end any thread except one that a living goroutine has locked.
var thread = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})
