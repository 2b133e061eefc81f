package sim

import (
	"fmt"
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
	Names   []string
	Clients []ClientPlan
	Actors  []Actor
	Faults  []Fault
	Heal    time.Duration // when all faults are over
	Broken  Broken        // what is false of this world, to see that it is noticed
}

// ClientPlan is a client's process; after a crash or a Close another one takes its place.
type ClientPlan struct {
	TTL     time.Duration
	Retry   time.Duration
	Fair    bool
	Private bool
}

// Actor is one goroutine of a client, or a foreign Redlock client.
type Actor struct {
	ID      int // keeps its luck when others are left out
	Client  int
	Foreign bool
	Ops     []Op
	Wish    []int // names it wants once more when all faults are over
}

// Op is one lock.
type Op struct {
	Pause    time.Duration // before
	Rush     time.Duration // then until the next multiple of this, as all others that rush; 0: not
	Name     int
	Wait     bool          // Lock; else TryLock
	Patience time.Duration // of its context; 0: endless
	Cancel   bool          // the context is cancelled then, and has no deadline
	Hold     time.Duration
	TTL      time.Duration // 0: the client's
	Extend   time.Duration // renew for this by hand after half of Hold; 0: not
	Left     time.Duration // keep the name taken for this long after; 0: Unlock
}

// Broken is what is false of a world on purpose: an assumption of the protocol. A checker
// must notice each of them.
type Broken struct {
	Vouches bool // nodes that forget go on as if they had not
	Slow    bool // the clocks of half of the clients are slow
	Sticky  bool // nodes do not hear releases, and their clocks stand in the end
	Taken   bool // a key of nobody is in the way when all is healed
	Unfair  bool // nodes take the last of a queue for the first
}

// ops is how many locks the plan asks for.
func (p *Plan) ops() (n int) {
	for _, a := range p.Actors {
		n += len(a.Ops) + len(a.Wish)
	}
	return n
}

func (p *Plan) majority() int { return p.N/2 + 1 }

// String is the plan as text, without what the actors do.
func (p *Plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: N=%d W=%s MaxTTL=%s node timeout %s, at most %s to a node, durable=%v, names %q, healed at %s\n",
		p.Seed, p.N, p.Window, p.MaxTTL, p.Timeout, p.Slow, p.Durable, p.Names, p.Heal)
	for i, c := range p.Clients {
		fmt.Fprintf(&b, "client%d TTL=%s retry=%s fair=%v private=%v\n", i, c.TTL, c.Retry, c.Fair, c.Private)
	}
	for _, f := range p.Faults {
		fmt.Fprintf(&b, "%s\n", f)
	}
	return b.String()
}
