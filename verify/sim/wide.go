package sim

import (
	"fmt"
	"time"
)

// Rare is a rare feature of a world: a setting far from the usual one, or a call that most programs never make. The
// tally counts each rare feature.
type Rare uint8

// Rare settings come first. One world in eight is wide and has some of these settings. Rare calls follow.
const (
	EvenNodes      Rare = iota // an even number of nodes
	ManyNodes                  // more than 7 nodes
	ShortW                     // a window from 1 ms
	LongTTL                    // a MaxTTL of up to 500 W
	LongWait                   // a NodeTimeout of up to MaxTTL
	OddRetry                   // a RetryDelay from 1 ms, or of seconds
	MixedFair                  // some clients are Fair
	OwnTTLs                    // half of the locks have their own TTL
	Prefixes                   // clients that write one name in several ways
	ManyNames                  // 500 names
	LongIdle                   // hours in which clients do little or nothing
	DeadCall                   // a context that ended before the call
	ByDo                       // Mutex.Do
	Panics                     // a panic under Mutex.Do
	SlowOnWait                 // an OnWait that sleeps
	BadOnWait                  // an OnWait that panics
	Nested                     // a lock under its own lease
	AllAtOnce                  // Extend and several Unlocks at the same time
	LookAtNodes                // admin.Nodes
	LookAtLock                 // Client.Status
	HolderSeen                 // Client.Status of a lock that one client held all the time
	TrustNodes                 // admin.Trust while no lock is alive
	LongSleep                  // one client's host was suspended for more than 20 s; see Doze for hours
	GapLeft                    // a gap for polling clients, at an Unlock
	SlotTaken                  // a slot of a semaphore
	SlotRefused                // all slots of a semaphore are held, or its nodes refuse
	SlotLost                   // a slot was lost
	SlotsFull                  // all slots of a semaphore with several had holders
	SetTaken                   // several names together
	SetWaited                  // a set that waited for a name
	SetRefused                 // a call for several names that got none
	SetLost                    // a set that lost a lease
	SetLostEarly               // a set that lost a lease while it waited for another name
	SetAfterReader             // a set with a name that readers had last
	SetMetReader               // a call for a set while readers had one of its names
	ReaderMetSet               // a call of a reader while a set had its name
	ReaderInSet                // a reader's handle under a set
	ReaderLeft                 // UnlockAt of a reader
	LeftByShare                // UnlockAt of a reader that shared its lease
	WriterLeft                 // UnlockAt of a writer that had become a reader
	ValueLoaded                // a value, or none, was loaded
	ValueFound                 // a value was loaded
	ValueStored                // a value was stored
	ValueUnknown               // a load or a store failed
	Led                        // a term
	LedAgain                   // a further term in one Run
	LeaderLost                 // a term whose lease was lost
	Resigned                   // a Resign
	CampaignEnded              // a campaign that ended without a term
	Published                  // a value that a leader published
	LeaderSeen                 // an observer saw a leader
	VacancySeen                // an observer saw a vacancy
	PublishedSeen              // an observer saw a published value
	ForceLock                  // admin.Unlock took a lock away from a holder
	ForceSlot                  // admin.Unlock took a slot away
	ForceTold                  // a holder was told that an operator took its lock away
	rares
)

var rareNames = [rares]string{
	"even number of nodes", "more than 7 nodes", "window below 20 ms", "MaxTTL above 24 W", "NodeTimeout above 1 W", "odd RetryDelay",
	"mixed Fair", "own TTLs", "prefixes", "500 names", "hours of idling",
	"dead context", "Do", "Do that panicked", "OnWait slept", "OnWait panicked", "lock under its lease", "Extend beside Unlocks",
	"Nodes", "Status", "Status of a holder", "Trust", "one suspended for long", "gap",
	"slot", "slot refused", "slot lost", "all slots held", "set", "set that waited", "set refused", "set lost", "set lost while it waited",
	"set after readers", "set asked beside readers", "reader asked beside a set", "reader under a set",
	"left by a reader", "left by a shared lease", "left after a downgrade",
	"value or none loaded", "value found", "value stored", "value call failed",
	"term", "further term of a Run", "leader lost", "Resign", "campaign ended", "published",
	"leader seen", "vacancy seen", "published value seen",
	"forced release", "forced release of a slot", "holder told of a forced release",
}

// Rares is a set of rare features.
type Rares uint64

func (r Rares) has(k Rare) bool { return r>>k&1 != 0 }

// isWide reports whether a seed makes a wide world.
func isWide(seed uint64) bool { return luck(seed, 'x')%8 == 0 }

