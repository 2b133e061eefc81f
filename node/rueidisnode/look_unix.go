//go:build unix

package rueidisnode

import (
	"net"
	"syscall"
)

// look looks into a socket without waiting: one system call, and no allocation. It is
// for the one goroutine that has the link.
type look struct {
	raw  syscall.RawConn
	read func(fd uintptr)
	byte [1]byte
	err  error
	n    int
}

func newLook(c net.Conn) *look {
	s, ok := c.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return nil
	}
	l := &look{raw: raw}
	l.read = func(fd uintptr) {
		for {
			if l.n, l.err = syscall.Read(int(fd), l.byte[:]); l.err != syscall.EINTR {
				return
			}
		}
	}
	return l
}

// gone reads rather than peeks: what it may take belongs to nobody, and the link is
// dropped. Control, because Read would first ask for the deadline of the last call.
func (l *look) gone() bool {
	if l.raw.Control(l.read) != nil {
		return true
	}
	return l.err != syscall.EAGAIN
}
