// Package renewal keeps held leases. It renews each lease after a third of its validity, ends it at its deadline, and
// releases it.
//
//	lease.go    one held lease: its deadline, its loss, its end
//	renew.go    one renewal of a lease, and its votes
//	giveback.go release and leave, and the callers that wait for them
//	giveall.go  the release of several leases at once
//	gap.go      a release that leaves a gap to clients of other libraries
//	keeper.go   one scheduler per client for all leases
//
// The deadline of a lease has its own timer, so that a renewal stuck in the network cannot delay the loss.
package renewal