// widen draws the settings of a wide world on which all its other settings depend.
func (p *Plan) widen(d *dice) {
	for k := range DeadCall {
		if d.hit(0.2) {
			p.Rare |= 1 << k
		}
	}
	if p.Rare.has(ManyNames) {
		p.Rare &^= 1<<ManyNodes | 1<<LongTTL // a world with all three settings takes a second
	}
	switch {
	case p.Rare.has(ManyNodes):
		p.N = pick(d, 8, 9, 11)
	case p.Rare.has(EvenNodes):
		p.N = pick(d, 2, 4, 6)
	}
	if p.Rare.has(ShortW) {
		p.Window = pick[time.Duration](d, 1, 2, 5, 10) * time.Millisecond
		p.MaxTTL = (8*p.Window + d.below(16*p.Window)).Round(time.Millisecond)
	}
	if p.Rare.has(LongIdle) { // the window is so large that an idle client reads the clocks only every ten minutes
		p.Rare &^= 1<<ManyNames | 1<<LongTTL
		if d.hit(0.5) {
			// In the simulation timers go on while a host sleeps (see suspend.go), so a waiter continues to ask during
			// a long sleep. With the short pauses of OddRetry that would be far too many questions.
			p.Rare = p.Rare&^(1<<OddRetry) | 1<<LongSleep
		}
		p.Window = pick[time.Duration](d, 100, 250) * time.Millisecond
		p.MaxTTL = (8*p.Window + d.below(16*p.Window)).Round(time.Millisecond)
	}
	if p.Rare.has(LongTTL) {
		p.Window = min(p.Window, 50*time.Millisecond)
		p.MaxTTL = p.Window * pick[time.Duration](d, 30, 100, 500)
	}
}

// widenClients draws the settings of each client of a wide world.
func (p *Plan) widenClients(d *dice) {
	if p.Rare.has(LongWait) {
		p.Timeout = pick(d, p.MaxTTL, d.between(p.Window, p.MaxTTL))
	}
	if p.Rare.has(Prefixes) {
		for i := range p.Names {
			p.Names[i] = fmt.Sprintf("team:%s", p.Names[i])
		}
	}
	for i := range p.Clients {
		c := &p.Clients[i]
		if p.Rare.has(OddRetry) {
			c.Retry = pick[time.Duration](d, 1, 10, 500, 3000, 10_000) * time.Millisecond
		}
		if p.Rare.has(MixedFair) {
			c.Fair = d.hit(0.5)
		}
		if p.Rare.has(Prefixes) {
			c.Prefix = pick(d, "", "te", "team:")
		}
	}
}

// widenOps draws rare calls and long sleeps for some worlds of every kind. It uses its own stream of random numbers.
func (p *Plan) widenOps() {
	d := dice(luck(p.Seed, 'x', 'o'))
	if p.Rare.has(LongSleep) {
		for i := range d.n(3) + 1 {
			f := Fault{ID: 2000 + i, Kind: Suspend, Clients: 1 << d.n(len(p.Clients)), At: d.below(p.Heal / 2)}
			// The client's timers continue, and its unsent messages accumulate.
			f.For = d.between(20*time.Second, time.Minute)
			p.Faults = append(p.Faults, f)
		}
	}
	calls, nests := d.hit(0.25), dice(luck(p.Seed, 'x', 'n'))
	for a := range p.Actors {
		if p.Actors[a].Foreign {
			continue
		}
		ttl := p.Clients[p.Actors[a].Client].TTL
		for i := range p.Actors[a].Ops {
			o := &p.Actors[a].Ops[i]
			if p.Rare.has(LongIdle) && d.hit(0.04) {
				o.Hold = 1 + d.below(4*time.Minute)
			}
			if p.Rare.has(OwnTTLs) && d.hit(0.5) {
				o.TTL = 8*p.Window + d.below(p.MaxTTL-8*p.Window+1)
			}
			o.Nest = nests.hit(0.03)
			if calls && d.hit(0.2) {
				p.widenOp(&d, o, ttl)
			}
		}
	}
}

func (p *Plan) widenOp(d *dice, o *Op, ttl time.Duration) {
	o.Look = pick(d, 0, LookAtNodes, LookAtLock, LookAtLock)
	switch d.n(6) {
	case 0:
		o.Dead = true
	case 1, 2:
		o.Do, o.Wait, o.Left, o.Panic = true, true, 0, d.hit(0.2)
	case 3:
		o.Wait, o.OnWait = true, SlowOnWait
	case 4:
		o.Wait, o.OnWait = true, BadOnWait
	case 5:
		o.AtOnce = true
		o.Extend = pick(d, 0, 8*p.Window+d.below(p.MaxTTL-8*p.Window+1))
	}
}

// drawGaps makes the clients of some worlds leave gaps for polling clients. Usually all clients leave the same gaps.
func (p *Plan) drawGaps() {
	d := dice(luck(p.Seed, 'g', 'a', 'p'))
	if !d.hit(0.1) {
		return
	}
	gap := max(pick(&d, p.Window/4, p.Window, d.between(p.Window, p.MaxTTL/2), p.MaxTTL/2), time.Millisecond)
	for i := range p.Clients {
		if c := &p.Clients[i]; !c.Private && d.hit(0.9) {
			c.Gap = gap
		}
	}
}
