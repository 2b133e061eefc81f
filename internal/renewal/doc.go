// Package renewal keeps what is held: it renews leases at a third of their validity, ends
// the belief in them at their deadline, and gives them back.
//
//	lease.go    one held lease: its deadline, its loss, its end
//	renew.go    one renewal of it, and its votes
//	giveback.go release and leave, and who waits for them
//	keeper.go   one scheduler per client for all of them
//
// The deadline of a lease has a timer of its own, so that a renewal stuck in the
// network cannot delay the verdict.
package renewal
