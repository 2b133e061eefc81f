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
	// connectTimeout is the limit for the dial, the TLS handshake and HELLO together.
	connectTimeout = 2 * time.Second

	// If a link is not used for pingAfter, it gets a ping. If the ping is not answered within hungAfter, the node
	// drops the link.
	pingAfter = time.Second
	hungAfter = 2 * time.Second

	// ringScale is the base-2 logarithm of the length of rueidis's queue of commands. It is small, because a link
	// never queues commands.
	ringScale = 3
)

// errDown is the error of a second dial by the same rueidis client. A link must keep its first connection: after a
// second dial, the loads of an Eval could reach a restarted server.
var errDown = errors.New("connection is down")

// connect makes a link. An error means that no call was sent.
func (n *Node) connect(ctx context.Context, options func(*rueidis.ClientOption)) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	w := &wire{}
	reign, addr, err := n.whereTo(ctx)
	if err != nil {
		return nil, n.unreached(err)
	}
	conn, socket, err := n.dial(ctx, addr)
	if err != nil {
		return nil, n.unreached(err)
	}
	w.ledger, w.socket = driver.NewLedger(conn), socket
	w.Conn = w.ledger
	w.look = newLook(w.socket)
	lives := n.ctx
	if reign != nil {
		lives = reign.Context
	}
	w.stop = context.AfterFunc(lives, func() {
		w.broken.Store(true)
		_ = w.socket.Close()
	})
	l := &link{wire: w, reign: reign, giveUp: w.giveUp}
	// NewClient gets a timeout and no context. If ctx ends before this timeout, AfterFunc closes the connection.
	stop := context.AfterFunc(ctx, l.drop)
	defer stop()
	o := n.options(w)
	options(&o)
	if l.client, err = rueidis.NewClient(o); err != nil {
		l.drop()
		return nil, n.unreached(err)
	}
	if err := n.meet(ctx, l); err != nil {
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
	if node.Code(err) != "" {
		return err
	}
	return node.NotSent(fmt.Errorf("connect: %w", err))
}

func (n *Node) dial(ctx context.Context, addr string) (conn, socket net.Conn, err error) {
	var d net.Dialer
	if !n.target.tls {
		conn, err = d.DialContext(ctx, n.target.network, addr)
		return conn, conn, err
	}
	config := n.tls
	if config == nil {
		config = systemTLS()
	}
	conn, err = (&tls.Dialer{NetDialer: &d, Config: config}).DialContext(ctx, n.target.network, addr)
	if err != nil {
		return nil, nil, err
	}
	return conn, conn.(*tls.Conn).NetConn(), nil
}

// forCalls sets the options of a client that works in the goroutine of its caller. The client sends no pings itself,
// because the pool does that. It needs no goroutine of rueidis.
func forCalls(o *rueidis.ClientOption) {
	o.Dialer.KeepAlive = -1
	// This is the time limit of a call whose context has no deadline: see wire.SetDeadline.
	o.ConnWriteTimeout = pingAfter + hungAfter
}

func (n *Node) options(conn net.Conn) rueidis.ClientOption {
	var used atomic.Bool
	as := n.login()
	return rueidis.ClientOption{
		InitAddress: []string{n.addr}, // DialCtxFn ignores it
		DialCtxFn: func(context.Context, string, *net.Dialer, *tls.Config) (net.Conn, error) {
			if used.Swap(true) {
				return nil, errDown
			}
			return conn, nil
		},
		Dialer: net.Dialer{Timeout: connectTimeout},

		Username: as.user, Password: as.password, SelectDB: n.target.db,
		ClientName:    "holdfast",                   // shown by CLIENT LIST
		ClientSetInfo: rueidis.DisableClientSetInfo, // otherwise an ACL must allow two more commands

		ForceSingleClient: true, // never ask for CLUSTER SLOTS
		DisableRetry:      true,
		DisableCache:      true,        // no CLIENT TRACKING
		PipelineMultiplex: -1,          // one connection
		BlockingPipeline:  math.MaxInt, // long batches must use this connection, too
		RingScaleEachConn: ringScale,
		// A call of a lock has about 300 bytes, and its answer 60. rueidis's default is 0.5 MiB.
		ReadBufferEachConn: 32 << 10, WriteBufferEachConn: 32 << 10,
	}
}
