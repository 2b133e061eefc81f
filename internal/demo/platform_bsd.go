//go:build darwin || freebsd || openbsd

package demo

import "syscall"

// dieWithParent needs Linux. Elsewhere a process ends with its standard input.
func dieWithParent(*syscall.SysProcAttr) {}
