//go:build unix && !linux

package childprocess

import (
	"errors"
	"syscall"
)

// dontCatch returns an error. Only the system call of Linux can do this: see dontcatch_linux.go.
func dontCatch(syscall.Signal) (catch func(), err error) { return nil, errors.ErrUnsupported }
