package sim

import "time"

// Tight worlds live on the edge of what the protocol assumes: they have the shape of the shortest
// ways to two holders that internal/models/clock finds when a margin is left out. One who holds
// the name is cut off, and must notice by itself that its lease is over. Another, who is hungry,
// asks from four windows before the nodes may give it away. The right clocks are a window apart,
// the wrong ones follow the holder, a window behind, while it asks, and then the other, a window
// ahead. Each of these makes the nodes forget the holder up to one window earlier, and nobody
// else does: so it is all four together that the margin of 4 W is for.

// edge is what the clocks of one tight world are off by.
type edge struct {
	p     *Plan
	d     *dice
	half  time.Duration // the right clocks are this far from the middle, to both sides
	at    time.Duration // where the wrong ones are
	sharp bool          // everything is as bad as it may be, and the rival asks all the time
	liars uint32
}

// meeting is how many windows a delay lasts by which a client misreads the clocks. Everything is delayed that may read
// them before the lock is taken: three greetings, an admission, a report of the members, an acquire that has waited for
// these and so is refused with the node's time, and the next acquire. A quick answer among them would put the reading right.
const meeting = 8

// isTight says which seeds make tight worlds.
func isTight(seed uint64) bool { return luck(seed, 't')%8 == 0 }

// drawTight makes the plan of such a world: a few rounds, each with a holder and somebody hungry.
func drawTight(seed uint64) *Plan {
	d := dice(luck(seed, 't', 'p'))
	p := &Plan{
		Seed: seed, N: pick(&d, 1, 3, 3, 5, 5), Window: pick[time.Duration](&d, 50, 100, 250) * time.Millisecond, Names: []string{"name0"},
	}
	p.MaxTTL = 8 * p.Window * pick[time.Duration](&d, 1, 1, 1, 2, 4)
	p.Slow = p.Window / pick[time.Duration](&d, 50, 100, 200)
	p.Timeout = p.Window * pick[time.Duration](&d, 4, 8)
	e := &edge{p: p, d: &d, half: rightClocks(p.Window), liars: 1<<((p.N-1)/2) - 1}
	for i := range p.N {
		switch right := i - (p.N-1)/2; {
		case right < 0:
			p.Clocks = append(p.Clocks, 0)
		case right < 2 && p.N > 1:
			p.Clocks = append(p.Clocks, e.half*time.Duration(2*right-1))
		default:
			p.Clocks = append(p.Clocks, d.between(-e.half, e.half))
		}
	}
	p.Heal = 4 * p.Window // until then the clients meet the nodes
	last := e.client(0)
	if d.hit(0.15) {
		p.Heal = e.leap(p.Heal)
	} else {
		if e.sharp = d.hit(0.3); e.sharp {
			p.Slow = p.Window / 250 // on its way a stamp grows old
		}
		for range d.n(3) + 3 {
			p.Heal = e.round(p.Heal)
		}
	}
	// Who wants the name in the end has a better clock: one that has left the window costs its client
	// MaxTTL + W, as a majority of the nodes' that leaps does.
	p.Actors = append(p.Actors, Actor{ID: len(p.Actors), Client: first(last), Ops: []Op{{Pause: 1}}, Wish: []int{0}})
	return p
}

