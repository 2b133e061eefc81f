package demo

import "syscall"

// dieWithParent: also a frozen process must not outlive the demo.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
