package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// Message is a kind of message between a client and a node.
type Message uint8

// These are the kinds of messages. The kinds from Hello to Quit are control messages: they neither take nor renew a
// lock.
const (
	Hello Message = iota
	Admit
	Load // the scripts that a client sends after the answer to admit
	Vouch
	Inspect
	Refresh
	Report // the members that a client meets behind its list
	Leave
	Quit
	Acquire
	Extend
	Release
	LoadValue
	StoreValue
	Force   // a forced release
	Listen  // a request for a subscription
	Handoff // a message that a node publishes to an inbox
	messages
)

var messageNames = [messages]string{
	"hello", "admit", "load", "trust", "inspect", "refresh", "peers", "leave", "quit", "acquire", "extend", "release", "load value", "store value", "forced release", "subscribe", "hand-off",
}

// Treatment says what happened to a message.
type Treatment uint8

// These are the treatments.
const (
	Late      Treatment = iota // a fault delayed the message or its answer
	Repeated                   // the message came twice
	Reordered                  // a later message of the client arrived before the message
	Missed                     // the message or its answer was lost
	Elsewhere                  // a later incarnation, or another node's server, answered the message
	treatments
)

var treatmentNames = [treatments]string{"delayed", "repeated", "reordered", "lost", "answered elsewhere"}

// notDrawn contains the treatments that the check does not require. docs/design/verification.md gives the reasons.
var notDrawn = map[Message]map[Treatment]bool{
	// The scripts use the connection that brought the answer to admit.
	Load:    {Elsewhere: true},
	Vouch:   {Late: true, Reordered: true, Missed: true, Elsewhere: true}, // drawn, but clients send too few vouchers
	Inspect: {Elsewhere: true},
	Refresh: {Missed: true, Elsewhere: true},
	Leave:   {Elsewhere: true}, // the answer is NOSCRIPT, as for an acquire; clients send too few leaves
	Quit:    {Elsewhere: true},
	Extend:  {Elsewhere: true},
	// Few operators take locks away.
	Force: {Late: true, Repeated: true, Reordered: true, Missed: true, Elsewhere: true},
	// Few holders use a value.
	LoadValue:  {Elsewhere: true},
	StoreValue: {Elsewhere: true},
	Listen:     {Repeated: true, Reordered: true, Elsewhere: true}, // a subscription begins its own connection
	// A connection keeps the order of hand-offs; a hand-off names its owner.
	Handoff: {Reordered: true, Elsewhere: true},
}

// kind returns the kind of a call. text is the whole text of a script, for a call that sends it (EVAL).
func kind(text string, c node.Call) Message {
	switch {
	case text == nodescript.HelloText():
		return Hello
	case text == nodescript.InspectText(), text == nodescript.PeekText():
		return Inspect
	case text == nodescript.TrustText():
		return Vouch
	case text == nodescript.PeersText():
		return Report
	case forces(text, c):
		return Force
	case text != "":
		return Admit
	case acquires(c):
		return Acquire
	case extends(c):
		return Extend
	case lefts(c):
		return Leave
	case loads(c):
		return LoadValue
	case stores(c):
		return StoreValue
	case releases(c):
		return Release
	case len(c.Args) == 1:
		return Quit
	}
	return Refresh
}

// kinds returns the kinds of the calls in a parcel, as bits.
func (p parcel) kinds() (m uint32) {
	if len(p.load) > 0 {
		return 1 << Load
	}
	for _, c := range p.calls {
		m |= 1 << kind(p.text, c)
	}
	return m
}

// control contains the control messages, as bits.
const control = uint32(1)<<(Quit+1) - 1

// treated counts a treatment of the messages in a parcel.
func (w *world) treated(p parcel, how Treatment) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.treatedLocked(p.kinds(), how)
}

// treatedLocked counts a treatment of messages that are given as bits. The caller holds w.mu.
func (w *world) treatedLocked(kinds uint32, how Treatment) {
	for m := range messages {
		if kinds>>m&1 != 0 {
			w.result.Tally.Treated[m][how]++
		}
	}
}

// arrived notes that a parcel has reached a node. Parcels may arrive in any order.
func (w *world) arrived(s *server, p parcel) {
	if p.from == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.seq < p.from.latest {
		w.treatedLocked(p.kinds(), Reordered)
	}
	p.from.latest = max(p.from.latest, p.seq)
	if s.index != p.from.to || s.epoch != p.epoch {
		w.treatedLocked(p.kinds(), Elsewhere)
	}
}

