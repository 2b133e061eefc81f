package childprocess

import (
	"syscall"
	"unsafe"
)

// dontCatch gives a signal its default action until the caller calls catch. It uses the system call, because
// [signal.Reset] is not enough. If TSTP was caught once, the runtime keeps its handler and drops the signal. The
// kernel's struct sigaction differs by architecture, but all zeros mean the default, and dontCatch can restore the old
// value without reading it.
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
