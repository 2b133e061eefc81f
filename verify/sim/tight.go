package sim

import "time"

// Tight worlds are at the limit of the protocol's assumptions. Without a margin, the model checker
// verify/models/clock finds ways to two holders. Tight worlds repeat the shortest of these ways. A holder is
// cut off, and must notice the end of its lease by itself. A rival starts to ask four windows before the nodes may
// grant the name. The right clocks are a window apart. The wrong clocks first follow the holder, a window behind, while
// the holder asks. Then they follow the rival, a window ahead. Together, these errors of the clocks make the nodes
// forget the holder up to four windows earlier. Nothing else does so. So the margin is 4 W.

// edge contains the clock errors of one tight world.
type edge struct {
	p     *Plan
	d     *dice
	half  time.Duration // the distance of the right clocks from the middle, to both sides
	at    time.Duration // the distance of the wrong clocks from the middle
	sharp bool          // everything is as bad as allowed, and the rival asks all the time
	liars uint32
}

// meeting is the length, in windows, of a delay that makes a client misread the clocks. It delays each answer from
// which the client may read the clocks before it takes the lock. These are three greetings, an admission, a report of
// the members, and two acquires. The first acquire waited for the earlier answers, so the node refuses it and answers
// its own time. One quick answer among these would correct the reading.
const meeting = 8

// isTight reports whether a seed makes a tight world.
func isTight(seed uint64) bool { return luck(seed, 't')%8 == 0 }

// drawTight makes the plan of a tight world: a few rounds, each with a holder and a rival.
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
	p.Heal = 4 * p.Window // the clients meet the nodes during this time
	last := e.client(0)
	if d.hit(0.15) {
		p.Heal = e.leap(p.Heal)
	} else {
		if e.sharp = d.hit(0.3); e.sharp {
			p.Slow = p.Window / 250 // a slow way makes a stamp old on arrival
		}
		for range d.n(3) + 3 {
			p.Heal = e.round(p.Heal)
		}
	}
	// The client that wants the name at the end has a better clock. A client whose clock has left the window must wait
	// for MaxTTL + W, as after a leap of a majority of the nodes' clocks.
	p.Actors = append(p.Actors, Actor{ID: len(p.Actors), Client: first(last), Ops: []Op{{Pause: 1}}, Wish: []int{0}})
	return p
}

// round draws one holder and its rival. The round begins at the time at. The result is the time at which the next round
// may begin.
func (e *edge) round(at time.Duration) time.Duration {
	p, d, w := e.p, e.d, e.p.Window
	ttl := p.MaxTTL
	third := e.third()
	holds := at + w/2
	sent := holds // when the last request of the holder that reaches the nodes is sent
	var cut time.Duration
	holder, rival := e.client(-1), e.client(+1)
	behind := e.share(w)
	e.move(at-w/8, -e.half-behind)
	misread := p.N == 1 || e.sharp || d.hit(0.3) // each reading of the clocks is wrong by half a window
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
	case 0: // the answers to the holder's acquire come late
		e.add(Fault{Kind: Delay, At: holds - w/8, For: 12 * w, Clients: holder, Back: true, P: 1, By: d.below(p.Timeout)})
		cut = holds + 8*p.Slow + d.below(third/2)
	case 1, 2: // the answers to the holder's first renewal come late
		sent += third
		e.add(Fault{Kind: Delay, At: holds + third/2, For: 12 * w, Clients: holder, Back: true, P: 1, By: d.below(2 * third)})
		cut = sent + 8*p.Slow + d.below(third/2)
	case 3: // no renewal reaches the nodes
		cut = holds + 8*p.Slow + d.below(third)
	case 4: // some renewals reach the nodes
		n := time.Duration(d.n(4))
		sent += n * third
		cut = sent + 8*p.Slow + d.below(third)
	case 5, 6: // wrong clocks grant the holder's first stamp and a right clock the second; the holder hears of both
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

	// The wrong clocks move before the rival meets the nodes. A client that already has a correction keeps it as long
	// as the rules allow. A client without a correction takes it from the clocks that it meets.
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

// third returns the time after which a client renews a lease.
func (e *edge) third() time.Duration {
	ttl := e.p.MaxTTL
	return (ttl - 4*e.p.Window - ttl/100 - 2*time.Millisecond) / 3
}

// hunger draws the locks of a client that asks again and again.
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

// leap makes all clocks leap together while a client holds the name. No client may follow the clocks at once. A client
// at work must wait, even a client that only renews. (A new or idle client follows the clocks at once; this world has
// none.)
func (e *edge) leap(at time.Duration) time.Duration {
	p, d, w := e.p, e.d, e.p.Window
	settle, third := p.MaxTTL+w, e.third()
	holder, rival := e.client(0), e.client(0)
	p.Names = append(p.Names, "name1")
	leaps := at + settle + 4*w + d.below(2*w)
	e.add(Fault{Kind: Step, At: leaps, Nodes: 1<<p.N - 1, By: p.MaxTTL + d.below(4*p.MaxTTL), Stays: true})
	p.Actors = append(p.Actors, Actor{ID: 0, Client: first(holder), Ops: []Op{{At: leaps - d.below(4*w) - w, Hold: settle}}})
	hungry := Actor{ID: 1, Client: first(rival), Once: true, Ops: e.hunger(leaps-w, 6*w)}
	if d.hit(0.5) { // before its locks the rival only renews
		p.Actors = append(p.Actors, Actor{ID: 2, Client: first(rival), Ops: []Op{{At: at, Name: 1, Hold: 3 * settle}}})
		// By this time, the rival's renewal has shown it the leap.
		hungry.Ops = e.hunger(leaps+third+d.below(third/2), 3*w)
	} else {
		hungry.Ops = append([]Op{{At: leaps - 3*w, Name: 1}}, hungry.Ops...)
		hungry.Once = false
	}
	p.Actors = append(p.Actors, hungry)
	e.givesBack(leaps, holder)
	return leaps + 2*settle + 4*w
}

// givesBack makes the holder release a lease from before the leap when it already knows of the leap. A client looks at
// the nodes. The nodes may have lost their scripts, and the client cannot get them admitted. But a release needs no
// vote.
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

// share returns most of a span. The result is less than the distance between the right clocks, because a client that
// meets the nodes follows the clocks that are closest to each other.
func (e *edge) share(span time.Duration) time.Duration {
	if e.sharp {
		return span * 95 / 100
	}
	return e.d.between(span*pick[time.Duration](e.d, 50, 90)/100, span*95/100)
}

// client adds a client whose clock is slow or fast. It returns the client as a mask.
func (e *edge) client(sign float64) uint32 {
	speed := 1 + sign*pick(e.d, 0, 0.001, 0.005, 0.01) // the rates of two clocks may differ by 1 %
	if e.sharp {
		speed = 1 + min(sign, 0)*0.01 // the rival reads the nodes' clocks correctly
	}
	e.p.Clients = append(e.p.Clients, ClientPlan{TTL: e.p.MaxTTL, Retry: 20 * time.Millisecond, Speed: speed})
	return 1 << (len(e.p.Clients) - 1)
}

// move sets the distance of the wrong clocks from the middle of the right clocks.
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
	f.At += time.Duration(f.ID) // no two faults begin at the same instant
	e.p.Faults = append(e.p.Faults, f)
}
