package interop

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// mixed is 4 processes of Holdfast and 4 of a library that count under one lock. The counter is not protected
// otherwise.
type mixed struct {
	t       *testing.T
	ours    string // of goClients
	lib     library
	servers []*redistest.Server
	target  int
	kills   int // holders of each side that are killed

	db           *redis.Client
	wait, ready  sync.WaitGroup
	made, killed [2]atomic.Int64 // increments, and killed holders, of ours and of the library
}

// run returns the number of increments that are lost.
func (c *mixed) run() int {
	counting := redistest.Start(c.t)
	c.db = redis.NewClient(&redis.Options{Addr: counting.Addr(), MaxRetries: -1})
	defer c.db.Close()
	c.ready.Add(8)
	for i := range 4 {
		for side, of := range []library{{name: c.ours, nodes: c.lib.nodes}, c.lib} {
			name := "orders"
			if side == 0 {
				name = c.lib.prefix + name
			}
			c.wait.Go(func() {
				if err := c.work(side, of, name, i < c.kills); err != nil {
					c.t.Errorf("%s: %v", of.name, err)
				}
			})
		}
	}
	c.ready.Wait()
	began := time.Now()
	c.wait.Wait()
	n, _ := c.db.Get(c.t.Context(), "counter").Int()
	lost := int(c.made[0].Load()+c.made[1].Load()) - n
	c.t.Logf("%s: %d increments in %v: Holdfast %d, the library %d; killed %d and %d holders; lost %d", c.lib.name, n,
		time.Since(began).Round(time.Millisecond), c.made[0].Load(), c.made[1].Load(), c.killed[0].Load(), c.killed[1].Load(), lost)
	return lost
}

// work is one worker. If it is to die, its process is killed while it has its first lock, and a new one takes its
// place.
func (c *mixed) work(side int, of library, name string, die bool) error {
	p, err := startRemote(c.t, of, c.servers, ttl)
	c.ready.Done()
	c.ready.Wait() // a JVM takes seconds to start
	for err == nil {
		p.send("lock", name)
		if got := p.answer(); got != "ok" {
			return fmt.Errorf("lock: %q", got)
		}
		now, err := c.db.Get(c.t.Context(), "counter").Int()
		if err != nil && err != redis.Nil {
			return err
		}
		if now < c.target {
			if err := c.db.Eval(c.t.Context(), add, []string{"counter", "log"}, now+1, of.name).Err(); err != nil {
				return err
			}
			c.made[side].Add(1)
		}
		if die {
			die = false
			p.Kill()
			c.killed[side].Add(1)
			if p, err = startRemote(c.t, of, c.servers, ttl); err != nil {
				return err
			}
			continue
		}
		p.send("unlock", name)
		if got := p.answer(); got != "ok" {
			return fmt.Errorf("unlock: %q", got)
		}
		if now >= c.target {
			return nil
		}
		time.Sleep(rand.N(10 * time.Millisecond)) // work without the lock: otherwise one side gets nearly nothing
	}
	return err
}

// No increment is lost beside any library, although holders of both sides are killed.
func TestCrowdsOfLibrariesLoseNoIncrement(t *testing.T) {
	target, kills := 10_000, 2
	if testing.Short() {
		target, kills = 500, 1
	}
	each(t, func(t *testing.T, lib library, servers []*redistest.Server, _ *holdfast.Client) {
		c := mixed{t: t, ours: "holdfast", lib: lib, servers: servers, target: target, kills: kills}
		if lib.stalls {
			c.target /= 10
		}
		if lost := c.run(); lost != 0 {
			t.Errorf("%d increments are lost", lost)
		}
		for side := range 2 {
			if c.killed[side].Load() != int64(kills) || c.made[side].Load() <= int64(kills) {
				t.Errorf("side %d: %d of %d holders were killed, and it made %d increments", side, c.killed[side].Load(), kills, c.made[side].Load())
			}
		}
	})
}

// The control: without the plain key the two sides exclude nobody of the other side, and the crowd notices that.
func TestACrowdWithoutThePlainKeyLosesIncrements(t *testing.T) {
	servers := redistest.StartN(t, 1)
	_ = voting(t, servers)
	c := mixed{t: t, ours: "private", lib: libraries[0], servers: servers, target: 2000}
	if lost := c.run(); lost == 0 {
		t.Error("nothing is lost: the crowd cannot fail")
	}
}