// drawControls adds frequent faults that hit only control messages. It adds them to one in eight of the worlds with
// faults. It also adds them to each world with hours of idling, because only such worlds are long enough for refreshes.
// It also adds a loss of memory with a clock that goes back, so that a late admit meets such a node.
func (p *Plan) drawControls() {
	defer p.sparesShared(len(p.Faults))
	d := dice(luck(p.Seed, 'c', 'm'))
	// No node may forget in a world with a stranger.
	stranger := slices.ContainsFunc(p.Faults, func(f Fault) bool { return f.Kind == Stranger })
	if len(p.Faults) == 0 || stranger || !d.hit(0.125) && !p.Rare.has(LongIdle) {
		return
	}
	liars := uint32(1)<<((p.N-1)/2) - 1
	all, clients := uint32(1)<<p.N-1, uint32(1)<<len(p.Clients)-1
	for i := range d.n(4) + 1 {
		f := Fault{ID: 3000 + i, Kind: pick(&d, Loss, Delay, Delay, Duplicate, Duplicate, Relay), Control: true, At: d.below(p.Heal / 2)}
		f.For, f.P = 1+d.below(p.Heal-f.At), pick(&d, 0.2, 0.5, 0.8)
		f.Nodes, f.Clients = pick(&d, all, 1<<d.n(p.N)), pick(&d, clients, 1<<d.n(len(p.Clients)))
		if f.Kind == Relay {
			f.Control = d.hit(0.5)
		}
		p.Faults = append(p.Faults, f)
	}
	if p.Rare.has(LongIdle) {
		for i, k := range [...]Kind{Duplicate, Delay, Loss} { // a client refreshes a node only once in a long time
			f := Fault{ID: 3500 + i, Kind: k, Control: true, Only: 1 << Refresh, P: 0.7 - 0.25*float64(i), Nodes: all, Clients: clients, At: p.Heal / 100}
			f.For = p.Heal * 9 / 10
			p.Faults = append(p.Faults, f)
		}
	}
	for i := range d.n(4) {
		f := Fault{ID: 3100 + i, Kind: pick(&d, Flush, ScriptFlush, Restart), At: d.below(p.Heal * 9 / 10), Nodes: 1 << d.n(p.N)}
		if f.Kind == Restart {
			f.For = 1 + d.below(min(p.MaxTTL, p.Heal-f.At-time.Millisecond))
		}
		p.Faults = append(p.Faults, f)
	}
	if d.hit(0.5) {
		f := Fault{ID: 3400, Kind: Voucher, At: d.below(p.Heal / 2), Nodes: 1 + uint32(d.n(int(all))), Clients: clients &^ (1<<d.n(len(p.Clients)) - 1)}
		p.Faults = append(p.Faults, f)
	}
	if liars == 0 || !d.hit(0.5) {
		return
	}
	for i := range d.n(3) + 1 {
		at := d.below(p.Heal * 8 / 10)
		back := d.between(p.Window, 2*p.MaxTTL)
		p.Faults = append(p.Faults,
			Fault{ID: 3200 + i, Kind: Flush, At: at, Nodes: liars},
			Fault{ID: 3300 + i, Kind: Blip, At: at + 1 + d.below(p.Window), For: 1 + d.below(min(p.MaxTTL, p.Heal/10)), Nodes: liars, By: -back})
	}
}

// sparesShared removes node 0 from the faults with this index or a higher one, if clients have different lists: see
// drawSpare.
func (p *Plan) sparesShared(first int) {
	if p.Spare == 0 {
		return
	}
	for i := range p.Faults[first:] {
		if f := &p.Faults[first+i]; f.Nodes&^1 != 0 {
			f.Nodes &^= 1
		} else {
			f.Nodes = 1 << (p.N - 1)
		}
	}
}

// longLate returns the delay of a control message under such a fault. The delay may exceed leases and quarantines, but
// ends before everything is healed.
func (w *world) longLate(d *dice) time.Duration {
	late := 1 + d.below(pick(d, w.plan.Window, w.plan.MaxTTL, 2*w.plan.MaxTTL, 3*w.plan.MaxTTL))
	return min(late, max(w.plan.Heal-w.now()-time.Millisecond, 1))
}

// table returns how often each treatment hit messages of each kind.
func (t *Tally) table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "  %-12s", "")
	for _, n := range treatmentNames {
		fmt.Fprintf(&b, "%20s", n)
	}
	for m := range messages {
		fmt.Fprintf(&b, "\n  %-12s", messageNames[m])
		for how := range treatments {
			fmt.Fprintf(&b, "%20d", t.Treated[m][how])
		}
	}
	return b.String() + "\n"
}
