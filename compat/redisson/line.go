package redisson

import (
	"context"
	"math/bits"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/node"
)

// linger is the time for which a subscription outlives its last waiter. A name in demand would otherwise cost a new
// connection for each wait.
const linger = time.Second

// line is where the goroutines of one client wait for one key. The first one asks the nodes, the others wait behind it
// in their order. So a release costs one request per process. All of them share the subscriptions.
type line struct {
	client  *Client
	key     string
	turn    chan struct{} // has room for the first one; Go serves senders in order
	users   int           // guarded by Client.mu
	expires *time.Timer   // guarded by Client.mu: ends the subscriptions after the last user

	listening sync.Once
	ctx       context.Context
	stop      context.CancelFunc

	mu    sync.Mutex
	last  error  // the last refusal, for those who wait behind the first one
	heard uint32 // the nodes whose channel had a message since the last reset
	wake  chan struct{}
}

// join returns the line of a key, or nil if the client is closed.
func (c *Client) join(key string) *line {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	l := c.lines[key]
	if l == nil {
		l = &line{client: c, key: key, turn: make(chan struct{}, 1), wake: make(chan struct{}, 1)}
		l.ctx, l.stop = context.WithCancel(context.Background())
		c.lines[key] = l
	}
	if l.users++; l.expires != nil {
		l.expires.Stop()
		l.expires = nil
	}
	return l
}

// leave is the opposite of join.
func (l *line) leave() {
	c := l.client
	c.mu.Lock()
	defer c.mu.Unlock()
	if l.users--; l.users > 0 {
		return
	}
	var t *time.Timer
	t = time.AfterFunc(linger, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if l.expires == t { // nobody came meanwhile
			delete(c.lines, l.key)
			l.stop()
		}
	})
	l.expires = t
}

// listen subscribes to the channel of every node, once.
func (l *line) listen() {
	l.listening.Do(func() {
		for i, n := range l.client.config.Nodes {
			l.client.background(func() { l.follow(i, n) })
		}
	})
}

// follow hears the unlock messages of one node until the line ends. It subscribes again after a broken connection. The
// confirmation of a subscription counts as a message: what was sent before it is lost.
func (l *line) follow(i int, n node.Node) {
	channel := keysOf(l.key).channel
	hear := n.Listen
	if l.client.config.Sharded {
		hear = n.(node.Sharded).ListenShard
	}
	pause := 20 * time.Millisecond
	for l.ctx.Err() == nil {
		_ = hear(l.ctx, channel, func(message string) { // an error only says that the poll has to do
			if message == "" {
				pause = 20 * time.Millisecond
			}
			l.hears(i)
		})
		t := time.NewTimer(pause)
		select {
		case <-t.C:
		case <-l.ctx.Done():
			t.Stop()
		}
		pause = min(2*pause, time.Second)
	}
}

// hears notes a message of one node. Messages of a majority wake the first waiter. Those of a minority do not: they may
// be of an attempt that has failed, while somebody holds the lock on the other nodes. Two waiters would otherwise wake
// each other for ever.
func (l *line) hears(i int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard |= 1 << i
	if bits.OnesCount32(l.heard) < l.client.quorum {
		return
	}
	l.heard = 0
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// reset forgets the messages so far. An attempt that begins now sees what they announced.
func (l *line) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = 0
	select {
	case <-l.wake:
	default:
	}
}

func (l *line) refused(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = err
}

func (l *line) lastRefusal() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}
