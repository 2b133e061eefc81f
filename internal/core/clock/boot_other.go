//go:build !linux && !darwin && !freebsd

package clock

import "time"

// SinceBoot returns the time since this machine booted. Here it is unknown.
func SinceBoot() (d time.Duration, ok bool) { return 0, false }
