package rueidisnode

import (
	"net"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/node/internal/driver"
)

// wire is a connection that rueidis reads and writes, and that ends a call in time.
type wire struct {
	net.Conn // what rueidis reads and writes
	ledger   *driver.Ledger
	socket   net.Conn // what is beneath it, and beneath TLS
	look     *look    // nil where the socket cannot be looked into

	until   time.Time   // deadline of the call under way; zero: rueidis's own
	givenUp atomic.Bool // the call is; it stays so
	broken  atomic.Bool
	stop    func() bool // watching for the node's Close
}

// SetDeadline is called by rueidis at the beginning of every call, with its own deadline. That of the call's context
// takes its place, also where it is later.
func (w *wire) SetDeadline(t time.Time) error {
	if !w.until.IsZero() {
		t = w.until
	}
	err := w.Conn.SetDeadline(t)
	if w.givenUp.Load() {
		// giveUp may have come before. If it comes after this look, so does its deadline.
		return w.Conn.SetDeadline(past)
	}
	return err
}

// giveUp makes the call under way return, and every later one.
func (w *wire) giveUp() {
	w.givenUp.Store(true)
	_ = w.Conn.SetDeadline(past)
}

var past = time.Unix(1, 0)

// Close closes the socket only. TLS would first say goodbye, and may wait up to five
// seconds for room to say it.
func (w *wire) Close() error {
	w.broken.Store(true)
	w.stop()
	return w.socket.Close()
}

// gone reports whether the peer has closed an idle connection, or has sent what
// nobody asked for.
func (w *wire) gone() bool {
	return w.broken.Load() || (w.look != nil && w.look.gone())
}
