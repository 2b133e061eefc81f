//go:build unix && !linux

package childprocess

import "syscall"

// dieWithParent does nothing: only Linux has this signal. Elsewhere only the watchdog ends the group.
func dieWithParent(*syscall.SysProcAttr, syscall.Signal) {}
