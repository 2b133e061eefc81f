// Package redisson takes the locks of Redisson, the Java client, exclusively or as a reader. A Go service and a Java
// fleet that lock the same name exclude each other, and each side wakes the waiters of the other.
//
//	nodes, err := rueidisnode.Open("redis://10.0.0.1") // the server of the Java side
//	if err != nil {
//		return err
//	}
//	client, err := redisson.New(redisson.Config{Nodes: nodes})
//	if err != nil {
//		return err
//	}
//	defer client.Close()
//
//	// In Java: redissonClient.getLock("orders").lock(). RDo is getReadWriteLock("orders").readLock().
//	err = client.Mutex("orders").Do(ctx, func(ctx context.Context) error {
//		return work(ctx) // stops when ctx ends: then the lock is not ours any more
//	})
//
// Use this package if clients of Redisson lock the same names. If all clients use Holdfast, use package holdfast,
// which guarantees more. Do not use both packages for one name: see [ErrWrongKind].
//
// # Layout
//
// The layout comes from the sources of Redisson 4.7.0 (RedissonLock, RedissonBaseLock, RedissonFencedLock,
// RedissonReadLock, RedissonWriteLock, RedissonFairLock, RedissonRedLock, LockPubSub, LockTask, ReadLockTask). It is
// tested against that version and 3.52.0 (make interop).
//
//	NAME                                   hash: field "client id:thread id", value the reentrant count, and the field
//	                                       mode, read or write; with PX
//	{NAME}:FIELD:rwlock_timeout:1          one key for each count of a reader; with PX
//	redisson_lock__channel:{NAME}          channel: an unlock sends the message 0
//	redisson_rwlock:{NAME}                 channel of RReadWriteLock: an unlock of a reader sends 0, and any other 1
//	redisson_lock_queue:{NAME}             the waiters of RFairLock; redisson_lock_timeout:{NAME} has their times
//	redisson_lock__channel:{NAME}:FIELD    channel of the first waiter of RFairLock: an unlock sends 0
//	redisson_unlock_latch:{NAME}:REQUEST   the latch of one request, see below
//	redisson_lock_token:{NAME}             the number of RFencedLock
//
// If a name contains "{", no braces are put around it. NAME is the name after [Config.MapName]. The client id is a
// random UUID of each [Client]. The thread id is a number of each attempt. So two goroutines exclude each other, as
// two threads of Java do, and a late release of one attempt cannot release another one.
//
// All locks of Java on this key and this package exclude each other: RLock, RFencedLock, RSpinLock, RFairLock, and
// both sides of RReadWriteLock. In Java, only RReadWriteLock writes the field mode, and its scripts look at nothing
// else. So beside an RLock of Java they take the lock, and two holders have it: do not use both kinds for one name.
// This package always writes the field. Its own unlock wakes the waiters of all kinds. The unlock of RFairLock and
// RSpinLock sends no message that wakes a waiter of this package, which then finds the free lock at its next try: see
// [Config.Poll]. This package does not take a place in the queue of RFairLock.
//
// Earlier versions of this package did not write the field mode. This version and those exclude each other. But
// beside a lease of theirs RReadWriteLock takes the lock, until the last of them is replaced.
//
// # What it does
//
//   - Waiting: the goroutines of one client that wait for a name form a line. The first one subscribes to the channel. It
//     tries again after each message, at the end of the holder's time, and after [Config.Poll].
//   - Renewal: after each third of the TTL, as Redisson's watchdog does. A renewal never shortens the expiry of the key.
//     A waiter of Java sleeps until the expiry that it read, so it asks from time to time while a lease is long.
//   - Loss: the deadline is the time just before the request was sent, plus TTL, minus a hundredth of TTL and 2 ms. The
//     lease's context ends at the deadline, before the key expires, with the cause [holdfast.ErrLost].
//   - Reentrancy: through the context, as in package holdfast. Each handle raises the count on the server. The client
//     writes the new count and does not increment the old one. So a request that arrives twice does no harm.
//   - Tokens: if the counter of RFencedLock exists, each acquisition takes a token from it: see [Lease.Fence].
//   - The latch: Redisson stores the answer of an unlock there, so that a repeated unlock gets the same answer, and then
//     deletes it. This package does not need that: no two attempts use the same field, so an unlock can be repeated. It
//     uses the latch for another purpose, if an acquire may still be on its way when its lock is released. The acquire
//     then finds the latch and locks nothing. The latch ends after the TTL.
//
// # Several nodes
//
// With several nodes, each node has the layout above, and a majority decides, as with RedissonRedLock. The deadline
// counts from the request that a majority granted. A waiter tries again when a majority of the nodes has sent
// messages.
//
// # Readers
//
// [Mutex.RLock] is the read lock of RReadWriteLock. The key lasts as long as the reader with the most time left: each
// reader has keys of its own for that, and whoever unlocks looks at them. The watchdog of Java does not: at each
// renewal it sets the time of the whole key to its lockWatchdogTimeout, also if another reader has more time left. If
// its process then dies, the key ends too early, and a writer may come beside a reader that still trusts its lease.
// So the TTL of readers must be at most the lockWatchdogTimeout of the Java side. Both are 30 s by default.
//
// # What it cannot promise
//
// The Java side does not know the protocol of Holdfast. So these guarantees of package holdfast do not exist here:
//
//   - No quarantine. A server that lost its memory grants a lock at once, to both sides. Two holders are then possible.
//   - No order of waiters. A free lock goes to the client that asks first.
//   - No fencing token with several nodes, because each node has its own counter. A single node loses its counter with
//     its memory. Its tokens grow only if every client takes one.
//   - A forced unlock is noticed only at the next renewal, up to a third of the TTL later. The next holder may have begun
//     by then.
//   - No repair. A node that lost the lock gets it back only with the next acquisition. A repair would undo a forced
//     unlock.
//   - Redisson's own holders do not learn of a loss: their watchdog stops without any report. RedissonRedLock has no
//     deadline for a majority.
//   - If a server's clock jumps ahead, locks end too early.
//
// # Why Lease is a type of its own
//
// Lease has the methods of [holdfast.Lease] that make sense here, with the same meaning and the same errors. It is
// another type for two reasons. A holdfast.Lease needs the records and stamps that package holdfast stores on the
// nodes. And its methods Downgrade, Store and UnlockAt would always fail here. Code that accepts both types can use
// an interface:
//
//	interface {
//		Name() string
//		Owner() string
//		Fence() int64
//		Context() context.Context
//		Deadline() time.Time
//		Extend(ctx context.Context, ttl time.Duration) error
//		Unlock(ctx context.Context) error
//	}
//
// # Rights
//
// An ACL user needs the keys and the channels above, and these commands: +evalsha +eval +exists +type +del +hset
// +hget +hexists +hdel +hlen +hgetall +pexpire +pttl +incr +getrange +set +lrange +zscore +publish +subscribe (with
// Sharded: +spublish +ssubscribe). It also needs the commands with which the driver connects. One of
// them is +info: without it, the driver cannot notice that an address leads to another server.
package redisson
