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

// The end of a run shows the traces that clients leave, because no later client removes them, and no lease has ended by
// itself yet. So clients end in two steps. First their loops end, with attempts that are cut short at any moment. In
// this time commands overtake each other, and a minority of the nodes becomes unreachable. The lockers stay open as
// long as they may need to bring missed commands to the nodes. In the second step the lockers are closed.

const (
	// parting is the last part of a loop's time. In this part the loop makes attempts with very short timeouts.
	parting = 400 * time.Millisecond
	// A client gives up an unanswered command after nodeTimeout, and sends the command again after resend. resend is
	// the lock's own pause between two tries to deliver a release (internal/core/fanout).
	nodeTimeout = 300 * time.Millisecond
	resend      = 200 * time.Millisecond
	// lost is the time for which the proxies lose commands. In this time a client gives up earlier commands too, and
	// its repeated commands are also lost.
	lost = nodeTimeout + 100*time.Millisecond
	// grace is the time for which a trace of a client may remain after the client wants nothing and every node is
	// reachable. A client may have to send a command twice, the first time on a dead connection. grace is half of the
	// TTL of a run. So a trace that remains after grace would stay for the other half of the TTL.
	grace = 2 * (resend + nodeTimeout)
)

// part makes attempts that are cut short. Half of them are for the common names, and the others for a name of this loop
// that is always free. If an attempt wins a lock, part releases the lock at once.
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
		case e.Name == own: // no other client can rely on this name
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

// part ends the loops of all clients. It returns the traces that still exist after grace, while the lockers are still
// open.
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

// staying returns the clients that must end by themselves.
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

// hinder makes commands overtake each other while the clients end. After some time it also loses the commands to a
// minority of the nodes, first on one side of each node and then on the other.
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
