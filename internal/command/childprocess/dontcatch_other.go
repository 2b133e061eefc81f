//go:build unix && !linux

package childprocess

import (
	"errors"
	"syscall"
)

// dontCatch returns an error, because it needs the system call: see dontcatch_linux.go.
func dontCatch(syscall.Signal) (catch func(), err error) { return nil, errors.ErrUnsupported }
