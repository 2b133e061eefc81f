//go:build linux

package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// The end of a run is where it shows what clients leave behind: nobody comes after them who would clear it away, and
// no lease is over by itself yet. So they are told to end in two steps. First their loops do, and say farewell with
// attempts that are cut short at any moment, while commands overtake each other and a minority of the nodes gets out
// of reach. Their lockers stay open for as long as they may take to bring the nodes what these did
// not hear of, and are closed then.

const (
	// parting is for how long each loop makes attempts that are cut short.
	parting = 400 * time.Millisecond
	// What a node does not answer is given up after nodeTimeout, and sent again after resend, the lock's own
	// pause between two tries to deliver a release (internal/fanout).
	nodeTimeout = 300 * time.Millisecond
	resend      = 200 * time.Millisecond
	// lost is for how long commands get lost: so long that a client has taken those for lost that came before, too,
	// and what it sends thereupon is lost as well.
	lost = nodeTimeout + 100*time.Millisecond
	// grace is how soon nothing may be left of a client that wants nothing any more, once every node can be
	// reached: it may have to be sent twice, the first time because a connection was in truth dead. It is half of the
	// TTL of a run, so that what is left behind then is there for as long again.
	grace = 2 * (resend + nodeTimeout)
)

// part makes attempts that are cut short, for names that all want and for one of its own, which is always free. One that
// wins all the same is given back at once.
func (c *client) part(loop int, n int64) error {
	own := fmt.Sprintf("farewell-%d-%d", c.Client, loop)
	for end := time.Now().Add(parting); time.Now().Before(end); n++ {
		e := Event{Name: own}
		if rand.N(2) == 0 {
			e = c.want(loop, n)
		}
		ctx, stop := context.WithTimeout(context.Background(), rand.N(8*time.Millisecond))
		held, err := c.locker.Lock(ctx, e.Name)
		stop()
		switch {
		case err != nil:
		case e.Name == own: // nobody else can believe in it
			if err := held.Unlock(context.Background()); err != nil {
				c.say.note("unlock: failed")
			}
		default:
			err = c.hold(e, held, func(*Event, func()) error { return nil })
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// part has the loops of all clients end, and returns what was still there a grace after they had. The lockers are
// still open then.
func (a *arena) part() (left []string) {
	for _, p := range a.staying() {
		p.stop()
	}
	a.hinder()
	look := a.newLook()
	for began := Monotonic(); ; {
		before := Monotonic()
		look.all()
		idle := true
		for _, p := range a.staying() {
			idle = idle && look.over(p, before)
		}
		if idle || time.Duration(before-began) > patience {
			return look.list()
		}
		const nap = 50 * time.Millisecond
		time.Sleep(nap)
		look.late(time.Duration(Monotonic()-before) - nap)
	}
}

// staying are the clients that are to end by themselves.
func (a *arena) staying() (list []*process) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range a.processes {
		if p.killed == 0 && p.role.Misfit == "" {
			list = append(list, p)
		}
	}
	return list
}

// hinder makes commands overtake each other while the clients part, and loses those to a minority of the nodes from
// some moment on: from one of each node's two sides after the other.
func (a *arena) hinder() {
	for _, n := range a.nodes {
		for _, p := range n.proxies {
			p.Treat(func(command []string) redistest.Treatment {
				if len(command) == 0 || strings.ToUpper(command[0]) != "EVALSHA" || rand.N(4) > 0 {
					return redistest.Treatment{}
				}
				return redistest.Treatment{Overtaken: 1 + rand.N(5), Delay: rand.N(50 * time.Millisecond)}
			})
		}
	}
	var under sync.WaitGroup
	for i, n := range a.nodes[:(len(a.nodes)-1)/2] {
		for side, p := range n.proxies {
			under.Go(func() {
				time.Sleep(parting/4 + time.Duration(i*sides+side)*parting/8)
				p.DropRequests(true)
				time.Sleep(lost)
				p.DropRequests(false)
			})
		}
	}
	time.Sleep(parting)
	under.Wait()
	for _, n := range a.nodes {
		for _, p := range n.proxies {
			p.Treat(nil)
		}
	}
}
