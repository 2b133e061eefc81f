package sim

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// Worlds of strangers check the list of members that the nodes keep. A holder and another client share some nodes. For
// these nodes, one server in the other client's list is a stranger, and the client has a majority only with this
// stranger. The client must not get the holder's name. There are three stories:
//
//   - moved: the client has the right list. One of its addresses moves to the stranger, and the first call that meets
//     the stranger is a look at the nodes.
//   - flips: the client's list contains the stranger. The stranger's address leads to a replica and back during one
//     report, and the client looks at the nodes each time.
//   - far: the lists share only node 0. The client's messages to node 0 take more than a window, and the answers take
//     less.
//   - hung: the lists share only node 0, and it has objected. Then the client's reports to node 0 hang, as on
//     connections that are dead. They still hang when new reports arrive again and the objection ends.

// story is the kind of events in a world of strangers.
type story uint8

const (
	moved story = iota
	flips
	far
	hung
)

// hasStrangers reports whether a seed makes a world of strangers.
func hasStrangers(seed uint64) bool {
	return !hasLatecomers(seed) && !isTight(seed) && !isHiccup(seed) && !isCrowd(seed) && luck(seed, 's', 't')%24 == 0
}

// These are the clients of a world of strangers. In story moved, the list of client guide contains the stranger, so
// that the stranger votes.
const (
	holder = iota
	rival
	guide
)

// drawStrangers makes the plan of a world of strangers.
func drawStrangers(seed uint64) *Plan {
	d := dice(luck(seed, 's', 't', 'p'))
	s := pick(&d, moved, flips, flips, far, hung, hung)
	w := pick[time.Duration](&d, 50, 100, 250) * time.Millisecond
	if s == flips {
		w = 250 * time.Millisecond // reports follow each other without a pause
	}
	p := &Plan{Seed: seed, N: 3, Window: w, MaxTTL: 8 * w * pick[time.Duration](&d, 2, 4, 5), Names: []string{"name0", "name1"}}
	if s == hung { // a node timeout covers more reports than a client has under way at a node
		w = min(w, 100*time.Millisecond)
		p.Window, p.MaxTTL = w, d.between(16*time.Second, 24*time.Second).Round(time.Millisecond)
	}
	p.Slow = w / pick[time.Duration](&d, 25, 50, 100)
	p.Timeout = 2*w + d.below(w)
	p.Spare = 1 << rival
	switch s {
	case moved:
		p.Spare = 1 << guide
	case flips:
		p.Replica = true
	case far:
		p.Apart, p.OneWay = true, true
	case hung:
		p.Apart, p.Timeout = true, d.between(p.MaxTTL*3/4, p.MaxTTL)
	}
	half := rightClocks(w)
	for range p.N + p.others() + 1 {
		p.Clocks = append(p.Clocks, d.between(-half, half))
	}
	if s == far { // node 0 refuses the reports because of the long way, not because of its clock
		p.Clocks[0] = d.between(-half/8, half/8)
	}
	for range 3 {
		p.Clients = append(p.Clients, ClientPlan{TTL: p.MaxTTL, Retry: 50 * time.Millisecond})
	}
	p.Clients[rival].Speed, p.Clients[holder].Speed = 1, 1

	locks := time.Second + d.below(time.Second)
	begins := locks + d.between(p.Timeout, 4*w+p.Timeout) // by then, the nodes know the holder's list
	has := Actor{ID: holder, Client: holder, Ops: []Op{{At: locks / 4, Name: 1, Hold: 1}, {At: locks, Wait: true}}}
	wants := Actor{ID: rival, Client: rival, Ops: []Op{{At: locks / 2, Name: 1, Hold: 1}}}
	at := begins
	// Except in the stories "far" and "hung", no node hears both the holder and the rival. The holder's reports tell
	// node 1 when the holder last met node 2. Node 1 keeps the place of node 2 for some time after that instant. The
	// last report may be old, and the instant in it is older. So the place counts as safe only until ends.
	ends := locks + p.MaxTTL
	switch s {
	case moved:
		for range d.n(4) + 1 {
			if at > ends-p.Timeout-2*w {
				break
			}
			at = p.drawMove(&d, &wants, at, ends)
		}
	case flips:
		wants.Ops[0] = Op{At: locks / 2, Name: 1, Hold: begins, Wait: true} // the rival is at work, so it reports
		workless := Actor{ID: 3, Client: rival}
		for range d.n(4) + 2 {
			if at > ends-7*w {
				break
			}
			at = p.drawFlip(&d, &workless, at)
		}
		p.Actors = append(p.Actors, workless)
	case far:
		wants.Ops = nil
		for range d.n(30) + 10 {
			at += d.between(w/4, 2*time.Second)
			wants.Ops = append(wants.Ops, Op{At: at, Hold: w})
		}
	case hung:
		at = p.drawHung(&d, &wants, at)
	}
	has.Ops[1].Hold = at + p.MaxTTL - locks
	leads := Actor{ID: guide, Client: guide, Ops: []Op{{At: locks * 3 / 4, Name: 1, Hold: 1}}}
	p.Actors = append(p.Actors, has, wants, leads)
	p.Heal = at + 2*p.MaxTTL
	if !p.Apart { // the holder has its name on nodes 0 and 2, and the rival asks nodes 1 and 2
		p.cutStrangers(1<<1, 1<<holder, locks-w/4, at)
		p.cutStrangers(1<<0, 1<<rival, begins-w/2, at)
	}
	return p
}

