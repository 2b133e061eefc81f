// Package holdfast is a distributed lock on Redis or Valkey. It runs on one node, or on several independent nodes. With
// several nodes a majority decides (Redlock).
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
// [Mutex.Do] waits for the lock, runs the function, and releases the lock. Use [Mutex.Lock], [Mutex.TryLock] and
// [Lease.Unlock] for work that does not fit into one function. One [Client] per process is enough for any number of
// locks.
//
// # Words
//
//   - name: the thing that is locked. It may contain nearly any bytes: see [Client.Mutex].
//   - owner: a random id that a client makes for each attempt. The nodes store a lock under its owner:
//     label~client~random.
//   - lease: a lock that a client holds. It is bounded in time, and the client renews it until it is released.
//   - TTL: the time for which nodes keep a lease without a renewal.
//   - validity: the time for which the holder may rely on a lease. It is shorter than the TTL, by a margin for clocks.
//   - fence, fencing token: a number that grows from lease to lease of a name.
//   - node: one independent Redis or Valkey server.
//   - quorum: a majority of the configured nodes.
//   - vote: the yes of a node. A node that may have forgotten locks is quarantined: it does not vote.
//   - value: what the holder of a lock leaves for the next holders.
//   - term: a time for which one candidate leads an election. Its number is the fencing token.
//   - slot: a place of a semaphore, from 0 to k-1. Two holders never have the same one.
//   - held: another owner has the lock.
//   - lost: this client had the lock, and has it no longer.
//   - released: this client gave the lock back.
//
// # Guarantees
//
// At most one lease of a name is valid at a time. This holds whatever messages are lost, delayed or duplicated, and
// whatever nodes restart or lose their memory. The condition concerns clocks. The clocks of a minority of the nodes may
// be wrong by any amount; the other clocks must lie within [Config.Window] of each other. With a single node, its clock
// must not jump.
//
// Waiters are served in the order in which they came, over all processes. A release wakes the next waiter.
// [Config.Fair] describes the one intended exception.
//
// The lease's context ends before another client can get the lock. Two things can delay it: a pause of the whole
// process, and the loss of tens of thousands of leases at once. Tokens grow from lease to lease. A holder that dies
// blocks the name for at most its TTL and Window.
//
// Any minority of the nodes may be slow, hung or dead: acquire and release take no longer. There are two exceptions,
// beside a hung node. The first lock of a client that begins, or that was idle for a minute, takes up to two Windows or
// [Config.NodeTimeout] longer. With far nodes the delay is twice as long. [Client.Close] waits for about NodeTimeout.
// The end of each holdfast run therefore waits, too.
//
// An attempt that fails or is cancelled leaves no lock behind, even if its commands arrive late. Other Redlock clients
// that use the name as their key exclude Holdfast, and Holdfast excludes them.
//
// A node that restarted without its data, was flushed, or evicted keys does not vote for MaxTTL + Window. After that
// time every lock that it may have forgotten has ended. This quarantine also applies to a server that was never used
// before. An operator who knows that no lock is alive can shorten it with [Admin.Trust] or with the command holdfast
// nodes trust.
//
// # Reentrancy
//
// Ownership travels in the context. A lock that is taken with the context of its own lease is a handle of that lease:
// it has the same token and deadline, and needs no round trip. Each handle has its own Unlock; the last one releases
// the lock. Without that context a call waits for its own process. If this wait fails, the error says that this client
// itself has the lock. See [Mutex.Lock] and [Reentrant].
//
// # Readers
//
// [Mutex.RLock] and [Mutex.RDo] take a lock shared: any number of readers have it together, and exclude [Mutex.Lock] of
// the same name. The readers of one client share one lease. [Lease.Downgrade] makes an exclusive lease a shared one. The
// other direction is refused: see [ErrUpgrade].
//
// # Semaphores
//
// [Client.Semaphore] returns a name that up to k holders have at a time. Each holder has its own slot, from 0 to k-1,
// with a token, renewal and a deadline like a lock. A semaphore and a lock of one name do not exclude each other.
//
// # A value under the lock
//
// The holder of a lock leaves up to 4 KiB for the next holder with [Lease.Store], and finds them with [Lease.Load]. A
// process that lost its lock cannot change them. [Client.Value] shows them to anybody. Package job keeps the last tick
// of a job there: it runs jobs once per tick on a fleet.
//
// # Elections
//
// [Client.Election] elects one leader among any number of candidates. [Election.Run] leads one term after the other. A
// leader that resigns has stopped before the next term begins. [Election.Observe] shows the leader, the value that it
// published, and each vacancy.
//
// # Operating
//
// [Client.Status] shows the holder of one lock, and [Client.List] lists all locks, their holders and waiters. The calls
// that change something are those of [Client.Admin].
//
// # Several locks
//
// [Client.LockAll] takes several locks or none. It sorts the names, so that two callers cannot wait for each other for
// ever. [Client.TryLockAll] does not wait, and [Client.DoAll] runs a function under all locks. The context of a
// [LeaseSet] ends with the first lock that is lost.
//
// # Limits
//
// No lock can stop a process that is paused past its deadline and then goes on writing. A garbage collector, a debugger
// or a suspended host can pause a process for so long. Use [Lease.Fence] against this: the resource refuses a token
// below the highest that it has seen.
//
// Replicas are not nodes. A failover that loses writes also loses locks. Holdfast refuses each failover that it can
// detect. Redis Cluster is not a node either.
//
// # When a lock is lost
//
// Stop writing at once: the next holder may begin. The context of Do's function ends with the cause [ErrLost], and Do
// returns it:
//
//	switch {
//	case errors.Is(err, holdfast.ErrHeld): // another owner has it: try later
//	case errors.Is(err, holdfast.ErrLost): // this client had it: its last writes may overlap with the next holder's
//	case errors.Is(err, holdfast.ErrUnavailable): // too few nodes answered: nothing is known
//	}
//
// # Tests
//
// Package holdfasttest starts embedded nodes. With them a program that uses locks can be tested without a server.
package holdfast
