package sim

import (
	"fmt"
	"math/bits"
	"strings"
	"time"
)

// Kind is what goes wrong.
type Kind uint8

// Kinds of faults. Those of messages act on what is sent while they last.
const (
	Loss        Kind = iota // messages get lost
	Delay                   // or take long
	Duplicate               // or come twice
	Relay                   // a proxy keeps messages, and hands them to the incarnation that runs by then
	Tear                    // the commands of a batch travel on connections of their own
	Cut                     // nothing passes between these clients and these nodes
	CutOut                  // nothing passes to the nodes
	CutBack                 // nothing passes from the nodes
	Forget                  // a node crashes and comes back empty
	Partial                 // or with some of its keys
	Restart                 // or with all of them
	Boot                    // or with all of them, and a wrong clock, which is put right later
	Flush                   // FLUSHALL
	ScriptFlush             // SCRIPT FLUSH
	Evict                   // keys evicted, the guard among them
	Hang                    // a node stands still
	Step                    // a clock is moved
	Blip                    // a clock is moved, and back
	Drift                   // a clock runs at the wrong speed
	Freeze                  // a clock stands
	Pause                   // a client's messages are held back, in both directions
	Suspend                 // a client's host sleeps
	Doze                    // all clients' hosts do: their timers stand, their clocks do not
	Crash                   // a client vanishes
	Close                   // a client is closed
	Inbox                   // a client's subscriptions break
	News                    // what is published to a client gets lost
	Full                    // a node's memory is full
	Stranger                // a client with another configuration comes
	Voucher                 // nodes lose their memory while no lock is alive, and an operator says so
	Twin                    // an address of a client leads to another node's server
	Latecomers              // FLUSHALL, and requests to admit a node come that were sent before
	Crossing                // a node restarts with the guard and without locks, and they come with their scripts
	kinds
)

var kindNames = [kinds]string{
	"message lost", "message delayed", "message doubled", "message relayed", "batch torn", "partition", "partition, to nodes", "partition, from nodes",
	"restart without memory", "restart with a part of it", "restart with memory", "boot with a wrong clock", "FLUSHALL", "SCRIPT FLUSH", "eviction", "node hangs",
	"clock step", "clock blip", "clock drift", "clock frozen", "client paused", "client suspended", "all suspended", "client crash", "client closed",
	"inbox broken", "news lost", "memory full", "stranger", "voucher", "twin address", "late admission", "admission over a restart",
}

func (k Kind) String() string { return kindNames[k] }

// forgets: the node may lose what it kept.
func (k Kind) forgets() bool {
	return k == Forget || k == Partial || k == Flush || k == Latecomers || k == Crossing || k == Evict || k == Voucher
}

// Fault is one item of a schedule.
type Fault struct {
	ID      int // keeps its luck when others are left out
	Kind    Kind
	At, For time.Duration
	Nodes   uint32 // which, as bits
	Clients uint32
	P       float64       // of messages
	Back    bool          // of messages: answers; else questions
	Control bool          // of messages: control messages only, and long delays
	Stays   bool          // of a clock step: it was wrong before, and is right now
	By      time.Duration // how far a clock is moved, how late a message is; 0: drawn
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

// first is the lowest of the nodes or clients of a mask.
func first(mask uint32) int { return bits.TrailingZeros32(mask) }

func has(mask uint32, i int) bool { return mask>>i&1 != 0 }
