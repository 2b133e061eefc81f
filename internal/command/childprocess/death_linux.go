package childprocess

import "syscall"

// dieWithParent asks the kernel to send sig to the command when the thread that started it ends. With a watchdog sig is
// TERM and not KILL, because the watchdog sends KILL after the grace period.
func dieWithParent(attr *syscall.SysProcAttr, sig syscall.Signal) { attr.Pdeathsig = sig }
