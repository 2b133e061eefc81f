//go:build linux || darwin || freebsd || openbsd

package demo

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

const supported = true

// monotonic reads a clock that never jumps and that all processes share.
func monotonic() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(err) // each kernel of these platforms has this clock
	}
	return ts.Nano()
}

func freeze(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }
func thaw(p *os.Process) error   { return p.Signal(syscall.SIGCONT) }

// ownGroup puts a process into its own group, so that Ctrl-C does not end it. The demo itself must end it.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}
