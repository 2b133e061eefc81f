package renewal

import (
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
	"github.com/holdfast-go/holdfast/internal/core/waiting"
)

// The first renewal after a move makes sure that the new node set has the lease. It does not wait until the lease is due:
// the server that had it may go soon. The leases that have not moved are not due earlier than before.
func TestALeaseThatMovedIsRenewedAtOnce(t *testing.T) {
	const ttl = time.Minute
	synctest.Test(t, func(t *testing.T) {
		set := nodescript.Config{N: 1, MaxTTL: ttl, Window: 250 * time.Millisecond, Cluster: "test"}
		serve := func() *fanout.Fanout {
			n := &slow{turn: make(chan struct{}, 1), dead: func() bool { return false }}
			return n.serve(t, set)
		}
		from, to := serve(), serve()
		defer from.Close(t.Context())
		defer to.Close(t.Context())
		var moved atomic.Pointer[string]
		k := NewKeeper(from)
		defer k.Close()
		k.Route = func(name string) *fanout.Fanout {
			if m := moved.Load(); m != nil && *m == name {
				return to
			}
			return from
		}
		k.Routes = func() any { return moved.Load() }
		keep := func(name string) *Lease {
			now := from.Now()
			return k.Keep(t.Context(), nodescript.NewExclusive(nodescript.Lock{Name: name}), waiting.Won{
				Owner: "a~b~" + name, Token: 1, Sent: now, Deadline: quorum.Deadline(now, ttl, set.Window), Fan: from,
			}, ttl, nil)
		}
		deadlines := func(leases ...*Lease) (at []clock.Instant) {
			for _, e := range leases {
				at = append(at, e.Deadline())
			}
			return at
		}
		stays, moves := keep("stays"), keep("moves")
		time.Sleep(3 * watchEvery)
		before := deadlines(stays, moves)
		name := "moves"
		moved.Store(&name)
		time.Sleep(watchEvery + time.Millisecond)
		after := deadlines(stays, moves)
		if after[0] != before[0] || after[1] <= before[1] {
			t.Errorf("a second after the move the deadlines are later by %v and %v, want only the second", after[0].Sub(before[0]), after[1].Sub(before[1]))
		}
		if held := k.Held(); len(held) != 2 || !slices.ContainsFunc(held, func(e *Lease) bool { return e.grant.Fan == to }) {
			t.Errorf("%d leases are held, or none of the new node set", len(held))
		}
	})
}
