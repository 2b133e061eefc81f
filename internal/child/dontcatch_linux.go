package child

import (
	"syscall"
	"unsafe"
)

// dontCatch gives a signal its default action, until catch is called. That is what
// [signal.Reset] says it does, but for TSTP once caught the runtime keeps its handler, and
// drops the signal. So this goes past it: the kernel's struct sigaction differs by
// architecture, but all zeros are the default, and what was there can be put back unread.
func dontCatch(sig syscall.Signal) (catch func(), err error) {
	var byDefault, before [64]byte
	if err := sigaction(sig, &byDefault, &before); err != nil {
		return nil, err
	}
	return func() { _ = sigaction(sig, &before, nil) }, nil
}

func sigaction(sig syscall.Signal, now, before *[64]byte) error {
	const setSize = 8 // of a set of 64 signals
	_, _, errno := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(sig),
		uintptr(unsafe.Pointer(now)), uintptr(unsafe.Pointer(before)), setSize, 0, 0)
	if errno != 0 {
		return errno // EINVAL on mips, whose sets are larger
	}
	return nil
}
