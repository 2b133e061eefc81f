//go:build linux || darwin || freebsd || openbsd || netbsd

package redistest

import (
	"os"
	"syscall"
)

// lockFile locks f against other processes and other open files, until f is closed. It does not wait.
func lockFile(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }
