package sim

import (
	"fmt"
	"hash/fnv"
	"strings"
	"time"
)

// event is one line of a history. It becomes text only when a person reads it.
type event struct {
	at     time.Duration
	what   string
	client int // -1: no client
	actor  int // -1: no actor
	name   int // -1: no name
	a, b   int64
}

// history is the list of events, in order.
type history struct{ events []event }

func (h *history) add(e event) { h.events = append(h.events, e) }

// digest returns a hash of the history. Different histories have different digests.
func (h *history) digest() uint64 {
	sum := fnv.New64a()
	var b [8]byte
	number := func(n int64) {
		for i := range b {
			b[i] = byte(n >> (8 * i))
		}
		sum.Write(b[:])
	}
	for _, e := range h.events {
		number(int64(e.at))
		number(int64(e.client)<<40 + int64(e.actor)<<20 + int64(e.name))
		number(e.a)
		number(e.b)
		sum.Write([]byte(e.what))
	}
	return sum.Sum64()
}

// String returns the history as text: one event per line, with the virtual time.
func (h *history) String() string {
	var b strings.Builder
	for _, e := range h.events {
		fmt.Fprintf(&b, "%13.9f", e.at.Seconds())
		if e.client >= 0 {
			fmt.Fprintf(&b, " client%d", e.client)
		}
		if e.actor >= 0 {
			fmt.Fprintf(&b, "/%d", e.actor)
		}
		b.WriteString(" " + e.what)
		if e.name >= 0 {
			fmt.Fprintf(&b, " name%d", e.name)
		}
		if e.a != 0 {
			fmt.Fprintf(&b, " %d", e.a)
		}
		if e.b != 0 {
			fmt.Fprintf(&b, " until %.6f", time.Duration(e.b).Seconds())
		}
		b.WriteByte('\n')
	}
	return b.String()
}
