package childprocess

import (
	"syscall"
	"unsafe"
)

// dontCatch gives a signal its default action until the caller calls catch. [signal.Reset] is not enough: when a
// program has caught TSTP once, Go's runtime keeps its handler and drops the signal. So dontCatch uses the system
// call. The layout of the kernel's struct sigaction depends on the architecture, but all zeros always mean the default
// action. dontCatch restores the old value without looking into it.
func dontCatch(sig syscall.Signal) (catch func(), err error) {
	var byDefault, before [64]byte
	if err := sigaction(sig, &byDefault, &before); err != nil {
		return nil, err
	}
	return func() { _ = sigaction(sig, &before, nil) }, nil
}

func sigaction(sig syscall.Signal, now, before *[64]byte) error {
	const setSize = 8 // the size of a set of 64 signals
	_, _, errno := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(sig),
		uintptr(unsafe.Pointer(now)), uintptr(unsafe.Pointer(before)), setSize, 0, 0)
	if errno != 0 {
		return errno // EINVAL on mips, where a set is larger
	}
	return nil
}
