//go:build linux || darwin || freebsd || openbsd

package demo

import (
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const supported = true

// monotonic reads a clock that is the same for all processes and never steps.
func monotonic() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(err) // no kernel of these lacks it
	}
	return ts.Nano()
}

// lockFile locks f against other processes until it is closed.
func lockFile(f *os.File) error {
	for {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != syscall.EINTR {
			return err
		}
	}
}

// fileIsFree reports whether nobody holds f's lock, or lets it go within a moment.
func fileIsFree(f *os.File) bool {
	for range 100 {
		if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			return true
		}
		time.Sleep(2 * time.Millisecond)
	}
	return false
}

func freeze(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }
func thaw(p *os.Process) error   { return p.Signal(syscall.SIGCONT) }

// ownGroup keeps Ctrl-C away from a process: the demo ends it itself.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
}
