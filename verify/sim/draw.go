package sim

import (
	"fmt"
	"slices"
	"time"
)

// themes are sets of kinds of faults. A world has the faults of one theme.
var themes = [][]Kind{
	{}, // no faults
	{Loss, Delay, Duplicate, Tear, Cut, CutOut, CutBack, News, Inbox},
	{Forget, Partial, Restart, Flush, ScriptFlush, Evict, Full, Hang, Delay},
	{Step, Blip, Drift, Freeze, Loss, Delay, Close, Cut},
	{Pause, Suspend, Crash, Close, Inbox, News, Delay},
	{
		Loss, Delay, Duplicate, Tear, Cut, CutOut, CutBack, News, Inbox, Forget, Partial, Restart, Flush, ScriptFlush, Evict, Full, Hang,
		Step, Blip, Drift, Freeze, Pause, Suspend, Crash, Close, Twin,
	},
	// In worlds with this theme, the nodes always know their configuration. A node that never met a client of this
	// configuration, or forgot it, may admit a stranger.
	{Stranger, Twin, Loss, Delay, Pause, Suspend, Crash, Close, ScriptFlush},
}

// Draw returns the plan of a seed.
func Draw(seed uint64) *Plan {
	if hasLatecomers(seed) {
		return drawLatecomers(seed)
	}
	if isTight(seed) {
		return drawTight(seed)
	}
	if isHiccup(seed) {
		return drawHiccup(seed)
	}
	if isCrowd(seed) {
		return drawCrowd(seed)
	}
	if hasStrangers(seed) {
		return drawStrangers(seed)
	}
	if isDemotion(seed) {
		return drawDemotion(seed)
	}
	if isVacant(seed) {
		return drawVacant(seed)
	}
	if isScramble(seed) {
		return drawScramble(seed)
	}
	if isBaton(seed) {
		return drawBaton(seed)
	}
	if isVault(seed) {
		return drawVault(seed)
	}
	if isForced(seed) {
		return drawForced(seed)
	}
	if isOrphan(seed) {
		return drawOrphan(seed)
	}
	if isLate(seed) {
		return drawLate(seed)
	}
	if isBusy(seed) {
		return drawBusyWorld(seed)
	}
	d := dice(luck(seed, 'p'))
	p := &Plan{Seed: seed, N: pick(&d, 1, 1, 1, 1, 3, 3, 3, 3, 3, 5, 5, 7)}
	p.Window = pick[time.Duration](&d, 20, 20, 50, 100, 250) * time.Millisecond
	shortest := 8 * p.Window
	p.MaxTTL = (shortest + d.below(2*shortest)).Round(time.Millisecond)
	x := dice(luck(seed, 'x', 'w'))
	if isWide(seed) {
		p.widen(&x)
		shortest = 8 * p.Window
	}
	p.Slow = d.between(100*time.Microsecond, min(p.Window/8, 4*time.Millisecond))
	p.Timeout = min(pick(&d, 8*p.Slow+20*time.Millisecond, 100*time.Millisecond, 500*time.Millisecond), p.MaxTTL)
	p.Heal = d.between(time.Second, 6*time.Second) + 2*p.MaxTTL
	if p.Rare.has(LongIdle) {
		p.Heal = x.between(time.Hour, 6*time.Hour)
	}
	p.Durable = d.hit(0.12)
	names := pick(&d, 1, 1, 2, 3)
	if p.Rare.has(ManyNames) {
		names = 500
	}
	for i := range names {
		p.Names = append(p.Names, fmt.Sprintf(pick(&d, "name%d", "{tag}%d", "a:%d"), i))
	}
	private, fair := d.hit(0.2), d.hit(0.4)
	clients := d.n(6) + 3
	if p.N <= 3 && d.hit(0.5) {
		clients = d.n(10) + 3
	}
	if p.Rare.has(LongIdle) {
		clients = x.n(3) + 2
	}
	for range clients {
		c := ClientPlan{TTL: shortest, Retry: pick[time.Duration](&d, 20, 100) * time.Millisecond, Fair: fair, Private: private}
		if d.hit(0.5) {
			c.TTL = shortest + d.below(p.MaxTTL-shortest+1)
		}
		if p.Rare.has(LongSleep) {
			c.Retry = 100 * time.Millisecond
		}
		p.Clients = append(p.Clients, c)
	}
	p.widenClients(&x)
	p.drawActors(&d)
	p.drawFaults(&d)
	p.drawSpare()
	p.widenOps()
	p.drawKinds()
	p.drawControls()
	p.drawDozes()
	p.drawOutage()
	p.drawGaps()
	p.drawReaders()
	p.drawElections()
	p.drawValues()
	p.drawBusy()
	return p
}

