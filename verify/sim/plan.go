package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Plan is a world, decided in advance.
type Plan struct {
	Seed    uint64
	N       int
	Window  time.Duration
	MaxTTL  time.Duration
	Timeout time.Duration // the NodeTimeout of the clients
	Slow    time.Duration // the longest way from a client to a node
	Durable bool
	Young   bool   // the nodes' memories are new, although the nodes vote: no name has a value
	Spare   uint32 // clients whose last node is another server with the same address; 0: none
	Far     bool   // some clients are far from node 0, which all lists contain
	Apart   bool   // the lists share only node 0
	OneWay  bool   // messages of the clients with another list need more than a window to node 0, unlike its answers
	Replica bool   // the last server is no node, because it is a replica
	Names   []string
	Slots   []int           // the number of slots of each name's semaphore; nil: no semaphores
	Sets    bool            // some calls lock several names together
	Elected int             // the name with this index, minus one, has an election; 0: none has
	Clocks  []time.Duration // the error of each node's clock; nil: the seed decides it
	Clients []ClientPlan

	Latecomers bool  // nodes keep requests of admission, and the requests come again
	Kept       bool  // all renewals are late, and come early enough: no lease may be lost
	Rare       Rares // settings of a wide world
	Actors     []Actor
	Faults     []Fault
	Heal       time.Duration // when all faults end
	Broken     Broken        // an assumption that is false on purpose, to check that the judges notice it
}

// ClientPlan is a client's process. After a crash or a Close another process replaces it.
type ClientPlan struct {
	TTL     time.Duration
	Retry   time.Duration
	Fair    bool
	Private bool
	Gap     time.Duration // its PollGap; 0: none
	Prefix  string        // the client's prefix; with it, the client's own names become the names of the plan
	Speed   float64       // the speed of the client's clock; 0: the seed decides it
	More    int           // the client uses this many slots more than Plan.Slots says, as in a rolling change
}

// Actor is one goroutine of a client, or a foreign Redlock client.
type Actor struct {
	ID      int // the ID decides the luck of the actor, even if other actors are left out
	Client  int
	Foreign bool
	Ops     []Op
	Once    bool  // the actor ends after one lock
	Watch   bool  // the actor only observes the election
	Wish    []int // the names that the actor locks once more after all faults
}

// Op is one call that takes a lock, and the use of that lock.
type Op struct {
	Pause    time.Duration // the pause before the call
	At       time.Duration // the call does not begin before this time; 0: any time
	Rush     time.Duration // after that, all calls that rush start together at the next multiple of this; 0: no
	Name     int
	Slot     bool          // take a slot of the name's semaphore, not the lock
	Fewer    int           // with Slot: use this many slots fewer than the client does, but at least one
	Also     []int         // lock these names together with Name
	Wait     bool          // use Lock, not TryLock
	Patience time.Duration // the time after which the context ends; 0: never
	Cancel   bool          // the context is cancelled at that time and has no deadline
	Sure     bool          // nobody who is alive is in the way, so the call must get the lock
	Hold     time.Duration
	TTL      time.Duration // 0: the client's TTL
	Extend   time.Duration // renew by hand with this TTL after half of Hold; 0: no
	Then     time.Duration // after Extend, hold the lease for this longer time
	Left     time.Duration // keep the name taken for this time after the hold; 0: Unlock
	Shared   bool          // take the name as a reader
	Down     bool          // become a reader after half of Hold
	Renewers int           // with Down: so many goroutines call Extend meanwhile. All nodes are well, so it must succeed
	Values   int           // load or store the value of the name so many times
	Terms    int           // campaign in the election of this name, for up to so many terms; 0: lock
	Rest     time.Duration // with Terms: the pause after a term
	Resign   bool          // with Terms: call Resign after half of Hold

	// These are rare calls: see [Rare].
	Dead   bool // the context is dead before the call
	Do     bool // use Mutex.Do
	Panic  bool // with Do: the work panics at the end
	OnWait Rare // SlowOnWait, BadOnWait; 0: it only listens
	Nest   bool // lock the name again under the lease
	AtOnce bool // call Extend and several Unlocks at the same time
	Look   Rare // LookAtNodes or LookAtLock during the hold; 0: none
}

// Broken lists assumptions of the protocol that are false in a world on purpose. A judge must notice each false
// assumption.
type Broken struct {
	Vouches bool // nodes that forget still vote
	Slow    bool // half of the clients have slow clocks
	Sticky  bool // nodes ignore releases
	Taken   bool // after the healing a key without an owner blocks a name
	Unfair  bool // nodes serve the last of a queue first
	Long    bool // the quarantine of nodes that forget is twice as long
	Hasty   bool // drivers also load scripts after an error

	// Backoff weakens the drivers: for this time after the end of all faults, a driver makes no call to a node.
	Backoff time.Duration
}

// ops returns the number of calls in the plan that take a lock.
func (p *Plan) ops() (n int) {
	for _, a := range p.Actors {
		n += len(a.Ops) + len(a.Wish)
	}
	return n
}

// lasts returns the time that the plan takes if no two holds overlap: the sum of all holds, plus the pauses of the
// actor that pauses longest.
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

// foreign reports whether the plan contains a foreign Redlock client.
func (p *Plan) foreign() bool {
	return slices.ContainsFunc(p.Actors, func(a Actor) bool { return a.Foreign })
}

// quarantine returns the time for which a node that may have forgotten does not vote.
func (p *Plan) quarantine() time.Duration { return p.MaxTTL + p.Window }

// others returns the number of servers that only one of two lists contains.
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

// String returns the plan as text, without the calls of the actors.
func (p *Plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: N=%d W=%s MaxTTL=%s node timeout %s, at most %s to a node, durable=%v, names %q, slots %d, healed at %s\n",
		p.Seed, p.N, p.Window, p.MaxTTL, p.Timeout, p.Slow, p.Durable, p.Names, p.Slots, p.Heal)
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
		if c.More != 0 {
			fmt.Fprintf(&b, " %d slots more", c.More)
		}
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
