//go:build unix

package driver

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// readable reports whether the socket has something to read, or is closed. It waits in the kernel for up to d.
func (c *prompt) readable(d time.Duration) (yes bool) {
	if c.raw.Control(func(fd uintptr) {
		one := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(one[:], int(d/time.Millisecond))
		yes = n > 0 || err != nil && err != syscall.EINTR
	}) != nil {
		return true // closed: the read says so
	}
	return yes
}

// look reads what the socket has, without a wait and without regard to a deadline. ok is false if it has nothing.
func (c *prompt) look(p []byte) (n int, ok bool) {
	if len(p) == 0 {
		return 0, false
	}
	err := c.raw.Control(func(fd uintptr) {
		for {
			var err error
			if n, err = syscall.Read(int(fd), p); err != syscall.EINTR {
				ok = err == nil && n > 0
				return
			}
		}
	})
	return n, ok && err == nil
}
