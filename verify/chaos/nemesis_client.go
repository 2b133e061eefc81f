//go:build linux

package chaos

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// clientKinds are faults of clients.

var clientKinds = []kind{
	{name: "client killed", begin: onClient(func(a *arena, r *rand.Rand, slot int, p *process) {
		p.kill()
		time.Sleep(between(r, 0, 500*time.Millisecond))
		a.startClient(slot)
	})},
	{name: "client frozen", begin: onClient(func(_ *arena, r *rand.Rand, _ int, p *process) {
		p.freeze()
		time.Sleep(between(r, 200*time.Millisecond, 6*time.Second))
		p.thaw()
	})},
}

func onClient(f func(*arena, *rand.Rand, int, *process)) func(*arena, *rand.Rand) *deed {
	return func(a *arena, r *rand.Rand) *deed {
		slot := a.pickClient(r)
		p := a.slots[slot]
		if p == nil {
			return nil
		}
		a.slots[slot] = nil // no other fault uses the slot during this fault
		return &deed{do: func() bool {
			f(a, r, slot, p)
			a.mu.Lock()
			defer a.mu.Unlock()
			if a.slots[slot] == nil {
				a.slots[slot] = p
			}
			return true
		}}
	}
}

// The nodes must refuse these clients. The clients come while no node has lost its memory, because a node without
// memory takes the configuration of its first client.

const (
	aliased   = "one server under two addresses"
	fewer     = "client with a part of the nodes"
	otherwise = "client with another MaxTTL"
)

var misfitKinds = []kind{
	{name: aliased, needs: 5, calm: true, ours: true, begin: misfit(aliased, func(a *arena, r *Role) {
		// This client sees five nodes, but there are only two servers.
		x, y := a.nodes[0], a.nodes[1]
		r.Nodes = []string{x.proxies[0].URL(), x.proxies[1].URL(), y.proxies[0].URL(), y.proxies[1].URL(), x.server.URL()}
	})},
	{name: fewer, needs: 5, calm: true, ours: true, begin: misfit(fewer, func(_ *arena, r *Role) { r.Nodes = r.Nodes[:3] })},
	{name: otherwise, needs: 3, calm: true, ours: true, begin: misfit(otherwise, func(a *arena, r *Role) { r.MaxTTL = 5 * a.plan.TTL })},
}

func misfit(name string, spoil func(*arena, *Role)) func(*arena, *rand.Rand) *deed {
	return func(a *arena, r *rand.Rand) *deed {
		a.nextID++
		role := a.role(a.nextID - 1)
		role.Misfit = name
		spoil(a, &role)
		return &deed{do: func() bool {
			if !a.allVoted(5 * time.Second) {
				a.t.Logf("chaos: not every node has voted: no place for a %s", name)
				return false
			}
			p := startProcess(a.t, role)
			a.mu.Lock()
			a.processes = append(a.processes, p)
			a.mu.Unlock()
			time.Sleep(2*time.Second + between(r, 0, time.Second))
			// Other faults may keep nodes busy.
			for end := time.Now().Add(patience); !p.answered() && time.Now().Before(end); {
				time.Sleep(50 * time.Millisecond)
			}
			if err := p.leave(20 * time.Second); err != nil {
				a.t.Error(err)
			}
			return true
		}}
	}
}

// answered reports whether a misfit was refused or got a lock.
func (p *process) answered() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.events, func(e Event) bool { return e.What == tried || e.What == has })
}

// allVoted waits until every node has the configuration under which it votes.
func (a *arena) allVoted(within time.Duration) bool {
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		voted := 0
		for _, n := range a.nodes {
			if v, err := n.server.Do("HGET", nodescript.AdmissionKey, "config"); err == nil && v != nil {
				voted++
			}
		}
		if voted == len(a.nodes) {
			return true
		}
	}
	return false
}
