// Package busy is a busy node set for people who look at holdfast ui or holdfast top: embedded nodes in this process,
// and clients that lock all kinds of names. Every half minute one node goes away and comes back empty.
package busy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/election"
	"github.com/holdfast-go/holdfast/holdfasttest/embedded"
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// Set is a busy node set.
type Set struct {
	ctx    context.Context
	cancel context.CancelFunc
	wait   sync.WaitGroup

	mu      sync.Mutex
	nodes   []*embedded.Node
	clients []*holdfast.Client
}

const nodes = 5

// away is the time between two restarts of the last node, and gone the time for which it is down. A test changes them.
var away, gone = 20 * time.Second, 6 * time.Second

// config is the configuration of the clients, except for what differs. A test gives them more time.
var config = holdfast.Config{NodeTimeout: 2 * time.Second}

// crowd is the largest number of goroutines for a name. A test makes it smaller: an embedded node is slow, and more so
// under the race detector.
var crowd = 4

// pause is the longest pause of a goroutine between two pieces of work. A test makes it longer, for the same reason.
var pause = 2 * time.Second

// Start starts the nodes and their clients.
func Start() (*Set, error) {
	s := &Set{}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	for range nodes {
		n, err := embedded.Start("127.0.0.1:0")
		if err != nil {
			s.Close()
			return nil, err
		}
		s.nodes = append(s.nodes, n)
	}
	for _, label := range []string{"web-1/4711", "web-2/4712", "web-3/815", "batch-1/99", "batch-2/1203", "db-a/17"} {
		opened, err := rueidisnode.Open(s.URLs()...)
		if err == nil {
			var c *holdfast.Client
			own := config
			own.Nodes, own.Label, own.Logger = opened, label, slog.New(slog.DiscardHandler)
			if c, err = holdfast.New(own); err == nil {
				s.clients = append(s.clients, c)
			}
		}
		if err != nil {
			s.Close()
			return nil, err
		}
	}
	s.work()
	return s, nil
}

// URLs returns the URLs of the nodes.
func (s *Set) URLs() (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.nodes {
		all = append(all, n.URL())
	}
	return all
}

// Close ends the clients and the nodes.
func (s *Set) Close() {
	s.cancel()
	s.wait.Wait()
	var wait sync.WaitGroup
	for _, c := range s.clients {
		wait.Go(func() { _ = c.Close() })
	}
	wait.Wait()
	for _, n := range s.nodes {
		n.Close()
	}
}

// work starts the goroutines of the clients.
func (s *Set) work() {
	for i, name := range []string{
		"orders/1042", "orders/1043", "orders/1044", "orders/2017", "billing/invoice/7", "billing/invoice/8", "billing/month-end",
		"stock/4006381333931", "stock/7610400014571", "mail/queue", "search/reindex", "cache/warm-up", "images/resize",
		"kunden/größe", `<b onclick="alert(1)">bold</b> & co`,
	} {
		for k := range 1 + i%crowd {
			s.repeat(func(c *holdfast.Client) error { return c.Mutex(name).Do(s.ctx, s.hold) }, i+k)
		}
	}
	for i := range 6 {
		s.repeat(func(c *holdfast.Client) error { return c.Semaphore("gpu", 4).Do(s.ctx, s.hold) }, i)
		s.repeat(func(c *holdfast.Client) error { return c.Mutex("catalogue").RDo(s.ctx, s.hold) }, i)
	}
	s.repeat(func(c *holdfast.Client) error { return c.Mutex("catalogue").Do(s.ctx, s.hold) }, 3)
	for i := range 3 {
		s.repeat(func(c *holdfast.Client) error { return election.New(c, "db-writer").Run(s.ctx, s.lead) }, i)
	}
	for name, schedule := range map[string]string{"nightly-report": "every 1m", "sync": "every 5s", "clean-up": "every 10s"} {
		for _, c := range s.clients[:3] {
			spec := job.Spec{Name: name, Schedule: schedule, Logger: slog.New(slog.DiscardHandler)}
			s.wait.Go(func() { _ = job.Run(s.ctx, c, spec, s.job) })
		}
	}
	s.wait.Go(s.restarts)
}

// repeat repeats a piece of work with one of the clients, with pauses.
func (s *Set) repeat(work func(*holdfast.Client) error, i int) {
	c := s.clients[i%len(s.clients)]
	s.wait.Go(func() {
		_ = clock.Rest(s.ctx, rand.N(pause)) // all at once would be too much for the nodes
		for s.ctx.Err() == nil {
			_ = work(c) // an outage: the next round tries again
			_ = clock.Rest(s.ctx, 200*time.Millisecond+rand.N(pause))
		}
	})
}

func (s *Set) hold(ctx context.Context) error {
	_ = clock.Rest(ctx, 300*time.Millisecond+rand.N(3*time.Second))
	return nil
}

func (s *Set) lead(ctx context.Context, term election.Term) error {
	if err := term.Publish(ctx, fmt.Appendf(nil, "https://10.0.0.%d:5432", 10+rand.N(90))); err != nil {
		return err
	}
	_ = clock.Rest(ctx, 15*time.Second+rand.N(10*time.Second))
	return nil
}

func (s *Set) job(ctx context.Context, _ job.Tick) error {
	_ = clock.Rest(ctx, rand.N(4*time.Second))
	if rand.N(4) == 0 {
		return errors.New("exit status 3")
	}
	return nil
}

// restarts restarts the last node now and then.
func (s *Set) restarts() {
	for clock.Rest(s.ctx, away) == nil && s.restart() {
	}
}

// restart takes the last node away, and brings it back without its memory. It reports false if the node did not come
// back.
func (s *Set) restart() bool {
	s.mu.Lock()
	n := s.nodes[nodes-1]
	s.mu.Unlock()
	addr := n.Addr() // a closed node has none
	n.Close()
	if clock.Rest(s.ctx, gone) != nil {
		return false
	}
	back, err := embedded.Start(addr, embedded.Restarted())
	if err != nil {
		return false // another program took the port
	}
	s.mu.Lock()
	s.nodes[nodes-1] = back
	s.mu.Unlock()
	return true
}
