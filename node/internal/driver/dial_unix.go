//go:build unix

package driver

import (
	"net"
	"net/netip"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/holdfast-go/holdfast/internal/core/delay"
)

// Dialer returns a dialer that connects promptly even if other goroutines of the process compute all the time: see
// [Prompt]. In a busy process it begins the connection itself and waits for it in the kernel for a moment. The package
// net then finds a socket that is connected, and need not wait behind all goroutines that can run.
func Dialer() *net.Dialer {
	d := &net.Dialer{}
	if delay.Computing() {
		d.Control = connect
	}
	return d
}

// connect begins to connect a socket. An error is left to package net, which connects again.
func connect(_, address string, c syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil // a Unix socket, which connects at once
	}
	var sockaddr unix.Sockaddr = &unix.SockaddrInet6{Port: int(to.Port()), Addr: to.Addr().As16()}
	if to.Addr().Unmap().Is4() {
		sockaddr = &unix.SockaddrInet4{Port: int(to.Port()), Addr: to.Addr().Unmap().As4()}
	} else if to.Addr().Zone() != "" {
		return nil
	}
	return c.Control(func(fd uintptr) {
		if unix.Connect(int(fd), sockaddr) == unix.EINPROGRESS {
			one := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
			_, _ = unix.Poll(one[:], int(20*glance/time.Millisecond))
		}
	})
}
