//go:build unix

package driver

import (
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/delay"
)

// pair returns both ends of a TCP connection.
func pair(t *testing.T) (client, server net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if client, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if server, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close(); server.Close() })
	return client, server
}

// The answer came in time, and the goroutine that reads it came too late.
func TestALateReaderFindsTheAnswer(t *testing.T) {
	client, server := pair(t)
	c := Prompt(client)
	if _, err := server.Write([]byte("yes")); err != nil {
		t.Fatal(err)
	}
	for started := time.Now(); !c.(*prompt).readable(glance); {
		if time.Since(started) > 10*time.Second {
			t.Fatal("nothing arrived")
		}
	}
	_ = c.SetReadDeadline(time.Unix(1, 0))
	b := make([]byte, 8)
	if n, err := c.Read(b); err != nil || string(b[:n]) != "yes" {
		t.Fatalf("%q, %v", b[:n], err)
	}
	if _, err := c.Read(b); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a socket with nothing to read: %v", err)
	}
	server.Close()
	if n, err := c.Read(b); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a connection whose end was seen too late: %d, %v", n, err)
	}
	_ = c.SetReadDeadline(time.Time{})
	if _, err := c.Read(b); err != io.EOF {
		t.Errorf("after the deadline was removed: %v", err)
	}
}

// In a busy process Read waits in other ways. It returns what it would return otherwise.
func TestABusyProcessReadsTheSame(t *testing.T) {
	stop := make(chan struct{})
	defer close(stop)
	var sink atomic.Int64
	for range 8 * runtime.GOMAXPROCS(0) {
		go func() {
			for n := int64(0); ; n++ {
				select {
				case <-stop:
					sink.Add(n)
					return
				default:
				}
			}
		}()
	}
	for started := time.Now(); !delay.Computing(); time.Sleep(time.Millisecond) {
		delay.Suspect()
		if time.Since(started) > 30*time.Second {
			t.Fatal("goroutines compute, and no delay is measured")
		}
	}
	client, server := pair(t)
	c := Prompt(client)
	go func() {
		b := make([]byte, 1)
		for {
			if _, err := server.Read(b); err != nil {
				return
			}
			_, _ = server.Write(b)
		}
	}()
	b := make([]byte, 1)
	for i := range byte(5) {
		if _, err := c.Write([]byte{i}); err != nil {
			t.Fatal(err)
		}
		if n, err := c.Read(b); n != 1 || err != nil || b[0] != i {
			t.Fatalf("read %d: %v, %v", i, b[:n], err)
		}
	}
	client.Close()
	if _, err := c.Read(b); !errors.Is(err, net.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// A dialer of a busy process connects, and says why it cannot.
func TestADialerOfABusyProcessConnects(t *testing.T) {
	d := net.Dialer{Control: connect}
	for _, network := range []string{"tcp4", "tcp6"} {
		l, err := net.Listen(network, "localhost:0")
		if err != nil {
			t.Logf("this host has no %s: %v", network, err)
			continue
		}
		addr := l.Addr().String()
		c, err := d.Dial("tcp", addr)
		if err != nil {
			t.Fatalf("%s: %v", addr, err)
		}
		if got := c.RemoteAddr().String(); got != addr {
			t.Errorf("connected to %s; want %s", got, addr)
		}
		c.Close()
		l.Close()
		if _, err := d.Dial("tcp", addr); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("nobody listens at %s: %v", addr, err)
		}
	}
}

// A call that is given up ends at once, also while its goroutine waits in the way of a busy process.
func TestAReaderInABusyProcessHeedsItsDeadline(t *testing.T) {
	client, _ := pair(t)
	c := Prompt(client).(*prompt)
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.await(time.Now().Add(time.Hour)) // it began in an hour, so its patience does not end
	}()
	select {
	case <-done:
		t.Error("nothing arrived, and nobody gave up")
	case <-time.After(10 * blink):
	}
	_ = c.SetDeadline(time.Unix(1, 0))
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Error("the call was given up, and its reader waits on")
	}
}
