package rueidisnode

import (
	"net"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/node/internal/driver"
)

// wire is the connection that a rueidis client gets. It makes sure that each call ends in time.
type wire struct {
	net.Conn // for the reads and writes of rueidis
	ledger   *driver.Ledger
	socket   net.Conn // connection without TLS, which Conn uses
	look     *look    // nil if this kind of socket cannot be checked

	until   time.Time   // deadline of the running call; zero: rueidis sets the deadline
	wrote   bool        // a part of the running call was written
	givenUp atomic.Bool // the running call was given up; never reset
	broken  atomic.Bool
	stop    func() bool // ends the watch for Close of the node
}

// SetDeadline uses the deadline of the call's context instead of t, even if it is later. rueidis calls SetDeadline at
// the beginning of each call, with its own deadline t.
func (w *wire) SetDeadline(t time.Time) error {
	if !w.until.IsZero() {
		t = w.until
	}
	err := w.Conn.SetDeadline(t)
	if w.givenUp.Load() {
		// giveUp has run before this call, so its deadline was just overwritten. If giveUp runs later, it sets the
		// deadline itself.
		return w.Conn.SetDeadline(past)
	}
	return err
}

// Write implements net.Conn.
func (w *wire) Write(p []byte) (int, error) {
	n, err := w.Conn.Write(p)
	w.wrote = w.wrote || n > 0 || err == nil
	return n, err
}

// giveUp makes the running call return at once, and each later call too.
func (w *wire) giveUp() {
	w.givenUp.Store(true)
	_ = w.Conn.SetDeadline(past)
}

var past = time.Unix(1, 0)

// Close closes only the socket. A Close of the TLS connection would first send a message, and could wait for up to
// five seconds until it can write this message.
func (w *wire) Close() error {
	w.broken.Store(true)
	w.stop()
	w.ledger.Leave()
	return w.socket.Close()
}

// gone reports whether the server has closed an idle connection, or has sent data that no command asked for.
func (w *wire) gone() bool {
	return w.broken.Load() || (w.look != nil && w.look.gone())
}
