//go:build darwin || freebsd || openbsd

package demo

import "syscall"

// dieWithParent does nothing: only Linux has this signal. Elsewhere a process ends with its standard input.
func dieWithParent(*syscall.SysProcAttr) {}
