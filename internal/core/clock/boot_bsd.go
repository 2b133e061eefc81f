//go:build darwin || freebsd

package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// SinceBoot returns the time since this machine booted. The kernel moves the time of the boot together with the wall
// clock, so a leap does not count. ok is false if it is unknown.
func SinceBoot() (d time.Duration, ok bool) {
	at, err := unix.SysctlTimeval("kern.boottime")
	if err != nil {
		return 0, false
	}
	return time.Since(time.Unix(at.Unix())), true
}
