//go:build unix

package rueidisnode

import (
	"net"
	"syscall"
)

// look reads from a socket without waiting, with one system call and no allocation. Only the goroutine that uses the
// link may use it.
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

// gone reports whether the socket is closed or has unexpected data. It may read the data, because the pool drops the
// link after any data. It uses Control, because Read would first check the deadline of the last call.
func (l *look) gone() bool {
	if l.raw.Control(l.read) != nil {
		return true
	}
	return l.err != syscall.EAGAIN
}
