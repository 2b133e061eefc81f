package parentdeath

import "syscall"

// Signal asks the kernel to send sig to a process when the thread that started it ends. The caller must start the
// process on a thread that lives as long as this process: see [Start].
func Signal(attr *syscall.SysProcAttr, sig syscall.Signal) { attr.Pdeathsig = sig }
