package sim

import (
	"fmt"
	"math/bits"
	"strings"
	"time"
)

// Kind is a kind of fault.
type Kind uint8

// These are the kinds of faults. A message fault acts on messages that are sent while the fault lasts.
const (
	Loss        Kind = iota // messages are lost
	Delay                   // messages take long
	Duplicate               // messages come twice
	Relay                   // a proxy keeps messages and gives them to a later incarnation
	Tear                    // each command of a batch travels on its own connection
	Cut                     // no message passes between these clients and these nodes
	CutOut                  // no message passes to the nodes
	CutBack                 // no message passes from the nodes
	Forget                  // a node crashes and comes back empty
	Partial                 // a node crashes and comes back with some of its keys
	Restart                 // a node crashes and comes back with all its keys
	Boot                    // a node restarts as in Restart, with a wrong clock that is set right later
	Flush                   // FLUSHALL
	ScriptFlush             // SCRIPT FLUSH
	Evict                   // a node evicts keys, even its guard
	Hang                    // a node is frozen
	Step                    // a clock is moved
	Blip                    // a clock is moved, and soon moved back
	Drift                   // a clock runs at the wrong speed
	Freeze                  // a clock stops
	Pause                   // a client's messages are held back, in both directions
	Suspend                 // a client's host sleeps
	Doze                    // all clients' hosts sleep: their timers stop, their clocks continue
	Crash                   // a client vanishes
	Close                   // a client is closed
	Inbox                   // a client's subscriptions break
	News                    // messages that are published to a client are lost
	Full                    // a node's memory is full
	Stranger                // a client with another configuration comes
	Voucher                 // nodes lose their memory while no lock is alive, and an operator vouches for that
	Twin                    // an address of a client leads to the server of another node
	Latecomers              // a FLUSHALL; requests of admission that were sent before it then arrive once more
	Crossing                // as Latecomers with their scripts, after a restart that keeps the guard but no locks
	Busy                    // a client's goroutines can run, but do not run for a while at each hand-over between them
	kinds
)

var kindNames = [kinds]string{
	"message lost", "message delayed", "message doubled", "message relayed", "batch torn", "partition", "partition, to nodes", "partition, from nodes",
	"restart without memory", "restart with a part of it", "restart with memory", "boot with a wrong clock", "FLUSHALL", "SCRIPT FLUSH", "eviction", "node hangs",
	"clock step", "clock blip", "clock drift", "clock frozen", "client paused", "client suspended", "all suspended", "client crash", "client closed",
	"inbox broken", "news lost", "memory full", "stranger", "voucher", "twin address", "late admission", "admission over a restart", "goroutines held back",
}

func (k Kind) String() string { return kindNames[k] }

// forgets reports whether a node may lose its keys.
func (k Kind) forgets() bool {
	return k == Forget || k == Partial || k == Flush || k == Latecomers || k == Crossing || k == Evict || k == Voucher
}

// Fault is one entry of a schedule.
type Fault struct {
	ID      int // the ID decides the luck of the fault, even if other faults are left out
	Kind    Kind
	At, For time.Duration
	Nodes   uint32 // the nodes that the fault affects, as bits
	Clients uint32
	P       float64       // the probability that the fault hits a message
	Back    bool          // for messages: the fault hits answers; otherwise it hits requests
	Control bool          // for messages: the fault hits only control messages, with long delays
	Only    uint32        // for messages: the fault hits only these kinds, as bits; 0: all kinds
	Stays   bool          // for a clock step: the clock was wrong before and is right afterwards
	By      time.Duration // the distance by which a clock moves, the delay of a message, or the longest delay of its copy or of a goroutine; 0: drawn
}

func (f Fault) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%10.6f %s", f.At.Seconds(), f.Kind)
	if f.For > 0 {
		fmt.Fprintf(&b, " for %s", f.For.Round(time.Microsecond))
	}
	list := func(what string, mask uint32) {
		for m := mask; m != 0; m &= m - 1 {
			fmt.Fprintf(&b, " %s%d", what, bits.TrailingZeros32(m))
		}
	}
	list("node", f.Nodes)
	list("client", f.Clients)
	if f.P != 0 {
		fmt.Fprintf(&b, " p=%.2f back=%v control=%v", f.P, f.Back, f.Control)
	}
	if f.By != 0 {
		fmt.Fprintf(&b, " by %s", f.By)
	}
	return b.String()
}

// first returns the lowest node or client in a mask.
func first(mask uint32) int { return bits.TrailingZeros32(mask) }

func has(mask uint32, i int) bool { return mask>>i&1 != 0 }
