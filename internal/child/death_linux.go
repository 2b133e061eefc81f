package child

import "syscall"

// dieWithParent asks the kernel to send TERM to the command when the thread that
// started it ends. TERM and not KILL: the watchdog sends KILL after the grace period.
func dieWithParent(attr *syscall.SysProcAttr, sig syscall.Signal) { attr.Pdeathsig = sig }
