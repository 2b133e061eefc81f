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
	"github.com/holdfast-go/holdfast/internal/core/ending"
	"github.com/holdfast-go/holdfast/internal/core/events"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/renewal"
	"github.com/holdfast-go/holdfast/internal/core/waiting"
	"github.com/holdfast-go/holdfast/internal/inside"
)

// Client takes and keeps locks on one node set. It is safe for concurrent use. One Client per process is enough: the
// number of its goroutines depends on the number of nodes, and does not grow with the number of locks.
//
// Only [New] makes a usable Client. A zero Client, Mutex or Lease does not work.
type Client struct {
	config Config
	sets   sets
	locker *waiting.Locker
	keeper *renewal.Keeper
	events events.Stream
	log    *async.Queue // runs the calls of the Logger
	logger *slog.Logger // the Logger as the caller gave it

	observers []*eventQueue

	closing sync.Once
	times   nodescript.Times // the times of Config.TTL
	closed  atomic.Bool
	stop    chan struct{} // closed by Close; this ends all waits

	mu     sync.RWMutex   // Close locks it for writing, so that no call starts while Close sets closed
	taking sync.WaitGroup // counts calls that may still make a lease

	inside inside.Client // what other packages of Holdfast use
}

// logPatience is the time for which Close waits for a Logger that blocks.
const logPatience = time.Second

// New returns a client. New does not use the network; the first lock does. If a value of c is bad, the error names
// the field, the value and the bound.
//
// [Client.Close] also closes the nodes. After an error of New there is no client, so the caller must close the nodes.
func New(c Config) (*Client, error) {
	c = c.withDefaults()
	if err := c.validate(); err != nil {
		return nil, err
	}
	log, logger := &async.Queue{}, c.Logger
	// The Logger runs in a goroutine of its own. A Logger that blocks would otherwise stop a caller that has a
	// mutex, and a lost lease could not be announced before its deadline.
	c.Logger = slog.New(async.Handler(c.Logger.Handler(), log))
	cl := &Client{config: c, log: log, logger: logger, times: nodescript.NewTimes(c.TTL), stop: make(chan struct{})}
	cl.logs()
	cl.observe()
	cl.openSets()
	cl.openInside()
	cl.openObservers()
	return cl, nil
}

// Logger returns [Config.Logger], or its default. Package job uses it for jobs without a logger of their own.
func (c *Client) Logger() *slog.Logger { return c.logger }

// Close ends all waits for locks, releases all leases of the client, and then closes the nodes. If a majority of the
// nodes did not confirm the release of a lease, Close returns an error. If [Lease.UnlockAt] ended a handle of a
// lease, the nodes keep the name taken until the instant that UnlockAt got.
//
// Close does not wait for the work that runs under the leases. End this work first. Otherwise it runs at the same
// time as the work of the next holder.
//
// Close waits for the answers of the nodes for up to twice [Config.NodeTimeout]. If the release does not reach a
// node, the lease ends there with its TTL. If the [Config.Logger] blocks, Close waits one second more.
//
// Later calls on the client and its locks return [ErrClosed]. If [Mutex.Do] is running, it also returns this error.
func (c *Client) Close() error {
	var err error
	c.closing.Do(func() {
		c.mu.Lock()
		c.closed.Store(true)
		c.mu.Unlock()
		close(c.stop)
		for _, s := range c.sets.live() {
			s.fan.EndWaits()
		}
		ctx, cancel := context.WithTimeout(context.Background(), 2*c.config.NodeTimeout)
		defer cancel()
		c.awaitTaking()
		c.keeper.Close() // before Held: after this, the keeper itself ends each new lease
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
		c.sets.close(ctx)
		patience := time.Now().Add(logPatience)
		c.closeObservers(patience)
		c.log.Wait(time.Until(patience)) // wait for the Logger: a test's log, for example, must not be written after the test
		n := 0
		for _, e := range failed {
			if e != nil && !errors.Is(e, ErrReleased) { // ErrReleased: a call of Unlock was faster than Close, which is no error
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

// enter begins a call that may make a lease. It returns false if the client is closed. Without this check, a call
// could make a lease after Close has listed all leases, and nobody would release this lease. After true the caller
// must call taking.Done.
func (c *Client) enter() bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.closed.Load() {
		return false
	}
	c.taking.Add(1)
	return true
}

// awaitTaking waits for the calls that began before Close, but only for one NodeTimeout. Without this limit, a
// function of [OnWait] that calls Close would wait for itself for ever. One NodeTimeout is half of the time that
// Close has. The other half is for the releases.
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
// A name, together with [Config.Prefix], has from 1 to 1,024 bytes. It may contain any bytes. These names are
// refused. They would collide with keys of Holdfast, or Redis Cluster would put the keys of one name on different
// servers:
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
	m.set(&c.config, opts)
	times := c.times
	if m.ttl != c.config.TTL {
		times = nodescript.NewTimes(m.ttl)
	}
	m.lock = nodescript.NewExclusive(nodescript.NewLock(c.config.Prefix+name, c.config.Private, times))
	m.bad = m.check()
	return m
}

// random fills text with random letters. The length of text must be a multiple of 4, and at most 20. draw usually is
// the random source of the Go runtime, which starts from a seed of the operating system. This is good enough for ids
// that must not occur twice.
func random(draw func() uint64, text []byte) []byte {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], draw())
	binary.LittleEndian.PutUint64(b[8:], draw())
	base64.RawURLEncoding.Encode(text, b[:len(text)/4*3])
	return text
}

// Now returns the time by the clocks of a majority of the nodes, in UTC. Machines with wrong clocks get nearly the
// same time from it. Two clients of the same nodes differ by less than 1.5 × Window, and usually by far less. Fencing
// tokens use the same time: [Lease.Fence] is a time of Now in µs. Package job computes ticks from it.
//
// The first call asks the nodes. Later calls use the client's own steady clock to continue that time, and send
// nothing. The client reads the nodes' clocks again from time to time.
//
// The error matches [ErrUnavailable] if the clocks of a majority are not known, or if these clocks were just set to
// another time.
func (c *Client) Now(ctx context.Context) (time.Time, error) {
	if ctx == nil {
		return time.Time{}, withoutContext("time of the nodes", "")
	}
	if c.closed.Load() {
		return time.Time{}, fmt.Errorf("holdfast: time of the nodes: %w", ErrClosed)
	}
	sets, err := c.reachAll(ctx)
	if err != nil {
		return time.Time{}, fmt.Errorf("holdfast: time of the nodes: %w", err)
	}
	s := sets[0]
	said := s.fan.Settle(ctx)
	us, _, err := s.fan.Time()
	if err == nil {
		return time.UnixMicro(us).UTC(), nil
	}
	if ctx.Err() != nil {
		return time.Time{}, fmt.Errorf("holdfast: time of the nodes: %w", ending.Cause(ctx))
	}
	if said == nil {
		said = make([]nodescript.Answer, s.fan.N())
	}
	return time.Time{}, fmt.Errorf("holdfast: time of the nodes: %w", c.unavailable("", 0, s.said.All(func(nodescript.Answer) string { return "" }, said, err)))
}