func (p *Plan) cutStrangers(nodes, clients uint32, at, until time.Duration) {
	at += time.Duration(len(p.Faults)) * time.Microsecond
	p.Faults = append(p.Faults, Fault{ID: len(p.Faults), Kind: Cut, At: at, For: until - at, Nodes: nodes, Clients: clients})
}

// drawMove moves the rival's last address to the stranger for a while. The rival looks at the nodes and then tries to
// lock. It returns the time of the next move.
func (p *Plan) drawMove(d *dice, wants *Actor, at, ends time.Duration) time.Duration {
	at += d.below(p.Window)
	f := Fault{ID: len(p.Faults), Kind: Twin, At: at, For: p.Window + d.below(ends-at-p.Window), Nodes: 1<<(p.N-1) | 1<<p.N, Clients: 1 << rival}
	p.Faults = append(p.Faults, f)
	look := at + 1 + d.below(p.Window/8)
	wants.Ops = append(wants.Ops, Op{At: look, Name: 1, Dead: true, Look: LookAtNodes})
	for range 3 {
		look += 4*p.Slow + d.below(p.Window/4)
		wants.Ops = append(wants.Ops, Op{At: look, Hold: p.Window})
	}
	return max(look, at+f.For)
}

// drawFlip makes the rival's last address lead to the replica for a moment. The rival looks at the nodes once during
// that moment and once after it, and then tries to lock. drawFlip returns the time of the next flip.
func (p *Plan) drawFlip(d *dice, wants *Actor, at time.Duration) time.Duration {
	at += d.between(p.Window, 4*p.Window)
	moment := 4*p.Slow + d.below(p.Window/8)
	f := Fault{ID: len(p.Faults), Kind: Twin, At: at, For: 2 * moment, Nodes: 1<<(p.N-1) | 1<<(p.N+1), Clients: 1 << rival}
	p.Faults = append(p.Faults, f)
	for _, look := range [...]time.Duration{at + moment/2, at + 2*moment + moment/2} {
		wants.Ops = append(wants.Ops, Op{At: look, Name: 1, Dead: true, Look: LookAtNodes})
	}
	next := at + 2*moment + 3*p.Window/2 + d.below(p.Window)
	wants.Ops = append(wants.Ops, Op{At: next, Hold: p.Window})
	return next
}

// drawHung makes the rival's reports to node 0 hang, until the objection of node 0 is about to end. The rival tries to
// lock all the time. drawHung returns the end of the tries.
func (p *Plan) drawHung(d *dice, wants *Actor, at time.Duration) time.Duration {
	set := nodescript.Config{N: p.N, MaxTTL: p.MaxTTL, Window: p.Window}
	tries := func(until, pause time.Duration) {
		for ; at < until; at += d.between(pause/4, pause) {
			wants.Ops = append(wants.Ops, Op{At: at, Hold: p.Window})
		}
	}
	tries(at+3*set.ReportEvery(), 500*time.Millisecond)
	hangs := at
	at += d.between(1, time.Millisecond) // a fault and a call at one instant would have no order
	// The last objection is at most one pause between two reports older than this.
	ends := hangs + set.MemberKept() - d.between(set.ReportEvery()*3/2, 4*set.ReportEvery())
	tries(ends, time.Second)
	tries(hangs+set.MemberKept()+set.ReportEvery(), 200*time.Millisecond)
	f := Fault{ID: len(p.Faults), Kind: Loss, At: hangs, For: ends - hangs, P: pick(d, 0.8, 1, 1), Control: true, Only: 1 << Report}
	f.Nodes, f.Clients = 1<<0, 1<<rival
	p.Faults = append(p.Faults, f)
	return at
}
