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

	"github.com/holdfast-go/holdfast/internal/ambient"
	"github.com/holdfast-go/holdfast/internal/aside"
	"github.com/holdfast-go/holdfast/internal/fanout"
	"github.com/holdfast-go/holdfast/internal/nodescript"
	"github.com/holdfast-go/holdfast/internal/renewal"
	"github.com/holdfast-go/holdfast/internal/waiting"
)

// Client takes and keeps locks on one node set. Make one per process and share it: it
// is safe for concurrent use, and its goroutines are bounded by the number of nodes,
// not of locks. Only [New] makes one: the zero Client, Mutex and Lease are of no use.
type Client struct {
	config Config
	fan    *fanout.Fanout
	locker *waiting.Locker
	keeper *renewal.Keeper
	log    *aside.Queue // the Logger's

	closing sync.Once
	times   nodescript.Times // of the usual TTL
	closed  atomic.Bool
	stop    chan struct{} // closed by Close: waits end

	mu     sync.RWMutex   // between a call that begins and Close
	taking sync.WaitGroup // calls that may still make a lease
}

// logPatience is how long Close waits for a Logger that blocks.
const logPatience = time.Second

// New returns a client. It does not touch the network; the first lock does. An error
// names the field of c, its value and the bound; the nodes then stay open, and yours to
// close. A client closes its own.
func New(c Config) (*Client, error) {
	c = c.withDefaults()
	if err := c.validate(); err != nil {
		return nil, err
	}
	log := &aside.Queue{}
	// Who logs may hold what a lease's deadline needs.
	c.Logger = slog.New(aside.Handler(c.Logger.Handler(), log))
	cl := &Client{config: c, log: log, times: nodescript.NewTimes(c.TTL), stop: make(chan struct{})}
	here := ambient.Of(c.Nodes[0])
	cl.fan = fanout.New(fanout.Config{
		Nodes: c.Nodes, Set: c.nodeSet(), Timeout: c.NodeTimeout, Clock: here.Clock, Random: here.Random, Logger: c.Logger,
	})
	var b [12]byte
	id := string(random(here.Random, b[:])) // tells this client's inbox from others
	cl.locker = &waiting.Locker{
		Fan: cl.fan, RetryDelay: c.RetryDelay, Stop: cl.stop, Fair: c.Fair, Gap: c.PollGap, Inbox: waiting.NewInbox(cl.fan, id),
		NewOwner: func(ticket int64) string {
			var b [16]byte
			return nodescript.NewOwner(c.Label, id, ticket, random(here.Random, b[:]))
		},
	}
	cl.keeper = renewal.NewKeeper(cl.fan)
	cl.keeper.Explain = cl.lost
	cl.keeper.Refused, cl.locker.Inbox.Repair = cl.locker.Inbox.Subscribe, cl.keeper.Repair
	return cl, nil
}

// Close ends every wait for a lock, gives back every lease the client holds, then
// closes the nodes. It does not wait for the work under those leases, which would go on
// beside that of the next holder: end it first. It waits for the nodes' answers up to
// twice [Config.NodeTimeout]; what a node did not hear of ends there with its TTL. Later
// calls on the client and its locks return [ErrClosed], and so does a [Mutex.Do] that was
// under way. For a [Config.Logger] that blocks it waits another second.
// Close returns an error if a lease could not be given back on a majority.
func (c *Client) Close() error {
	var err error
	c.closing.Do(func() {
		c.mu.Lock()
		c.closed.Store(true)
		c.mu.Unlock()
		close(c.stop)
		ctx, cancel := context.WithTimeout(context.Background(), 2*c.config.NodeTimeout)
		defer cancel()
		c.awaitTaking()
		c.keeper.Close() // first: a lease that comes after this look is ended by the keeper
		held := c.keeper.Held()
		failed := make([]error, len(held))
		var wait sync.WaitGroup
		for i, e := range held {
			wait.Go(func() {
				if failed[i] = e.Release(ctx, nil); failed[i] == renewal.ErrUnknown {
					failed[i] = context.Cause(ctx)
				}
			})
		}
		wait.Wait()
		c.fan.Close(ctx)
		c.log.Wait(logPatience) // a test's log, for one, must not be written after the test
		n := 0
		for _, e := range failed {
			if e != nil && !errors.Is(e, ErrReleased) { // an Unlock was quicker
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

// enter begins a call that may make a lease; taking.Done ends it. It reports false if
// the client is closed: a lease that Close does not see would be nobody's to give back.
func (c *Client) enter() bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.closed.Load() {
		return false
	}
	c.taking.Add(1)
	return true
}

// awaitTaking waits for the calls that began before the client was closed. Bounded,
// because an OnWait that calls Close would wait for itself; and by half of the time, or
// what is held could not be given back then.
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

// Mutex returns the lock called name: any bytes, from 1 to 1,024 with [Config.Prefix],
// but for names that would alias keys of Holdfast's own or part a name's keys in Redis
// Cluster: those that begin with "holdfast:node", end in ":holdfast" or
// ":holdfast:queue", have a { without its } or a } without its {, or whose first { is
// followed by }. The methods that take the lock, and [Client.Status], refuse them before
// they touch the network. No network.
func (c *Client) Mutex(name string, opts ...Option) *Mutex {
	m := &Mutex{client: c, name: name, ttl: c.config.TTL}
	for _, o := range opts {
		o(m)
	}
	times := c.times
	if m.ttl != c.config.TTL {
		times = nodescript.NewTimes(m.ttl)
	}
	m.lock = nodescript.NewLock(c.config.Prefix+name, c.config.Private, times)
	m.bad = checkName(m.lock.Name)
	if m.bad == nil {
		m.bad = c.config.checkTTL(m.ttl)
	}
	return m
}

// Option changes one lock.
type Option func(*Mutex)

// WithTTL sets the lock's TTL: from 8 × Window to MaxTTL. A bad value is returned by
// the methods that take the lock.
func WithTTL(ttl time.Duration) Option { return func(m *Mutex) { m.ttl = ttl } }

// WaitThroughOutages has Lock and Do wait on while no quorum of the nodes can be had, until
// their context ends: for a daemon that has nothing else to do. [OnWait] hears of the outage. It
// also waits where only an operator can help: where the configuration differs, say, or a URL is wrong.
func WaitThroughOutages() Option { return func(m *Mutex) { m.through = true } }

// OnWait has f called after each attempt of a waiting Lock that failed, with a
// [*HeldError] or an [*UnavailableError]: to tell people whom they wait for. Of several
// goroutines of one client that wait for one name only the first makes attempts: f of another
// is not called before those in front of it are gone.
//
// f must return soon. The goroutine that called Lock runs it between two attempts, so that it never runs
// beside or after Lock. While it runs nobody of this client attempts to get this name: what is
// handed to Lock goes to another client after a second, and those behind it are told of an
// outage that much later. A panic in f comes out of Lock, which leaves no place in a queue; the others
// wait on. f may end the wait by cancelling Lock's context.
//
// Attempts come about once a second. Where nothing could wake the waiter, behind a foreign key or without a quorum,
// they come after each [Config.RetryDelay]: ten times a second by default.
func OnWait(f func(err error)) Option { return func(m *Mutex) { m.onWait = f } }

// random fills text, a multiple of 4 bytes long, with as many random letters: of a source
// that the runtime seeds from the system's, which is enough for what must not come twice.
func random(draw func() uint64, text []byte) []byte {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], draw())
	binary.LittleEndian.PutUint64(b[8:], draw())
	base64.RawURLEncoding.Encode(text, b[:len(text)/4*3])
	return text
}
