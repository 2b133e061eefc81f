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
	// connectTimeout limits the dial, TLS and HELLO together.
	connectTimeout = 2 * time.Second

	// If a connection brings no answer for pingAfter, it gets a ping. If no answer to the ping comes within hungAfter,
	// another connection replaces it.
	pingAfter = time.Second
	hungAfter = 2 * time.Second

	// ringScale is log2 of the number of commands that rueidis can queue. No link queues any command.
	ringScale = 3
)

// errDown is the error of every dial of a rueidis client except the first dial. No client should need a second dial,
// because a link that broke is not used again.
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
	// NewClient takes a timeout but no context. If the caller gives up before the timeout, this function closes the
	// connection.
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
	if n.tls == nil {
		conn, err = d.DialContext(ctx, n.target.network, addr)
		return conn, conn, err
	}
	conn, err = (&tls.Dialer{NetDialer: &d, Config: n.tls}).DialContext(ctx, n.target.network, addr)
	if err != nil {
		return nil, nil, err
	}
	return conn, conn.(*tls.Conn).NetConn(), nil
}

// forCalls configures a client that works on its caller's goroutine. The client sends no pings, because the pool does.
// It also does nothing else that would start rueidis's goroutines.
func forCalls(o *rueidis.ClientOption) {
	o.Dialer.KeepAlive = -1
	// This is the time limit of a call whose context has no deadline: see wire.SetDeadline.
	o.ConnWriteTimeout = pingAfter + hungAfter
}

func (n *Node) options(conn net.Conn) rueidis.ClientOption {
	var used atomic.Bool
	return rueidis.ClientOption{
		InitAddress: []string{n.addr}, // DialCtxFn ignores it
		DialCtxFn: func(context.Context, string, *net.Dialer, *tls.Config) (net.Conn, error) {
			if used.Swap(true) {
				return nil, errDown
			}
			return conn, nil
		},
		Dialer: net.Dialer{Timeout: connectTimeout},

		Username: n.target.user, Password: n.target.password, SelectDB: n.target.db,
		ClientName:    "holdfast",                   // shown by CLIENT LIST
		ClientSetInfo: rueidis.DisableClientSetInfo, // without it an ACL would have to allow two more commands

		ForceSingleClient: true, // never ask for CLUSTER SLOTS
		DisableRetry:      true,
		DisableCache:      true,        // no CLIENT TRACKING
		PipelineMultiplex: -1,          // one connection
		BlockingPipeline:  math.MaxInt, // a long batch uses this connection too
		RingScaleEachConn: ringScale,
		// A lock's call has about 300 bytes and its answer 60. The default is 0.5 MiB.
		ReadBufferEachConn: 32 << 10, WriteBufferEachConn: 32 << 10,
	}
}
