//go:build linux

package chaos

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// This file is about processes that only read or only write. They never turn from one to the other: there are no
// downgrades.

// longReads is [Role.Long] of processes that only read. A read of up to two TTLs is renewed several times.
const longReads = 10

// apart reports whether each client process only reads or only writes.
func (p Plan) apart() bool { return p.OnlyRead > 0 }

// mode returns the role of the client in a slot. The first slots only read. A process that only writes has one loop,
// because a process may pass its lock among its loops before it hands the lock to another process.
func (a *arena) mode(r Role, slot int) Role {
	r.Asks = a.plan.apart()
	switch {
	case a.plan.Busy > 0 && slot == len(a.slots)-1:
		r.Busy, r.Loops, r.Long = a.plan.Busy, 1, longBusy
	case !a.plan.apart():
	case slot < a.plan.OnlyRead:
		r.Readers, r.Long = 100, longReads
	default:
		r.Readers, r.Loops = 0, 1
	}
	return r
}

// admit waits until a majority of the nodes votes. The quarantine of new nodes is no wait for a lock. On a busy machine
// it takes much longer than TTL + W, because the nodes are greeted late.
func (a *arena) admit() {
	a.mu.Lock()
	role := a.role(a.nextID)
	a.nextID++
	a.mu.Unlock()
	role.note = func(string) {}
	l, err := openHoldfast(role)
	if err != nil {
		a.t.Fatal(err)
	}
	defer l.Close()
	client := l.(*holdfastLocker).client
	redistest.Eventually(a.t, 4*patience, "votes of a majority", func() bool {
		ctx, stop := context.WithTimeout(context.Background(), time.Second)
		defer stop()
		votes := 0
		for _, n := range admin.Nodes(ctx, client) {
			if n.Votes() {
				votes++
			}
		}
		return votes > len(a.nodes)/2
	})
}