// round is one holder and its rival. It begins at a time, and returns when the next may.
func (e *edge) round(at time.Duration) time.Duration {
	p, d, w := e.p, e.d, e.p.Window
	ttl := p.MaxTTL
	third := e.third()
	holds := at + w/2
	sent := holds // the last request of the holder that the nodes hear
	var cut time.Duration
	holder, rival := e.client(-1), e.client(+1)
	behind := e.share(w)
	e.move(at-w/8, -e.half-behind)
	misread := p.N == 1 || e.sharp || d.hit(0.3) // what is read of the clocks is half a window off, each time it is
	if misread {
		e.add(Fault{Kind: Delay, At: at - w/8, For: meeting * w, Clients: holder, Back: true, P: 1, By: e.share(w) * 9 / 10})
		holds += meeting * w
		sent = holds
	}
	how := d.n(7)
	if p.N == 1 {
		how = d.n(5)
	}
	switch how {
	case 0: // the answers to its acquire come late
		e.add(Fault{Kind: Delay, At: holds - w/8, For: 12 * w, Clients: holder, Back: true, P: 1, By: d.below(p.Timeout)})
		cut = holds + 8*p.Slow + d.below(third/2)
	case 1, 2: // the answers to its first renewal
		sent += third
		e.add(Fault{Kind: Delay, At: holds + third/2, For: 12 * w, Clients: holder, Back: true, P: 1, By: d.below(2 * third)})
		cut = sent + 8*p.Slow + d.below(third/2)
	case 3: // no renewal gets through
		cut = holds + 8*p.Slow + d.below(third)
	case 4: // or some do
		n := time.Duration(d.n(4))
		sent += n * third
		cut = sent + 8*p.Slow + d.below(third)
	case 5, 6: // or its first stamp is granted by the wrong clocks and the second by a right one, and it hears of both
		other := e.client(0)
		right := 1<<p.N - 1 - e.liars
		e.add(Fault{Kind: Cut, At: at - w/8, For: w / 2, Nodes: e.liars, Clients: other})
		p.Actors = append(p.Actors, Actor{ID: len(p.Actors), Client: first(other), Ops: []Op{{At: at + w/5, Hold: 1}}})
		late := d.between(w, min(p.Timeout-w/2, 7*w/2))
		e.add(Fault{Kind: Delay, At: holds - w/8, For: 12 * w, Nodes: right, Clients: holder, Back: true, P: 1, By: late})
		e.add(Fault{Kind: Delay, At: holds - w/8, For: 12 * w, Nodes: e.liars, Clients: holder, Back: true, P: 1, By: late + w/4})
		e.add(Fault{Kind: CutOut, At: holds + 8*p.Slow, For: ttl, Nodes: e.liars, Clients: holder})
		cut = holds + late + 8*p.Slow
	}
	over := sent + ttl
	e.add(Fault{Kind: pick(d, Cut, CutOut), At: cut, For: over + 2*w - cut, Clients: holder})

	// Before the rival meets the nodes: who has stamps keeps to them where it may. Or it is to follow.
	meets, ahead := cut+w/4, e.half+e.share(w)
	e.move(meets-w/8, ahead)
	if misread && p.N > 1 {
		e.add(Fault{Kind: Delay, At: meets - w/16, For: min(meeting*w, over-4*w-meets), Clients: rival, P: 1, By: e.share(w) * 9 / 10})
	}
	if d.hit(0.3) {
		e.move(meets+w/4, ahead+e.share(w))
	}

	hold := Actor{ID: len(p.Actors), Client: first(holder)}
	hold.Ops = []Op{{At: at, Hold: 1}, {At: holds, Hold: over - holds + 4*w}}
	p.Actors = append(p.Actors, hold)

	hungry := Actor{ID: len(p.Actors), Client: first(rival), Once: true}
	hungry.Ops = append([]Op{{At: meets}}, e.hunger(over-4*w, 4*w)...)
	p.Actors = append(p.Actors, hungry)
	return over + 5*w
}

// third is after which time a lease is renewed.
func (e *edge) third() time.Duration {
	ttl := e.p.MaxTTL
	return (ttl - 4*e.p.Window - ttl/100 - 2*time.Millisecond) / 3
}

// hunger is asking again and again.
func (e *edge) hunger(from, span time.Duration) []Op {
	w, ops := e.p.Window, []Op{{At: from}}
	for left := span; left > 0; {
		o := Op{Pause: e.d.between(w/30, w/8), Hold: e.d.below(w)}
		if e.sharp && left > span/2 {
			o.Pause = e.d.between(w/60, w/20)
		}
		left -= o.Pause
		ops = append(ops, o)
	}
	return append(ops, Op{Pause: w / 10, Wait: true, Patience: 2 * w, Hold: e.d.below(w)})
}

