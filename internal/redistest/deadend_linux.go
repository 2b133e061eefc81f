package redistest

import (
	"net"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// DeadEnd returns an address (host:port) where dialling hangs, as behind a firewall that drops every packet. The
// address belongs to a listener that accepts no connection and has a full queue.
func DeadEnd(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(freePort())))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	raw, err := l.(*net.TCPListener).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	// A second call of listen shortens the queue.
	if cerr := raw.Control(func(fd uintptr) { err = syscall.Listen(int(fd), 0) }); cerr != nil || err != nil {
		t.Fatal(cerr, err)
	}
	for range 100 {
		c, err := net.DialTimeout("tcp", l.Addr().String(), 200*time.Millisecond)
		if err != nil {
			return l.Addr().String()
		}
		t.Cleanup(func() { _ = c.Close() })
	}
	t.Fatal("redistest: a full queue still accepts connections")
	return ""
}
