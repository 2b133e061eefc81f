package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Plan is a world, decided beforehand.
type Plan struct {
	Seed    uint64
	N       int
	Window  time.Duration
	MaxTTL  time.Duration
	Timeout time.Duration // of a node
	Slow    time.Duration // the longest way from a client to a node
	Durable bool
	Spare   uint32 // clients whose last node is another server, under the same address; 0: there is none
	Far     bool   // some of the clients are far from node 0, which all lists have
	Apart   bool   // node 0 is all that the lists share
	Names   []string
	Clocks  []time.Duration // what each node's is off by; nil: drawn
	Clients []ClientPlan

	Latecomers bool  // requests of admission are kept, to come again
	Rare       Rares // settings of a wide world
	Actors     []Actor
	Faults     []Fault
	Heal       time.Duration // when all faults are over
	Broken     Broken        // what is false of this world, to see that it is noticed
}

// ClientPlan is a client's process; after a crash or a Close another one takes its place.
type ClientPlan struct {
	TTL     time.Duration
	Retry   time.Duration
	Fair    bool
	Private bool
	Gap     time.Duration // its PollGap; 0: none
	Prefix  string        // of its names, which are those of the plan with it
	Speed   float64       // of its clock; 0: drawn
}

// Actor is one goroutine of a client, or a foreign Redlock client.
type Actor struct {
	ID      int // keeps its luck when others are left out
	Client  int
	Foreign bool
	Ops     []Op
	Once    bool  // it goes when it has had one lock
	Wish    []int // names it wants once more when all faults are over
}

// Op is one lock.
type Op struct {
	Pause    time.Duration // before
	At       time.Duration // and not before this time; 0: any
	Rush     time.Duration // then until the next multiple of this, as all others that rush; 0: not
	Name     int
	Wait     bool          // Lock; else TryLock
	Patience time.Duration // of its context; 0: endless
	Cancel   bool          // the context is cancelled then, and has no deadline
	Hold     time.Duration
	TTL      time.Duration // 0: the client's
	Extend   time.Duration // renew for this by hand after half of Hold; 0: not
	Then     time.Duration // and hold for so much longer after that
	Left     time.Duration // keep the name taken for this long after; 0: Unlock

	// Rare calls, see [Rare].
	Dead   bool // the context is dead before the call
	Do     bool // by Mutex.Do,
	Panic  bool // whose work panics in the end
	OnWait Rare // SlowOnWait, BadOnWait; 0: it only listens
	AtOnce bool // Extend and several Unlocks, at once
	Look   Rare // LookAtNodes, LookAtLock, meanwhile; 0: none
}

// Broken is what is false of a world on purpose: an assumption of the protocol. A checker
// must notice each of them.
type Broken struct {
	Vouches bool // nodes that forget go on as if they had not
	Slow    bool // the clocks of half of the clients are slow
	Sticky  bool // nodes do not hear releases
	Taken   bool // a key of nobody is in the way when all is healed
	Unfair  bool // nodes take the last of a queue for the first
	Long    bool // nodes that forget do not vote for twice as long
	Hasty   bool // drivers load scripts behind an error, too

	// Backoff is for how long clients do not try to reach a node when all faults are over.
	Backoff time.Duration
}

// ops is how many locks the plan asks for.
func (p *Plan) ops() (n int) {
	for _, a := range p.Actors {
		n += len(a.Ops) + len(a.Wish)
	}
	return n
}

// lasts is for how long actors pause and hold locks, all of it one after the other, where the longest pauses count.
func (p *Plan) lasts() time.Duration {
	var holds, pauses time.Duration
	for _, a := range p.Actors {
		var own time.Duration
		for _, o := range a.Ops {
			holds += o.Hold
			own += o.Pause
		}
		pauses = max(pauses, own)
	}
	return holds + pauses
}

// foreign reports whether a foreign Redlock client is there.
func (p *Plan) foreign() bool {
	return slices.ContainsFunc(p.Actors, func(a Actor) bool { return a.Foreign })
}

// quarantine is how long a node that may have forgotten does not vote.
func (p *Plan) quarantine() time.Duration { return p.MaxTTL + p.Window }

// others is how many servers only one of two lists has.
func (p *Plan) others() int {
	switch {
	case p.Spare == 0:
		return 0
	case p.Apart:
		return p.N - 1
	}
	return 1
}

func (p *Plan) majority() int { return p.N/2 + 1 }

// String is the plan as text, without what the actors do.
func (p *Plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: N=%d W=%s MaxTTL=%s node timeout %s, at most %s to a node, durable=%v, names %q, healed at %s\n",
		p.Seed, p.N, p.Window, p.MaxTTL, p.Timeout, p.Slow, p.Durable, p.Names, p.Heal)
	if p.Clocks != nil {
		fmt.Fprintf(&b, "nodes' clocks off by %s\n", p.Clocks)
	}
	if p.Spare != 0 {
		fmt.Fprintf(&b, "the last address of clients %b leads to another server\n", p.Spare)
		if p.Far {
			b.WriteString("some clients are far from node 0\n")
		}
		if p.Apart {
			b.WriteString("their other addresses do, too, but for node 0\n")
		}
	}
	for i, c := range p.Clients {
		fmt.Fprintf(&b, "client%d TTL=%s retry=%s fair=%v private=%v prefix=%q", i, c.TTL, c.Retry, c.Fair, c.Private, c.Prefix)
		if c.Gap != 0 {
			fmt.Fprintf(&b, " gap=%s", c.Gap)
		}
		if c.Speed != 0 {
			fmt.Fprintf(&b, " clock at %.3f of its speed", c.Speed)
		}
		b.WriteByte('\n')
	}
	for _, f := range p.Faults {
		fmt.Fprintf(&b, "%s\n", f)
	}
	return b.String()
}
