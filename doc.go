// Package holdfast is a distributed lock on Redis or Valkey: on one node, or on several
// independent ones of which a majority decides (Redlock).
//
// # The smallest program
//
//	nodes, err := rueidisnode.Open("redis://10.0.0.1", "redis://10.0.0.2", "redis://10.0.0.3")
//	if err != nil {
//		return err
//	}
//	client, err := holdfast.New(holdfast.Config{Nodes: nodes})
//	if err != nil {
//		return err
//	}
//	defer client.Close()
//
//	err = client.Mutex("nightly-report").Do(ctx, func(ctx context.Context) error {
//		return report(ctx) // stops when ctx ends: then the lock is not ours any more
//	})
//
// [Mutex.Do] waits, runs, and gives back; [Mutex.Lock], [Mutex.TryLock] and
// [Lease.Unlock] are for what does not fit into a function. One [Client] per process is
// enough for any number of locks.
//
// # Words
//
//   - name: what is locked; nearly any bytes, see [Client.Mutex].
//   - owner: the random id under which the nodes keep a lock: label~client~random.
//   - lease: a held lock, bounded in time, renewed until it is given back.
//   - TTL: how long the nodes keep a lease without renewal; validity: how long the
//     holder may believe in it, which is less by a margin for clocks.
//   - fence, fencing token: a number that grows from lease to lease of a name.
//   - node: one independent Redis; quorum: a majority of the configured nodes.
//   - vote: a node's yes. A node that may have forgotten locks does not vote: it is
//     quarantined.
//   - held: somebody else has it; lost: it was mine; released: I gave it back.
//
// # What is guaranteed
//
// At most one lease of a name is valid at a time, whatever messages are lost, delayed
// or duplicated, whatever nodes restart or lose their memory, while the clocks of a
// minority of the nodes are arbitrarily wrong and the others lie within [Config.Window]
// of each other. With a single node, its clock must not jump.
//
// Waiters are served in the order in which they came, over all processes, and woken by
// the release; see [Config.Fair] for the exception that is meant.
//
// The lease's context ends before the lock can be somebody else's. Tokens grow from
// lease to lease. A holder that dies holds for its TTL and Window at most. Any minority of the
// nodes may be slow, hung or dead: a lock is taken and given back as quickly. Only
// [Client.Close], and so the end of each holdfast run, waits for a hung node, for
// about [Config.NodeTimeout]. An attempt that was cancelled or
// failed leaves no lock behind, also when its commands arrive late. Other Redlock
// clients that use the name as their key exclude us, and we them.
//
// A node that restarted without its data, was flushed, or evicted keys, does not vote
// for MaxTTL + Window: until every lock that it may have forgotten is over. That
// includes a server that was never used before; [Client.Trust], or the command
// holdfast nodes trust, shortens it where an operator knows that no lock is alive.
//
// # What is not
//
// Locks are not reentrant: who locks a name twice waits for itself until its context ends.
//
// No lock can stop a process that is paused (by a garbage collector, a debugger, a
// suspended host) past its deadline and then goes on writing. That is what
// [Lease.Fence] is for: let the resource refuse a token below the highest it has seen.
//
// Replicas are not nodes: a failover that loses writes loses locks. What can be seen
// of it is refused. Redis Cluster is not a node either.
//
// # When a lock is lost
//
// Stop writing, at once; the next holder may begin. Do's function sees its context end
// with the cause [ErrLost], and Do returns it:
//
//	switch {
//	case errors.Is(err, holdfast.ErrHeld): // someone else has it: try later
//	case errors.Is(err, holdfast.ErrLost): // we had it: what was written last may overlap
//	case errors.Is(err, holdfast.ErrUnavailable): // too few nodes answered: we know nothing
//	}
//
// # For tests
//
// Package holdfasttest starts embedded nodes, so that programs that use locks can be
// tested without a server.
package holdfast
