package parentdeath

import "syscall"

// Signal asks the kernel to send sig to a process when the thread that started it ends. Start the
// process on a thread that does not end before this process: see [Start].
func Signal(attr *syscall.SysProcAttr, sig syscall.Signal) { attr.Pdeathsig = sig }
