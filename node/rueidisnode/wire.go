package rueidisnode

import (
	"net"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/node/internal/driver"
)

// wire is a connection that rueidis reads and writes. It ends a call in time.
type wire struct {
	net.Conn // used by rueidis for reads and writes
	ledger   *driver.Ledger
	socket   net.Conn // the connection beneath it, and beneath TLS
	look     *look    // nil if the socket does not allow it

	until   time.Time   // deadline of the running call; zero: rueidis's own deadline counts
	givenUp atomic.Bool // the running call was given up; never reset
	broken  atomic.Bool
	stop    func() bool // ends the watch for the node's Close
}

// SetDeadline is called by rueidis at the beginning of every call, with rueidis's own deadline. The deadline of the
// call's context replaces it, even if it is later.
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

// Close closes only the socket. TLS would first send a goodbye, and may wait up to five seconds until it can write
// that.
func (w *wire) Close() error {
	w.broken.Store(true)
	w.stop()
	return w.socket.Close()
}

// gone reports whether the peer has closed an idle connection, or has sent data without a request.
func (w *wire) gone() bool {
	return w.broken.Load() || (w.look != nil && w.look.gone())
}
