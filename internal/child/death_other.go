//go:build unix && !linux

package child

import "syscall"

// dieWithParent needs Linux; elsewhere the watchdog does it alone.
func dieWithParent(*syscall.SysProcAttr, syscall.Signal) {}
