// Package renewal keeps held leases. It renews each lease after a third of its validity, ends the lease at its
// deadline at the latest, and releases it.
//
//	lease.go     one held lease: its deadline, its loss, its end
//	context.go   the lease's context, whose Err looks at the clock
//	limit.go     the longest time for which a lease may be held
//	renew.go     one renewal of a lease, and the votes for it
//	extend.go    a renewal that a caller asks for
//	follow.go    leases whose names move to another node set
//	left.go      leases that need a server which an address has left
//	pulse.go     how late the goroutines of this process run, and what that takes from the deadlines
//	blame.go     whether a loss was the fault of this process
//	downgrade.go the change of a writer's lease into a reader's
//	giveback.go  release and leave, and the callers that wait for them
//	giveall.go   the release of several leases at once
//	gap.go       a release that leaves a gap for clients of other libraries
//	keeper.go    one scheduler per client for all leases
//	lane.go      the scheduled leases of one node set, and how many renewals are under way there
//	watch.go     tells a watcher about the renewals of a lease
//
// The deadline of a lease has its own timer. So a renewal that is stuck in the network cannot delay the loss.
package renewal
