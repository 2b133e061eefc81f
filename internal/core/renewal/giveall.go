package renewal

import "context"

// ReleaseAll releases several leases as [Lease.Release] does, and returns one result per lease. It sends the requests
// for one node together.
func (k *Keeper) ReleaseAll(ctx context.Context, leases []*Lease, pass Pass) []error {
	backs := make([]*giveback, len(leases))
	k.fan.Together(func() {
		for i, e := range leases {
			backs[i] = newGiveback(e)
			e.release(pass, backs[i])
		}
	})
	results := make([]error, len(leases))
	for i, b := range backs {
		results[i] = b.get(ctx)
	}
	return results
}
