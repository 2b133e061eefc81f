package renewal

import (
	"context"
	"slices"

	"github.com/holdfast-go/holdfast/internal/core/fanout"
)

// ReleaseAll releases several leases as [Lease.Release] does, and returns one result per lease. It sends the requests
// for one node together.
func (k *Keeper) ReleaseAll(ctx context.Context, leases []*Lease, pass Pass) []error {
	backs := make([]*giveback, len(leases))
	send := func() {
		for i, e := range leases {
			e.release(pass, backs[i])
		}
	}
	var sets []*fanout.Fanout
	for i, e := range leases {
		backs[i] = newGiveback(e)
		if f := backs[i].fan; !slices.Contains(sets, f) {
			sets = append(sets, f)
			next := send
			send = func() { f.Together(next) }
		}
	}
	send()
	results := make([]error, len(leases))
	for i, b := range backs {
		results[i] = b.get(ctx)
	}
	return results
}
