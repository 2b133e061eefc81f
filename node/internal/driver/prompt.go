package driver

import (
	"errors"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/delay"
)

const (
	// glance is the time for which Read waits in the kernel for an answer, if the process is busy. It is longer than a
	// fast node needs, and shorter than the time after which Go takes the processor from a waiting thread.
	glance = time.Millisecond
	// blink is the pause between two glances.
	blink = 5 * time.Millisecond
	// patience is the time for which Read waits in this way. Then the node is far away or hung.
	patience = time.Second
)

// Prompt returns a connection that reads promptly even if other goroutines of the process compute all the time. It
// returns c if c has no file descriptor.
//
// Go puts a goroutine whose socket has become readable behind all goroutines that can run. With 200 computing
// goroutines on two processors it waits for seconds. So in a busy process Read waits in two other ways. It waits in
// the kernel, where the goroutine keeps its processor for a moment. And it sleeps: a goroutine whose timer fires runs
// next. Neither is a promise, and both shorten the wait from seconds to milliseconds in most cases.
//
// When a deadline has passed, Read looks at the socket before it returns the error. The answer may have come in time,
// and only this goroutine was late.
func Prompt(c net.Conn) net.Conn {
	s, ok := c.(syscall.Conn)
	if !ok {
		return c
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return c
	}
	return &prompt{Conn: c, raw: raw}
}

type prompt struct {
	net.Conn
	raw   syscall.RawConn
	until atomic.Int64 // the deadline of reads, in ns since 1970; 0: none
}

// SetDeadline implements [net.Conn].
func (c *prompt) SetDeadline(t time.Time) error {
	c.note(t)
	return c.Conn.SetDeadline(t)
}

// SetReadDeadline implements [net.Conn].
func (c *prompt) SetReadDeadline(t time.Time) error {
	c.note(t)
	return c.Conn.SetReadDeadline(t)
}

func (c *prompt) note(t time.Time) {
	if t.IsZero() {
		c.until.Store(0)
	} else {
		c.until.Store(t.UnixNano())
	}
}

// overdue reports whether the deadline has passed. A call that was given up has a deadline in the past.
func (c *prompt) overdue() bool {
	until := c.until.Load()
	return until != 0 && time.Now().UnixNano() >= until
}

// SyscallConn implements [syscall.Conn].
func (c *prompt) SyscallConn() (syscall.RawConn, error) { return c.raw, nil }

func (c *prompt) Read(p []byte) (int, error) {
	if delay.Computing() {
		delay.Suspect()
		c.await(time.Now())
	}
	n, err := c.Conn.Read(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		if late, ok := c.look(p); ok {
			return late, nil
		}
	}
	return n, err
}

// await returns when the socket has something to read, when the deadline has passed, or after a time in which a node in
// a near network answers.
func (c *prompt) await(began time.Time) {
	for pause := blink; time.Since(began) < patience && !c.overdue(); pause = min(2*pause, 8*blink) {
		first := glancing.CompareAndSwap(false, true)
		d := time.Duration(0)
		if first {
			d = glance
		}
		readable := c.readable(d)
		if first {
			glancing.Store(false)
		}
		if readable {
			return
		}
		time.Sleep(pause)
	}
}

// glancing says that a Read waits in the kernel. It keeps a processor for that time, so only one of them may. Otherwise
// many connections that wait would make the process as late as if it computed.
var glancing atomic.Bool