func (p *Plan) drawActors(d *dice) {
	each, rush := d.n(25)+8, time.Duration(0)
	if d.hit(0.2) {
		rush = pick[time.Duration](d, 50, 200) * time.Millisecond
	}
	actors := []int{1, 1, 2, 4}
	if p.Rare.has(LongIdle) {
		each, actors = d.n(6)+3, []int{1}
	}
	for c := range p.Clients {
		for range pick(d, actors...) {
			a := Actor{ID: len(p.Actors), Client: c}
			for range each {
				a.Ops = append(a.Ops, p.drawOp(d, p.Clients[c].TTL, p.Heal/time.Duration(each)))
				a.Ops[len(a.Ops)-1].Rush = rush
			}
			if d.hit(0.5) {
				a.Wish = append(a.Wish, d.n(len(p.Names)))
			}
			p.Actors = append(p.Actors, a)
		}
	}
	if d.hit(0.25) {
		a := Actor{ID: len(p.Actors), Foreign: true}
		for range each {
			o := p.drawOp(d, p.MaxTTL, p.Heal/time.Duration(each))
			a.Ops = append(a.Ops, Op{Pause: o.Pause, Name: o.Name, Hold: o.Hold})
		}
		p.Actors = append(p.Actors, a)
	}
}

func (p *Plan) drawOp(d *dice, ttl, spread time.Duration) Op {
	o := Op{Pause: 1 + d.below(spread), Name: d.n(len(p.Names)), Wait: d.hit(0.6)}
	if d.hit(0.3) {
		o.Pause = 1 + d.below(time.Millisecond)
	}
	switch {
	case o.Wait && d.hit(0.6):
		o.Patience, o.Cancel = d.between(time.Millisecond, pick(d, 50*time.Millisecond, 2*time.Second)), d.hit(0.5)
	case !o.Wait && d.hit(0.1):
		o.Patience, o.Cancel = 1+d.below(4*p.Slow), d.hit(0.5)
	}
	o.Hold = 1 + d.below(3*time.Millisecond)
	switch d.n(20) {
	case 0, 1, 2, 3:
		o.Hold = 1 + d.below(ttl/3)
	case 4, 5:
		o.Hold = 1 + d.below(3*ttl)
	}
	if d.hit(0.05) {
		o.TTL = 8*p.Window + d.below(p.MaxTTL-8*p.Window+1)
	}
	if d.hit(0.06) {
		o.Extend = 8*p.Window + d.below(p.MaxTTL-8*p.Window+1)
	}
	if d.hit(0.06) {
		o.Left = 1 + d.below(pick(d, 2*p.Window, ttl/2)) // a command may need longer than this to arrive
	}
	return o
}

func (p *Plan) drawFaults(d *dice) {
	kinds := slices.Clone(themes[pick(d, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 5, 6)])
	// The promises allow any node to lose its memory, except a durable node. A durable node forgets nothing and never
	// evicts keys. A minority of clocks may be wrong.
	liars := uint32(0)
	for i := range (p.N - 1) / 2 {
		liars |= 1 << i
	}
	kinds = slices.DeleteFunc(kinds, func(k Kind) bool {
		switch k {
		case Step, Blip, Drift, Freeze:
			return liars == 0
		case Forget, Partial, Evict:
			return p.Durable
		case Twin:
			return p.N < 3
		}
		return false
	})
	if len(kinds) == 0 {
		return
	}
	if p.Durable && liars != 0 { // a durable node with a wrong clock would forget at every restart
		kinds = append(kinds, Boot, Boot)
	}
	most := pick(d, 4, 8, 16, 30, 60)
	for id := range d.n(most) + 1 {
		p.Faults = append(p.Faults, p.drawFault(d, id, pick(d, kinds...), liars))
	}
}

