//go:build linux

package chaos

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// networkKinds are faults of the network between some clients and some nodes.

var networkKinds = []kind{
	{name: "partition", begin: onNetwork(connected(func(r *rand.Rand, p *redistest.Proxy) {
		p.BlackHole(true)
		time.Sleep(between(r, 300*time.Millisecond, 5*time.Second))
		p.BlackHole(false)
	}))},
	{name: "partition of requests only", begin: onNetwork(connected(func(r *rand.Rand, p *redistest.Proxy) {
		p.DropRequests(true)
		time.Sleep(between(r, 300*time.Millisecond, 5*time.Second))
		p.DropRequests(false)
	}))},
	{name: "partition of replies only", begin: onNetwork(connected(func(r *rand.Rand, p *redistest.Proxy) {
		p.DropReplies(true)
		time.Sleep(between(r, 300*time.Millisecond, 5*time.Second))
		p.DropReplies(false)
	}))},
	{name: "connections refused", begin: onNetwork(connected(func(r *rand.Rand, p *redistest.Proxy) {
		p.Cut(true)
		time.Sleep(between(r, 0, 3*time.Second))
		p.Cut(false)
	}))},
	{name: "connections stall, then deliver", begin: onNetwork(connected(func(r *rand.Rand, p *redistest.Proxy) {
		for range 1 + r.IntN(4) {
			p.StallExisting()
			time.Sleep(between(r, 50*time.Millisecond, 2*time.Second))
			p.Release()
		}
	}))},
}

// connected makes a fault of the present connections. If there are no connections, the fault has no effect.
func connected(f func(*rand.Rand, *redistest.Proxy)) func(*rand.Rand, *redistest.Proxy) bool {
	return func(r *rand.Rand, p *redistest.Proxy) bool {
		some := p.Connections() > 0
		f(r, p)
		return some
	}
}

// onNetwork makes a fault between some nodes and the clients of one side, or between some nodes and all clients.
func onNetwork(f func(*rand.Rand, *redistest.Proxy) bool) func(*arena, *rand.Rand) *deed {
	return func(a *arena, r *rand.Rand) *deed {
		first, n := r.IntN(sides), a.howMany(r)
		cut := map[int][]*node{first: a.take(r, n, networkPart(first))}
		if r.IntN(3) == 0 {
			cut[1-first] = a.take(r, n, networkPart(1-first))
		}
		if len(cut[0])+len(cut[1]) == 0 {
			return nil
		}
		seed := r.Uint64()
		d := &deed{do: func() bool {
			defer func() {
				for side, taken := range cut {
					a.release(taken, networkPart(side))
				}
			}()
			var both [sides]bool
			var wait sync.WaitGroup
			for side := range sides {
				wait.Go(func() {
					both[side] = each(cut[side], func(n *node) bool {
						return f(rand.New(rand.NewPCG(seed, uint64(a.index(n)*sides+side))), n.proxies[side])
					})
				})
			}
			wait.Wait()
			return slices.Contains(both[:], true)
		}}
		for _, taken := range cut {
			d.nodes = append(d.nodes, taken...)
		}
		return d
	}
}
