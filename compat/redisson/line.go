package redisson

import (
	"context"
	"math/bits"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/node"
)

// linger is the time for which the subscriptions stay after the last waiter has left. Without it, each wait for a
// busy name would open a new connection to each node.
const linger = time.Second

// line is the queue of one client's goroutines that wait for one key. Only the first goroutine asks the nodes. The
// others wait behind it, in the order in which they came. So a release causes one request per process and node. All
// goroutines share the subscriptions.
type line struct {
	client  *Client
	key     string
	turn    chan struct{} // has room for the first goroutine only; Go lets blocked senders continue in order
	quiet   quiet         // only for the first goroutine
	users   int           // guarded by Client.mu
	expires *time.Timer   // guarded by Client.mu: ends the subscriptions some time after the last user

	listening [2]sync.Once // one for each channel
	ctx       context.Context
	stop      context.CancelFunc

	mu    sync.Mutex
	last  error  // the last refusal, which goroutines behind the first one also report
	heard uint32 // set of nodes that sent a message since the last reset
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

// leave undoes join.
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
		if l.expires == t { // no new user has come
			delete(c.lines, l.key)
			l.stop()
		}
	})
	l.expires = t
}

// listen subscribes to the channels on which the holder may announce its release. An RReadWriteLock of Java uses a
// channel of its own. All other holders use the channel of RLock, and the holders of this package use both. Only the
// first call for each channel has an effect.
func (l *line) listen(holder *HeldError) {
	l.hear(0, keysOf(l.key).channel)
	if holder.Mode == "read" || strings.HasSuffix(holder.Holder, ":write") {
		l.hear(1, keysOf(l.key).rwChannel)
	}
}

func (l *line) hear(which int, channel string) {
	l.listening[which].Do(func() {
		for i, n := range l.client.config.Nodes {
			l.client.tasks.Go(func() { l.follow(i, n, channel) })
		}
	})
}

// follow receives the unlock messages on a channel of one node until the line ends. After a broken connection it
// subscribes again. The confirmation of a subscription counts as a message, because an unlock message sent before it
// was missed.
func (l *line) follow(i int, n node.Node, channel string) {
	hear := n.Listen
	if l.client.config.Sharded {
		hear = n.(node.Sharded).ListenShard
	}
	pause := 20 * time.Millisecond
	for l.ctx.Err() == nil {
		_ = hear(l.ctx, channel, func(message string) { // without messages the waiter asks after each Poll
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

// hears handles a message of one node. When a majority of the nodes has sent messages, the first waiter wakes up.
// Messages of a minority must not wake it: they may come from an attempt that failed, while another client has the
// lock on the other nodes. Otherwise two waiters could wake each other for ever by their failed attempts.
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

// reset forgets all earlier messages. The next attempt begins after them, so it finds what they announced.
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
