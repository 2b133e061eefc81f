package holdfast

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/async"
	"github.com/holdfast-go/holdfast/internal/core/environment"
	"github.com/holdfast-go/holdfast/internal/core/events"
	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/kind"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/renewal"
	"github.com/holdfast-go/holdfast/internal/core/waiting"
)

// Client takes and keeps locks on one node set. It is safe for concurrent use, so make one per process and share it.
// The number of its goroutines grows with the number of nodes and not with the number of locks. Only [New] makes a
// usable Client. A zero Client, Mutex or Lease does not work.
type Client struct {
	config Config
	id     string // distinguishes this client's inbox from those of other clients
	fan    *fanout.Fanout
	locker *waiting.Locker
	keeper *renewal.Keeper
	events events.Stream
	log    *async.Queue // runs the calls of the Logger

	closing sync.Once
	times   nodescript.Times // the times of Config.TTL
	closed  atomic.Bool
	stop    chan struct{} // closed by Close, and then all waits end

	mu     sync.RWMutex   // orders the starts of calls and Close
	taking sync.WaitGroup // counts calls that may still make a lease

	watching sync.Mutex
	watchers map[string]*watcher // by the name of the election
}

// logPatience is the time for which Close waits for a Logger that blocks.
const logPatience = time.Second

// New returns a client. New does not use the network; the first lock does. An error names the field of c, its value and
// its bound. After an error the caller must close the nodes. Otherwise Close of the client closes them.
func New(c Config) (*Client, error) {
	c = c.withDefaults()
	if err := c.validate(); err != nil {
		return nil, err
	}
	log := &async.Queue{}
	// Log asynchronously: callers may hold locks that deadline handling needs.
	c.Logger = slog.New(async.Handler(c.Logger.Handler(), log))
	cl := &Client{config: c, log: log, times: nodescript.NewTimes(c.TTL), stop: make(chan struct{})}
	cl.logs()
	here := environment.Of(c.Nodes[0])
	cl.fan = fanout.New(fanout.Config{
		Nodes: c.Nodes, Set: c.nodeSet(), Timeout: c.NodeTimeout, Clock: here.Clock, Random: here.Random, Logger: c.Logger,
		VoteChanged: func(node int, a nodescript.Answer, offset time.Duration) {
			cl.events.Emit(&events.Event{Kind: events.NodeState, Node: node, Answer: a, Offset: offset})
		},
	})
	var b [12]byte
	id := string(random(here.Random, b[:]))
	cl.id = id
	cl.locker = &waiting.Locker{
		Fan: cl.fan, RetryDelay: c.RetryDelay, Stop: cl.stop, Fair: c.Fair, Gap: c.PollGap, Inbox: waiting.NewInbox(cl.fan, id),
		NewOwner: func(ticket int64) string {
			var b [16]byte
			return nodescript.NewOwner(c.Label, id, ticket, random(here.Random, b[:]))
		},
	}
	cl.keeper = renewal.NewKeeper(cl.fan)
	cl.keeper.Explain, cl.keeper.Events = cl.lost, &cl.events
	cl.keeper.Refused, cl.locker.Inbox.Repair = cl.locker.Inbox.Subscribe, cl.keeper.Repair
	return cl, nil
}

// Close ends every wait for a lock, releases every lease that the client holds, and then closes the nodes. It returns
// an error if a majority of the nodes did not confirm the release of a lease. If a handle of a lease was ended by
// [Lease.UnlockAt], the nodes keep the name taken until that instant.
//
// Close does not wait for the work under those leases. End that work first, because it would otherwise run beside the
// work of the next holder.
//
// Close waits for the answers of the nodes for up to twice [Config.NodeTimeout]. On a node that did not get the
// release, the lease ends with its TTL. Close waits one more second for a [Config.Logger] that blocks.
//
// Later calls on the client and its locks return [ErrClosed]. A [Mutex.Do] that is running also returns it.
func (c *Client) Close() error {
	var err error
	c.closing.Do(func() {
		c.mu.Lock()
		c.closed.Store(true)
		c.mu.Unlock()
		close(c.stop)
		c.fan.EndWaits()
		ctx, cancel := context.WithTimeout(context.Background(), 2*c.config.NodeTimeout)
		defer cancel()
		c.awaitTaking()
		c.keeper.Close() // closed first, so that it ends each new lease itself
		held := c.keeper.Held()
		failed := make([]error, len(held))
		var wait sync.WaitGroup
		for i, e := range held {
			wait.Go(func() {
				if failed[i] = e.Close(ctx); failed[i] == renewal.ErrUnknown {
					failed[i] = context.Cause(ctx)
				}
			})
		}
		wait.Wait()
		c.fan.Close(ctx)
		c.log.Wait(logPatience) // wait for the Logger: a test's log, for example, must not be written after the test
		n := 0
		for _, e := range failed {
			if e != nil && !errors.Is(e, ErrReleased) { // not an error if Unlock was faster
				n++
				err = e
			}
		}
		if n > 0 {
			err = fmt.Errorf("holdfast: close: %d of %d held locks were not given back on a majority: %w", n, len(held), err)
		}
	})
	return err
}

// enter begins a call that may make a lease. It reports false if the client is closed: Close would not see the new
// lease, so nobody would release it. If enter reports true, taking.Done ends the call.
func (c *Client) enter() bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.closed.Load() {
		return false
	}
	c.taking.Add(1)
	return true
}

// awaitTaking waits for the calls that began before Close. The wait has a bound, because an OnWait that calls Close
// would otherwise wait for itself. The bound is half of the time for Close. The other half is for the release of the
// held leases.
func (c *Client) awaitTaking() {
	patience := time.NewTimer(c.config.NodeTimeout)
	defer patience.Stop()
	done := make(chan struct{})
	go func() { c.taking.Wait(); close(done) }()
	select {
	case <-done:
	case <-patience.C:
	}
}

// Mutex returns the lock with this name. It does not use the network.
//
// A name, together with [Config.Prefix], has from 1 to 1,024 bytes, and may contain any bytes. Some names are refused,
// because they would collide with keys of Holdfast or would split a name's keys in Redis Cluster:
//
//   - a name that begins with "holdfast:node"
//   - a name that ends in ":holdfast", ":holdfast:queue", ":holdfast:readers", ":holdfast:value" or
//     ":holdfast:forced"
//   - a name with a { that has no }, or with a } that has no {
//   - a name whose first { is directly followed by }
//
// The methods that take the lock, and [Client.Status], refuse a bad name before they use the network.
func (c *Client) Mutex(name string, opts ...Option) *Mutex {
	m := &Mutex{client: c, name: name}
	m.set(c.config.TTL, opts)
	times := c.times
	if m.ttl != c.config.TTL {
		times = nodescript.NewTimes(m.ttl)
	}
	m.lock = kind.NewExclusive(nodescript.NewLock(c.config.Prefix+name, c.config.Private, times))
	m.bad = m.check()
	return m
}

// random fills text, whose length is a multiple of 4, with random letters. The runtime seeds their source from the
// system's source. That is good enough for ids that must not occur twice.
func random(draw func() uint64, text []byte) []byte {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], draw())
	binary.LittleEndian.PutUint64(b[8:], draw())
	base64.RawURLEncoding.Encode(text, b[:len(text)/4*3])
	return text
}
