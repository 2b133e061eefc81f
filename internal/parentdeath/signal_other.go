//go:build !linux

package parentdeath

import "syscall"

// Signal does nothing, because only Linux can send a signal at the end of the parent.
func Signal(*syscall.SysProcAttr, syscall.Signal) {}
