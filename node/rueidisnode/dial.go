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

	"github.com/holdfast-go/holdfast/internal/core/delay"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/internal/driver"
)

const (
	// connectTimeout is the limit for the dial, the TLS handshake and HELLO together. A busy process gets more: see
	// package delay.
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

// connect makes a link, and finds out where it leads. An error means that no call was sent.
func (n *Node) connect(ctx context.Context, options func(*rueidis.ClientOption)) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout+delay.Recent())
	defer cancel()
	l, err := n.greet(ctx, options)
	if err != nil {
		return nil, inTime(ctx, err)
	}
	if _, err = l.wire.ledger.Identity(); err == nil {
		err = n.meet(ctx, l)
	}
	if err != nil {
		l.drop()
		return nil, inTime(ctx, n.unreached(err))
	}
	return l, nil
}

// inTime returns err, or the end of ctx if the connection was closed for that reason.
func inTime(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, net.ErrClosed) {
		return node.NotSent(fmt.Errorf("connect: %w", driver.ContextError(ctx)))
	}
	return err
}

// Identify implements [node.Identified].
func (n *Node) Identify(ctx context.Context) (node.Identity, error) {
	if n.closed() {
		return node.Identity{}, node.ErrClosed
	}
	if n.masters == nil {
		id, err, ok := n.ask(ctx)
		if ok {
			return n.site.History(id), err
		}
	}
	l, err := n.greet(ctx, forCalls) // a far node may need longer than connectTimeout
	if err != nil {
		return n.site.History(node.Identity{}), err
	}
	defer l.drop()
	defer context.AfterFunc(ctx, l.drop)() // ends a read
	id, err := l.wire.ledger.Identity()
	if err == nil && id.Run != "" {
		// A change of the master is for calls to find. But a replica is no server to use, whoever it is.
		if met := n.meet(ctx, l); node.Code(met) != "" {
			err = met
		}
	}
	if err != nil {
		err = n.unreached(err)
	}
	return n.site.History(id), err
}

// Met implements [node.Identified]. A connection that leads to a replica proves nothing, so there is nothing to tell if
// the master may change.
func (n *Node) Met() node.Identity {
	if n.masters != nil {
		return node.Identity{}
	}
	return n.site.Met()
}

// ask does what Identify does, with a server that only answers. If ok is false, a whole handshake must find out more.
func (n *Node) ask(ctx context.Context) (id node.Identity, err error, ok bool) {
	began := n.site.Now()
	conn, _, err := n.dial(ctx, n.target.addr)
	if err != nil {
		return id, n.unreached(err), true
	}
	id, err = n.site.Ask(ctx, conn, began, n.auth()...)
	return id, nil, err == nil
}

// auth returns the arguments of AUTH, none without a password.
func (n *Node) auth() []string {
	switch as := n.login(); {
	case as.user != "":
		return []string{as.user, as.password}
	case as.password != "":
		return []string{as.password}
	}
	return nil
}

// Local implements [node.Local].
func (n *Node) Local(ctx context.Context) (run string) {
	if n.closed() || n.masters != nil || !driver.LoopbackAddr(n.target.addr) {
		return ""
	}
	conn, _, err := n.dial(ctx, n.target.addr)
	if err != nil {
		return ""
	}
	return driver.Local(ctx, conn, n.target.addr, n.auth()...)
}

// greet makes a link that has done its handshake.
func (n *Node) greet(ctx context.Context, options func(*rueidis.ClientOption)) (*link, error) {
	w := &wire{}
	began := n.site.Now()
	reign, addr, err := n.whereTo(ctx)
	if err != nil {
		return nil, n.unreached(err)
	}
	conn, socket, err := n.dial(ctx, addr)
	if err != nil {
		return nil, n.unreached(err)
	}
	hangUp := func() {
		w.broken.Store(true)
		_ = socket.Close() // an error only means that it was closed before
	}
	w.ledger, w.socket = driver.NewLedger(n.site.Prove(conn, began, hangUp)), socket
	w.Conn = w.ledger
	w.look = newLook(w.socket)
	lives := n.ctx
	if reign != nil {
		lives = reign.Context
	}
	w.stop = context.AfterFunc(lives, hangUp)
	l := &link{wire: w, reign: reign, giveUp: w.giveUp}
	// NewClient gets a timeout and no context. If ctx ends before this timeout, AfterFunc closes the connection.
	stop := context.AfterFunc(ctx, l.drop)
	defer stop()
	o := n.options(w)
	if end, ok := ctx.Deadline(); ok {
		o.Dialer.Timeout = time.Until(end)
	}
	options(&o)
	if l.client, err = rueidis.NewClient(o); err != nil {
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
