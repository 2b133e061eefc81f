package rueidisnode

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"net"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/internal/driver"
)

const (
	// connectTimeout bounds dialling, TLS and HELLO together.
	connectTimeout = 2 * time.Second

	// A connection that brought no answer for pingAfter is pinged, and replaced if
	// the ping is not answered within hungAfter.
	pingAfter = time.Second
	hungAfter = 2 * time.Second

	// ringScale is log2 of the number of batches one connection can hold. Where that
	// ring is full, rueidis waits for room without regard for a context. So the
	// driver keeps it from filling: at most maxInFlight calls are under way, and a
	// connection with maxLate given-up calls in it is replaced.
	ringScale   = 9
	maxInFlight = 256
	maxLate     = 128
)

// link is one connection, as a rueidis client of its own that cannot dial.
//
// A client that reconnects by itself does so inside of some call, and the other
// calls wait for that one without regard for their own contexts. Here, reconnecting
// is a goroutine that calls wait for as long as they like.
type link struct {
	client rueidis.Client
	conn   net.Conn
	broken atomic.Bool
	late   atomic.Int32 // calls given up since the last answer
}

// drop closes the connection; calls in flight fail.
func (l *link) drop() {
	l.broken.Store(true)
	_ = l.conn.Close()
}

// watched tells the link when rueidis closes the connection.
type watched struct {
	net.Conn
	link *link
	stop func() bool
}

func (w *watched) Close() error {
	w.link.broken.Store(true)
	w.stop()
	return w.Conn.Close()
}

// errDown is what a link's client gets for a dial after its first: the call was not
// sent and may go to the next link.
var errDown = errors.New("connection is down")

type attempt struct {
	done chan struct{}
	link *link
	err  error
}

// connected returns the live link, or waits for a new one as long as ctx allows.
func (n *Node) connected(ctx context.Context) (*link, error) {
	for tries := 1; ; tries++ {
		if l := n.live.Load(); l != nil && !l.broken.Load() {
			return l, nil
		}
		a, joined, err := n.join()
		if err != nil {
			return nil, err
		}
		select {
		case <-a.done:
		case <-ctx.Done():
			return nil, node.NotSent(driver.ContextError(ctx))
		}
		if a.err == nil {
			return a.link, nil
		}
		// An attempt that began before this call may have failed for a reason that
		// is over. The next one has not.
		if !joined || tries > 1 {
			return nil, a.err
		}
	}
}

// join returns the attempt under way, or begins one.
func (n *Node) join() (a *attempt, joined bool, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed() {
		return nil, false, node.ErrClosed
	}
	if n.attempt != nil {
		return n.attempt, true, nil
	}
	a = &attempt{done: make(chan struct{})}
	n.attempt = a
	n.wg.Go(func() {
		a.link, a.err = n.connect(n.ctx)
		n.mu.Lock()
		if a.err == nil {
			n.live.Store(a.link)
		}
		n.attempt = nil
		n.mu.Unlock()
		close(a.done)
	})
	return a, false, nil
}

// connect makes a link of its own. Whatever fails here, no call was sent.
func (n *Node) connect(ctx context.Context) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	raw, err := n.dial(ctx)
	if err != nil {
		return nil, n.unreached(err)
	}
	l := &link{}
	l.conn = &watched{Conn: raw, link: l, stop: context.AfterFunc(n.ctx, func() {
		l.broken.Store(true)
		_ = raw.Close()
	})}
	// NewClient has no context, only the timeout: a caller that gives up earlier
	// closes the connection under it.
	stop := context.AfterFunc(ctx, l.drop)
	defer stop()
	if l.client, err = rueidis.NewClient(n.options(l.conn)); err != nil {
		l.drop()
		return nil, n.unreached(err)
	}
	return l, nil
}

func (n *Node) unreached(err error) error {
	if n.closed() {
		return node.ErrClosed
	}
	if _, ok := rueidis.IsRedisErr(err); ok {
		return serverError(err)
	}
	return node.NotSent(fmt.Errorf("connect: %w", err))
}

func (n *Node) dial(ctx context.Context) (net.Conn, error) {
	var d net.Dialer
	if n.tls != nil {
		return (&tls.Dialer{NetDialer: &d, Config: n.tls}).DialContext(ctx, n.target.network, n.target.addr)
	}
	return d.DialContext(ctx, n.target.network, n.target.addr)
}

func (n *Node) options(conn net.Conn) rueidis.ClientOption {
	var used atomic.Bool
	return rueidis.ClientOption{
		InitAddress: []string{n.target.addr},
		DialCtxFn: func(context.Context, string, *net.Dialer, *tls.Config) (net.Conn, error) {
			if used.Swap(true) {
				return nil, errDown
			}
			return conn, nil
		},
		// KeepAlive is rueidis's interval of pings, ConnWriteTimeout how long it
		// waits for their answer.
		Dialer:           net.Dialer{Timeout: connectTimeout, KeepAlive: pingAfter},
		ConnWriteTimeout: hungAfter,

		Username: n.target.user, Password: n.target.password, SelectDB: n.target.db,
		ClientName:    "holdfast",                   // what CLIENT LIST shows
		ClientSetInfo: rueidis.DisableClientSetInfo, // two commands an ACL would have to allow

		ForceSingleClient: true, // never ask for CLUSTER SLOTS
		DisableRetry:      true,
		DisableCache:      true, // no CLIENT TRACKING
		// Without it, a lone call reads its answer itself and is deaf to a
		// cancellation meanwhile.
		AlwaysPipelining: true,
		// One connection: calls arrive in the order they were made, and batches
		// under way at the same time share system calls.
		PipelineMultiplex: -1,
		BlockingPipeline:  math.MaxInt, // a long batch is no reason for another connection
		RingScaleEachConn: ringScale,
		// A lock's call is some 300 bytes and its answer 60. The default is 0.5 MiB.
		ReadBufferEachConn: 32 << 10, WriteBufferEachConn: 32 << 10,
	}
}
