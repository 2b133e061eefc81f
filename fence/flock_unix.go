//go:build linux || darwin || freebsd || openbsd || netbsd

package fence

import (
	"errors"
	"os"
	"syscall"
)

// flock locks f against other processes and against other open files of this process. It waits until it has the lock.
// The lock ends when f is closed.
func flock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if err == nil {
			return nil
		}
		if !errors.Is(err, syscall.EINTR) {
			return &os.PathError{Op: "flock", Path: f.Name(), Err: err}
		}
	}
}
