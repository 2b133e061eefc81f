package rueidisnode

import (
	"net"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/node/internal/driver"
)

// wire is a connection that rueidis reads and writes. It makes each call end in time.
type wire struct {
	net.Conn // rueidis reads from it and writes to it
	ledger   *driver.Ledger
	socket   net.Conn // the connection beneath Conn, and beneath TLS
	look     *look    // nil if the socket does not allow a look

	until   time.Time   // the deadline of the running call; zero: rueidis's own deadline counts
	givenUp atomic.Bool // the running call was given up; this is never reset
	broken  atomic.Bool
	stop    func() bool // ends the watch for the node's Close
}

// SetDeadline replaces the deadline t by the deadline of the call's context, even if that is later. rueidis calls
// SetDeadline at the beginning of every call, with its own deadline t.
func (w *wire) SetDeadline(t time.Time) error {
	if !w.until.IsZero() {
		t = w.until
	}
	err := w.Conn.SetDeadline(t)
	if w.givenUp.Load() {
		// giveUp may have run before. If it runs after this check, it sets the deadline itself.
		return w.Conn.SetDeadline(past)
	}
	return err
}

// giveUp makes the running call and every later call return.
func (w *wire) giveUp() {
	w.givenUp.Store(true)
	_ = w.Conn.SetDeadline(past)
}

var past = time.Unix(1, 0)

// Close closes only the socket. TLS would first send a goodbye, and might wait up to five seconds until it can write
// the goodbye.
func (w *wire) Close() error {
	w.broken.Store(true)
	w.stop()
	return w.socket.Close()
}

// gone reports whether the peer has closed an idle connection, or has sent data without a request.
func (w *wire) gone() bool {
	return w.broken.Load() || (w.look != nil && w.look.gone())
}
