package sim

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// Worlds of latecomers check late requests. Requests of admission and vouchers are sent before a node loses its memory,
// and come once more after the loss. At that moment the node's clock shows the time of their sending again. There is
// one node, or three nodes of which one has that clock. A holder is cut off when the node forgets, and a rival wants
// the name during that time. (With three nodes, the list of members also protects the holder: a node that forgot gets
// no place at once.)
//
// In other worlds the node restarts with the guard of a moment ago, and requests for the previous incarnation come. If
// the node still loads its data, it refuses them. In both cases the scripts of the previous incarnation must not follow
// these requests.

// hasLatecomers reports whether a seed makes a world of latecomers.
func hasLatecomers(seed uint64) bool { return luck(seed, 'l', 'a')%32 == 0 }

// request is a request for a vote that was sent to a node.
type request struct {
	parcel
	at    time.Duration
	epoch int
}

// mostRequests is the number of requests that the world keeps for a node. It keeps the first requests.
const mostRequests = 40

// keepRequest keeps a request for a later repetition, in a world of latecomers.
func (w *world) keepRequest(s *server, p parcel) {
	if !w.plan.Latecomers || p.text == "" || p.text == nodescript.HelloText() || p.text == nodescript.InspectText() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(s.requests) < mostRequests {
		s.requests = append(s.requests, request{p.copied(), w.now(), s.epoch})
	}
}

// latecomers makes a node lose its memory, and then makes its earlier requests come again.
func (w *world) latecomers(s *server, f *Fault) {
	w.mu.Lock()
	come := s.requests
	w.mu.Unlock()
	w.forget(s, f, func(string) bool { return false })
	again := func() {
		for _, trust := range []bool{false, false, true} { // the requests of admission come twice, then the vouchers
			for _, r := range come {
				w.mu.Lock()
				gone := !s.up || s.epoch != r.epoch
				w.mu.Unlock()
				if gone || (r.text == nodescript.TrustText()) != trust {
					continue
				}
				by := r.at - w.now()
				s.set(by, s.own)
				s.take(r.parcel)
				w.treated(r.parcel, Late)
				w.treated(r.parcel, Repeated)
				s.set(-by, s.own)
				w.countFault(Latecomers)
			}
		}
	}
	again()
	time.AfterFunc(f.For, again)
}

// crossing restarts a node with the keys about itself. Then requests come that were sent before the restart. The
// scripts that follow these requests are for the previous incarnation.
func (w *world) crossing(s *server) {
	w.mu.Lock()
	come, was := s.requests, s.up
	if was {
		s.epoch++
	}
	w.mu.Unlock()
	if !was {
		return
	}
	w.hangUpAll(s, func(*subscription) bool { return true })
	w.forgets(s)
	s.restart(func(key string) bool { return nodescript.KindOf(key) == nodescript.NodeKey })
	for _, r := range come {
		if r.text == nodescript.TrustText() {
			continue
		}
		loading := node.Reply{Err: node.ServerError("LOADING it reads its data")}
		for _, reply := range []node.Reply{loading, s.take(r.parcel)[0]} {
			if len(r.then) > 0 && w.follows(reply) {
				s.take(parcel{load: r.then})
			}
		}
		w.treated(r.parcel, Late)
		w.treated(r.parcel, Elsewhere)
		w.countFault(Crossing)
	}
}

// drawLatecomers makes the plan of a world of latecomers.
func drawLatecomers(seed uint64) *Plan {
	d := dice(luck(seed, 'l', 'p'))
	w := pick[time.Duration](&d, 20, 50, 100) * time.Millisecond
	n := dice(luck(seed, 'l', 'n'))
	p := &Plan{
		Seed: seed, N: pick(&n, 1, 3), Window: w, MaxTTL: 8 * w * pick[time.Duration](&d, 2, 3, 4), Names: []string{"name0", "name1"},
		Slow: w / 50, Timeout: 4 * w, Latecomers: true,
	}
	for range p.N {
		p.Clocks = append(p.Clocks, d.between(-w/4, w/4))
	}
	const holder, rival, operator = 0, 1, 2
	for range 3 {
		p.Clients = append(p.Clients, ClientPlan{TTL: p.MaxTTL, Retry: 20 * time.Millisecond, Speed: 1})
	}
	add := func(f Fault) {
		f.ID = len(p.Faults)
		f.At += time.Duration(f.ID)
		p.Faults = append(p.Faults, f)
	}
	// The clients meet the nodes. The first node forgets while no lock is held, and an operator vouches for it.
	meets := func(client int) Op { return Op{At: w + time.Duration(client)*w/4, Name: 1} }
	vouch := Actor{ID: operator, Client: operator, Ops: []Op{meets(operator)}}
	if d.hit(0.5) {
		add(Fault{Kind: Flush, At: 3 * w, Nodes: 1})
		vouch.Ops = append(vouch.Ops, Op{At: 4 * w, Name: 1, Look: TrustNodes})
	}
	locks := 15*w + d.below(p.MaxTTL/2) // the node votes again by then: after a voucher the quarantine is 9 W
	third := (p.MaxTTL - 4*w - p.MaxTTL/100 - 2*time.Millisecond) / 3
	forgets, over := locks+w/4+d.below(third-w/2), locks+p.MaxTTL
	if p.N > 1 {
		add(Fault{Kind: Cut, At: 14 * w, For: over - 14*w, Nodes: 1 << 2, Clients: 1 << holder})
	}
	add(Fault{Kind: Cut, At: forgets - w/16, For: over + 2*w - forgets, Nodes: 1<<p.N - 1, Clients: 1 << holder})
	add(Fault{Kind: pick(&d, Latecomers, Latecomers, Crossing), At: forgets, For: 1 + d.below(3*w), Nodes: 1})
	hungry := Actor{ID: rival, Client: rival, Once: true, Ops: []Op{meets(rival), {At: forgets + w/2, Name: 0}}}
	for at := forgets + w; at < over; {
		o := Op{Pause: d.between(w/8, w/2), Hold: w}
		at += o.Pause
		hungry.Ops = append(hungry.Ops, o)
	}
	hungry.Once = false
	p.Actors = []Actor{
		{ID: holder, Client: holder, Ops: []Op{meets(holder), {At: locks, Hold: p.MaxTTL}}}, hungry, vouch,
	}
	p.Heal = over + p.MaxTTL + 4*w
	p.Actors = append(p.Actors, Actor{ID: 3, Client: operator, Ops: []Op{{Pause: 1}}, Wish: []int{0}})
	return p
}
