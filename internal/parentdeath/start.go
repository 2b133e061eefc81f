// Package parentdeath starts processes that the kernel kills when their parent ends, even if the parent is killed or
// the processes are frozen. Only Linux can do that. On other systems such a process continues to run.
package parentdeath

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// Start starts cmd. On Linux, the kernel kills its process when this process ends.
func Start(cmd *exec.Cmd) error {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	Signal(cmd.SysProcAttr, syscall.SIGKILL)
	started := make(chan error)
	thread() <- func() { started <- cmd.Start() }
	return <-started
}

// thread runs functions on one thread of the operating system that never ends. The kernel sends the signal when the
// thread that started the process ends. Go may end any thread, except one that a goroutine has locked. Without thread,
// a process could be killed while its parent lives.
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
