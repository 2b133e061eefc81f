//go:build !linux

package parentdeath

import "syscall"

// Signal does nothing: only Linux has this signal.
func Signal(*syscall.SysProcAttr, syscall.Signal) {}
