package demo

import "syscall"

// dieWithParent has the kernel kill the process when the demo ends. Otherwise a frozen process would outlive the demo.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
