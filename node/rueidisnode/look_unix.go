//go:build unix

package rueidisnode

import (
	"net"
	"syscall"
)

// look finds out whether an idle connection still works. It tries to read from the socket, without a wait and without
// an allocation. Only the goroutine that uses the link may call it.
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

// gone reports whether the socket is closed, or has data that no command asked for. gone may read and lose such data,
// because the pool then drops the link. It uses Control, because a Read would first check the deadline of the last
// call.
func (l *look) gone() bool {
	if l.raw.Control(l.read) != nil {
		return true
	}
	return l.err != syscall.EAGAIN
}