func (p *Plan) drawFault(d *dice, id int, k Kind, liars uint32) Fault {
	some := func(n int) uint32 { // returns the bit of one of n, or several bits
		m := uint32(1) << d.n(n)
		if d.hit(0.4) {
			m |= uint32(d.next()) & (1<<n - 1)
		}
		return m
	}
	f := Fault{ID: id, Kind: k, At: d.below(p.Heal * 9 / 10), Nodes: some(p.N), Clients: some(len(p.Clients))}
	f.For = 1 + d.below(pick(d, p.Window, p.MaxTTL, 2*p.MaxTTL, 2*time.Second))
	if p.Rare.has(LongSleep) && d.hit(0.5) {
		f.For = 1 + d.below(pick(d, 10*time.Minute, 40*time.Minute))
		if k == Suspend || k == Pause {
			f.For = 1 + d.below(time.Minute)
		}
	}
	switch k {
	case Loss, Delay, Duplicate, Tear, News:
		f.For = 1 + d.below(p.Heal)
		f.P = pick(d, 0.02, 0.1, 0.5)
		f.Back = k == News || k != Tear && k != Duplicate && d.hit(0.5)
		if d.hit(0.5) {
			f.Nodes, f.Clients = 1<<p.N-1, 1<<len(p.Clients)-1
		}
	case Step, Blip:
		f.Nodes &= liars
		f.By = time.Duration(d.n(2)*2-1) * d.between(p.Window/2, pick(d, 2*p.Window, 2*p.MaxTTL, 3*time.Hour))
	case Boot: // the clock is mostly so far ahead that all keys of the node have expired
		f.Nodes &= liars
		f.By = pick[time.Duration](d, -1, 1, 1, 1) * d.between(p.Window, pick(d, p.MaxTTL, 4*time.Hour, 4*time.Hour))
	case Drift:
		f.Nodes &= liars
		f.P = pick(d, -0.9, -0.1, -0.001, 0.001, 0.1, 10)
	case Freeze:
		f.Nodes &= liars
	case Flush, ScriptFlush, Evict, Inbox:
		f.For = 0
	case Stranger:
		f.At, f.For = p.Heal/2+d.below(p.Heal/4), 0
	case Twin:
		from := d.n(p.N - 1)
		f.Nodes = 1<<from | 1<<(from+1+d.n(p.N-1-from))
		f.Clients = 1 << d.n(len(p.Clients))
	}
	if (k == Step || k == Blip || k == Boot || k == Drift || k == Freeze) && f.Nodes == 0 {
		f.Nodes = liars
	}
	f.For = min(f.For, p.Heal-f.At-time.Duration(id+1)*time.Microsecond) // the fault ends before everything is healed
	return f
}

// drawSpare gives some clients another list of nodes. All lists contain node 0. It hears every report and forgets no
// report. The protocol promises nothing if reports miss all the nodes that the lists share.
func (p *Plan) drawSpare() {
	d := dice(luck(p.Seed, 's'))
	often := 0.8
	for _, f := range p.Faults {
		switch f.Kind {
		case Crash, Close, Inbox, News, ScriptFlush, Pause, Suspend:
		case Loss, Delay, Tear, Cut, CutOut, CutBack, Forget, Partial, Restart, Flush, Hang, Full:
			often = 0.3
		default:
			return
		}
	}
	if p.N == 1 || len(p.Faults) == 0 || !d.hit(often) {
		return // worlds without faults check stronger promises than such clients can get
	}
	p.Spare = uint32(d.next()) & (1<<len(p.Clients) - 1)
	defer p.drawFar()
	for i := range p.Faults {
		switch f := &p.Faults[i]; f.Kind {
		case Crash, Close, Inbox, News, ScriptFlush, Pause, Suspend, Full:
		default:
			if f.Nodes &^= 1; f.Nodes == 0 || d.hit(0.3) {
				f.Nodes |= 1 << (p.N - 1)
			}
		}
	}
}

// drawFar puts node 0 far from some clients of the two lists. Usually one server of a list is unreachable at first.
// When that server starts, the clients that list it are at work, and no node near them objects to it.
func (p *Plan) drawFar() {
	d := dice(luck(p.Seed, 's', 'f'))
	if p.Far = d.hit(0.4); !p.Far {
		return
	}
	p.Timeout = max(p.Timeout, 2*p.Window) // clients wait for node 0's answers
	p.Apart = p.N > 2 && p.N < 8 && d.hit(0.5)
	up, rest := d.between(p.Heal/8, p.Heal/2), ^p.Spare&(1<<len(p.Clients)-1)
	cut := func(nodes, clients uint32, at, until time.Duration) {
		id := len(p.Faults)
		at += time.Duration(id) * time.Microsecond
		p.Faults = append(p.Faults, Fault{ID: id, Kind: Cut, At: at, For: until - at, Nodes: nodes, Clients: clients})
	}
	switch between := p.N - 2; {
	case d.hit(0.2):
	case p.Apart: // clients lack a minority of their nodes, and servers of another list get the places of these nodes
		down := (p.N - 1) / 2
		cut((1<<down-1)<<(p.N-down), rest, 0, up)
	default:
		cut(1<<p.N, p.Spare, 0, up)
		if between > 0 { // clients of the other list miss a node that both lists contain
			cut(1<<(1+d.n(between)), rest, up-d.below(min(p.MaxTTL, up)), up+d.below(p.MaxTTL))
		}
	}
}
