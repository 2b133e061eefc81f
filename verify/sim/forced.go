package sim

import "time"

// In forced worlds an operator takes locks away from their holders. The old holder may rely on its lease until its next
// renewal, and never for longer than a TTL after the release. Its later renewals must not bring the lease back. All
// other promises hold as in other worlds: tokens grow, and waiters are served.

// isForced reports whether a seed makes a forced world.
func isForced(seed uint64) bool { return luck(seed, 'f', 'o')%16 == 0 }

// drawForced makes the plan of a forced world. Faults hit a minority of the nodes and some clients. Without faults on
// the way of the operator, a forced release would almost always succeed.
func drawForced(seed uint64) *Plan {
	d := dice(luck(seed, 'f', 'p'))
	p := &Plan{Seed: seed, N: pick(&d, 1, 3, 3, 5), Window: pick[time.Duration](&d, 20, 50, 100, 250) * time.Millisecond}
	shortest := 8 * p.Window
	p.MaxTTL = shortest * time.Duration(1+d.n(4))
	p.Slow = p.Window / pick[time.Duration](&d, 20, 50, 100)
	p.Timeout = p.Window/2 + 8*p.Slow
	p.Heal = time.Second + 12*p.MaxTTL
	for i := range 1 + d.n(2) {
		p.Names = append(p.Names, "name"+string(rune('0'+i)))
	}
	for c := range 3 + d.n(4) {
		ttl := min(shortest+d.below(2*shortest), p.MaxTTL)
		p.Clients = append(p.Clients, ClientPlan{TTL: ttl, Retry: 50 * time.Millisecond})
		for range 1 + d.n(2) {
			a := Actor{ID: len(p.Actors), Client: c}
			for range 4 + d.n(8) {
				o := Op{Pause: d.below(2 * ttl), Name: d.n(len(p.Names)), Wait: d.hit(0.7), Shared: d.hit(0.3), Hold: d.below(pick[time.Duration](&d, 1, 3, 6) * ttl)}
				if d.hit(0.3) {
					o.Look = ForceLock // the operator, or a colleague, then wants the lock itself
				}
				if o.Wait && d.hit(0.3) {
					o.Patience, o.Cancel = d.below(2*p.MaxTTL), d.hit(0.5)
				}
				if d.hit(0.1) {
					o.Extend = p.MaxTTL
				}
				a.Ops = append(a.Ops, o)
			}
			a.Wish = []int{d.n(len(p.Names))}
			p.Actors = append(p.Actors, a)
		}
	}
	for range d.n(10) {
		f := Fault{ID: len(p.Faults), Kind: pick(&d, Cut, CutOut, CutBack, Hang, Loss, Delay, Duplicate, Crash, Close, Pause, Inbox), P: 0.5}
		f.At = d.below(p.Heal)
		f.For = 1 + d.below(min(p.Heal-f.At, 3*p.MaxTTL))
		f.Nodes, f.Clients = uint32(1+d.n(1<<p.N-1)), uint32(1+d.n(1<<len(p.Clients)-1))
		f.Back = d.hit(0.5)
		p.Faults = append(p.Faults, f)
	}
	for range d.n(8) { // the messages of one client, perhaps of an operator, reach some nodes only
		f := Fault{ID: len(p.Faults), Kind: Loss, P: 0.5, At: d.below(p.Heal), Clients: 1 << d.n(len(p.Clients)), Nodes: 1<<p.N - 1}
		f.For = 1 + d.below(min(p.Heal-f.At, 2*p.MaxTTL))
		p.Faults = append(p.Faults, f)
	}
	k := dice(luck(seed, 'f', 'k')) // later than the other draws
	switch k.n(8) {
	case 0, 1:
		p.forceSlots(&k)
	case 2:
		p.forceLeaders(&k)
	case 3, 4, 5:
		return aimForced(&k, seed)
	}
	return p
}

// forceSlots makes most calls take slots of semaphores.
func (p *Plan) forceSlots(d *dice) {
	for range p.Names {
		p.Slots = append(p.Slots, pick(d, 1, 2, 2, 3))
	}
	for i := range p.Actors {
		for j := range p.Actors[i].Ops {
			if o := &p.Actors[i].Ops[j]; d.hit(0.8) {
				o.Slot, o.Shared = true, false
			}
		}
	}
}

// forceLeaders makes half of the calls campaign in an election, and one more goroutine observe it.
func (p *Plan) forceLeaders(d *dice) {
	p.Elected = 1
	for i := range p.Actors {
		for j := range p.Actors[i].Ops {
			if o := &p.Actors[i].Ops[j]; o.Name == 0 && !o.Shared && d.hit(0.5) {
				*o = Op{Pause: o.Pause, Wait: true, Hold: o.Hold, Look: o.Look, Patience: d.between(p.MaxTTL/4, 2*p.MaxTTL), Terms: 1 + d.n(2)}
			}
		}
	}
	p.Actors = append(p.Actors, Actor{ID: len(p.Actors), Client: d.n(len(p.Clients)), Watch: true})
}