// leap makes all clocks leap together while the name is held. Nobody may follow them at once: who
// is at work has to wait, also who only renews. (Who is new, or idle, follows them; there is none.)
func (e *edge) leap(at time.Duration) time.Duration {
	p, d, w := e.p, e.d, e.p.Window
	settle, third := p.MaxTTL+w, e.third()
	holder, rival := e.client(0), e.client(0)
	p.Names = append(p.Names, "name1")
	leaps := at + settle + 4*w + d.below(2*w)
	e.add(Fault{Kind: Step, At: leaps, Nodes: 1<<p.N - 1, By: p.MaxTTL + d.below(4*p.MaxTTL), Stays: true})
	p.Actors = append(p.Actors, Actor{ID: 0, Client: first(holder), Ops: []Op{{At: leaps - d.below(4*w) - w, Hold: settle}}})
	hungry := Actor{ID: 1, Client: first(rival), Once: true, Ops: e.hunger(leaps-w, 6*w)}
	if d.hit(0.5) { // it only renews until then
		p.Actors = append(p.Actors, Actor{ID: 2, Client: first(rival), Ops: []Op{{At: at, Name: 1, Hold: 3 * settle}}})
		// and has been told of the leap by its renewal.
		hungry.Ops = e.hunger(leaps+third+d.below(third/2), 3*w)
	} else {
		hungry.Ops = append([]Op{{At: leaps - 3*w, Name: 1}}, hungry.Ops...)
		hungry.Once = false
	}
	p.Actors = append(p.Actors, hungry)
	e.givesBack(leaps, holder)
	return leaps + 2*settle + 4*w
}

// givesBack has the holder give something back that it has since before the leap, when it knows of that: somebody
// looks at the nodes, and they may have lost their scripts, so that it cannot have them admitted. It needs no vote.
func (e *edge) givesBack(leaps time.Duration, holder uint32) {
	p, d, w := e.p, e.d, e.p.Window
	p.Names = append(p.Names, "name2", "name3")
	locks := leaps - d.between(w/2, 2*w)
	p.Actors = append(p.Actors,
		Actor{ID: len(p.Actors), Client: first(holder), Ops: []Op{{At: locks, Name: 2, Hold: leaps - locks + d.between(w/4, w)}}},
		Actor{ID: len(p.Actors) + 1, Client: first(holder), Ops: []Op{{At: leaps + w/8, Name: 3, Look: LookAtNodes}}})
	if d.hit(0.7) {
		e.add(Fault{Kind: ScriptFlush, At: leaps + d.below(w/4)})
	}
}

// share is nearly all of a span, or less of it: less than the right clocks are apart. Who meets the nodes
// follows those that are closest to each other.
func (e *edge) share(span time.Duration) time.Duration {
	if e.sharp {
		return span * 95 / 100
	}
	return e.d.between(span*pick[time.Duration](e.d, 50, 90)/100, span*95/100)
}

// client adds one whose clock is slow or fast, and returns it as a mask.
func (e *edge) client(sign float64) uint32 {
	speed := 1 + sign*pick(e.d, 0, 0.001, 0.005, 0.01) // clocks may part by a hundredth
	if e.sharp {
		speed = 1 + min(sign, 0)*0.01 // the rival reads the nodes' clocks just right
	}
	e.p.Clients = append(e.p.Clients, ClientPlan{TTL: e.p.MaxTTL, Retry: 20 * time.Millisecond, Speed: speed})
	return 1 << (len(e.p.Clients) - 1)
}

// move sets the wrong clocks so far from the middle of the right ones.
func (e *edge) move(at, to time.Duration) {
	if e.liars != 0 {
		e.add(Fault{Kind: Step, At: at, Nodes: e.liars, By: to - e.at})
		e.at = to
	}
}

func (e *edge) add(f Fault) {
	f.ID = len(e.p.Faults)
	if f.Nodes == 0 {
		f.Nodes = 1<<e.p.N - 1
	}
	f.At += time.Duration(f.ID) // no two in the same instant
	e.p.Faults = append(e.p.Faults, f)
}
