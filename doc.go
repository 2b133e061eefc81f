// Package holdfast is a distributed lock on Redis or Valkey.
//
//	nodes, err := rueidisnode.Open("redis://10.0.0.1", "redis://10.0.0.2", "redis://10.0.0.3")
//	client, err := holdfast.New(holdfast.Config{Nodes: nodes})
//	err = client.Mutex("nightly-report").Do(ctx, func(ctx context.Context) error { return report(ctx) })
//
// README.md and the example of this package have the whole program, with its errors. [Mutex.Do] waits for the lock,
// runs the function, and releases the lock. The function must stop when its ctx ends: then the lock is lost. Use
// [Mutex.Lock], [Mutex.TryLock] and [Lease.Unlock] for work that does not fit into one function. One [Client] per
// process is enough for any number of locks.
//
// There is one node, or several independent nodes, or a Redis Cluster. With several nodes a majority decides (Redlock).
//
// # Words
//
//   - name: the thing that is locked. It may contain nearly any bytes: see [Client.Mutex].
//   - owner: an id that a client makes for each attempt. The nodes store a lock under its owner:
//     label~client~ticket-random. The owner of a reader ends in ~r.
//   - lease: a lock that a client holds. It is bounded in time, and the client renews it until it is released.
//   - TTL: the time for which nodes keep a lease without a renewal.
//   - validity: the time for which the holder may rely on a lease. It is shorter than the TTL, by a margin for clocks.
//   - fence, fencing token: a number that grows from lease to lease of a name.
//   - node: one independent Redis or Valkey server.
//   - quorum: a majority of the configured nodes.
//   - vote: the yes of a node. A node that may have forgotten locks is quarantined: it does not vote.
//   - value: what the holder of a lock leaves for the next holders.
//   - slot: a place of a semaphore, from 0 to k-1. Two holders never have the same one.
//   - held: another owner has the lock.
//   - lost: this client had the lock, and has it no longer.
//   - released: this client gave the lock back.
//
// # Guarantees
//
// At most one lease of a name is valid at a time. This holds even if messages are lost, delayed or duplicated, and
// even if nodes restart or lose their memory.
//
// The guarantee has a condition for clocks. The clocks of a minority of the nodes may be wrong by any amount. All
// other clocks must differ by at most [Config.Window]. If there is only one node, its clock must not jump.
//
// Waiters are served in the order in which they came, over all processes. A release wakes the next waiter. There are
// two intended exceptions: the passes that [Config.Fair] describes, and readers that join the lease of another reader
// of their client, also from behind a writer.
//
// The lease's context ends before another client can get the lock: its Err compares the clock with the deadline. There
// is one exception: after an operator's release ([admin.Unlock]) it ends at the next renewal. Work that waits for Done,
// or that has a context made by context.WithCancel or context.WithTimeout, learns of a loss when Go runs a goroutine of
// the lease. This may be too late if the process computes on all its processors: see docs/guide/limits.md. If the whole
// process is paused, all work learns of a loss too late. Tokens grow from lease to lease. If a holder dies, the name
// stays taken for at most TTL + Window.
//
// If a minority of the nodes is slow, hung or dead, acquire and release take no longer. There are two exceptions, both
// with a hung node. The first lock of a client may take longer if the client just began, or was idle for a minute, or
// for MaxTTL if that is longer. The delay is two Windows or one [Config.NodeTimeout], whichever is shorter, and twice
// that if the nodes are far away. [Client.Close] waits for about one NodeTimeout, and so does each holdfast run at its
// end.
//
// An attempt that fails or is cancelled leaves no lock behind, even if its requests arrive late. Clients of other
// Redlock libraries can use the same name as their key: they and Holdfast exclude each other.
//
// A node that restarted without its data, was flushed, or evicted keys does not vote for MaxTTL + Window. After this
// time every lock that the node may have forgotten has ended. This quarantine also applies to a server that was never
// used before. If an operator knows that no lock is alive, [admin.Trust] or the command holdfast nodes trust shortens
// it.
//
// # Reentrancy
//
// A context carries the lease under which a function runs. If a function takes a lock with the context of a lease of
// that lock, it gets a handle of this lease, without a round trip. A handle has the same token and deadline. Each
// handle has its own Unlock; the last one releases the lock.
//
// A call without that context waits for its own process. When this wait fails, the error says that this client itself
// has the lock. See [Mutex.Lock] and [Reentrant].
//
// # Readers
//
// [Mutex.RLock] and [Mutex.RDo] take a lock shared: any number of readers have it together, and [Mutex.Lock] of the
// same name waits for them. The readers of one client share one lease. [Lease.Downgrade] makes an exclusive lease a
// shared one. A shared lease cannot become an exclusive one: see [ErrUpgrade].
//
// # Semaphores
//
// [Client.Semaphore] returns a name that up to k holders have at a time. Each holder has its own slot, from 0 to k-1,
// with a token, renewal and a deadline like a lock. A semaphore and a lock of one name do not exclude each other.
//
// # A value under the lock
//
// The holder of a lock can leave a value of up to 16 KiB for the next holder. [Lease.Store] writes the value, and
// [Lease.Load] reads it. A process that lost its lock cannot change the value. [Client.Value] shows the value to
// anybody. Package job runs jobs once per tick on a fleet: it stores the last tick of a job as such a value.
//
// # Elections
//
// Package election elects one leader among any number of candidates: the holder of a lock leads. It also shows the
// leader, and a value that the leader publishes, to all who want to know.
//
// # Operating
//
// [Client.Status] shows the holder of one lock, and [admin.List] lists all locks, their holders and waiters.
// Package admin also ends locks, and vouches for nodes.
//
// # Several locks
//
// [Client.LockAll] takes several locks or none. It takes them in the order of their names. Otherwise one caller could
// hold A and wait for B, while another caller holds B and waits for A. [Client.TryLockAll] does not wait, and
// [Client.DoAll] runs a function under all locks. The context of a [LeaseSet] ends with the first lock that is lost.
//
// # Limits
//
// No lock can stop a process that is paused past its deadline and then goes on writing. A garbage collector, a
// debugger or a suspended machine can pause a process for that long. Use [Lease.Fence] against this: send the token
// with each write, and let the resource refuse a token below the highest that it has seen.
//
// A replica is not a node. If a replica replaces its master, it may lack the last writes, and so it may lack locks. A
// node may be a master with replicas if its driver is told so; a failover then ends its locks, and costs a quarantine.
// Holdfast refuses every other failover that it can detect. A Redis Cluster is not one node: each of its shards is such a
// node, for the names of its hash slots. See [node.Cluster].
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