// aimForced makes the plan of a world of stories. In each, an operator ends the lease of a holder, and another client
// wants the name next.
func aimForced(d *dice, seed uint64) *Plan {
	p := &Plan{Seed: seed, N: pick(d, 3, 3, 5), Window: pick[time.Duration](d, 20, 50) * time.Millisecond, Names: []string{"name0"}}
	p.MaxTTL = time.Duration(12+d.n(12)) * p.Window
	p.Slow = p.Window / 20
	p.Timeout = p.Window
	for range p.N { // a clock that is nearly W away could make a node refuse the holder
		p.Clocks = append(p.Clocks, d.between(-p.Window/4, p.Window/4))
	}
	for range 3 {
		p.Clients = append(p.Clients, ClientPlan{TTL: p.MaxTTL, Retry: 50 * time.Millisecond})
	}
	p.Actors = []Actor{{ID: loser, Client: loser}, {ID: taker, Client: taker, Wish: []int{0}}, {ID: heir, Client: heir}}
	p.Heal = time.Second + p.quarantine()
	stories := [...]func(*Plan, *dice, Op, time.Duration) time.Duration{(*Plan).commonNode, (*Plan).fewNodes, (*Plan).lateRelease}
	for range 4 + d.n(4) {
		forced := p.Heal + d.below(p.MaxTTL/2) + 2*p.Window
		p.Actors[taker].Ops = append(p.Actors[taker].Ops, Op{At: forced, Look: ForceLock, Dead: true})
		o := Op{At: p.Heal, Wait: true, Shared: d.hit(0.5), Patience: p.Window}
		over := stories[d.n(len(stories))](p, d, o, forced)
		p.Heal = over + 2*p.MaxTTL
	}
	return p
}

// These are the clients of the stories.
const (
	loser = iota // the holder
	taker        // the operator
	heir         // the next holder
)

// wants adds a lock to the calls of a client.
func (p *Plan) wants(client int, o Op) { p.Actors[client].Ops = append(p.Actors[client].Ops, o) }

// parts cuts a client off from nodes.
func (p *Plan) parts(client int, nodes uint32, from, until time.Duration) {
	p.Faults = append(p.Faults, Fault{ID: len(p.Faults), Kind: Cut, Clients: 1 << client, Nodes: nodes, At: from, For: until - from})
}

// commonNode is the story of an operator and a holder that have one node in common. The holder has its lease on a bare
// majority. The operator ends it on that one node, and a bare majority answers the operator. If the common node took
// the lease back, a majority would have it again. The operator loses the other nodes after its question about the
// holder, because a majority must name the holder. The result is the end of the story.
func (p *Plan) commonNode(d *dice, o Op, forced time.Duration) time.Duration {
	m, over := p.majority(), forced+3*p.MaxTTL
	p.parts(loser, 1<<p.N-1<<m, o.At-p.MaxTTL/2, over)
	p.parts(taker, 1<<(m-1)-1, forced+d.below(4*p.Slow), over)
	o.Hold = over - o.At
	p.wants(loser, o)
	if d.hit(0.7) {
		p.wants(heir, Op{At: forced + d.below(2*p.MaxTTL), Wait: true, Shared: d.hit(0.3), Hold: d.below(p.MaxTTL), Patience: p.MaxTTL})
	}
	return over
}

// fewNodes is the story of an operator that reaches a minority. The holder keeps its lease on the other nodes.
func (p *Plan) fewNodes(d *dice, o Op, forced time.Duration) time.Duration {
	over := forced + 2*p.MaxTTL
	p.parts(taker, 1<<p.majority()-1, forced+d.below(4*p.Slow), over)
	o.Hold = over - o.At
	p.wants(loser, o)
	return over
}

// lateRelease is the story of a holder that gives its lease back when it learns of its loss. The heir then has the lock
// on a bare majority. Its token is below the stamps of the holder's renewals. It later moves to other nodes: these
// nodes store its lease again, although the holder's release has higher stamps.
func (p *Plan) lateRelease(d *dice, o Op, forced time.Duration) time.Duration {
	m, told := p.majority(), forced+p.MaxTTL/3+2*p.Window
	moves := told + p.MaxTTL/2
	over := moves + 2*p.MaxTTL
	p.parts(heir, 1<<p.N-1<<m, o.At, told)
	p.parts(heir, 1<<(p.N-m)-1, moves, over)
	o.Hold = over - o.At
	p.wants(loser, o)
	p.wants(heir, Op{At: forced - d.below(p.Window), Wait: true, Hold: over - forced, Patience: p.MaxTTL})
	return over
}
