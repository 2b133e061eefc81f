// Package redisson takes the locks of Redisson, the Java client. A Go service and a Java fleet that use one name exclude
// each other and wake each other.
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
//	// In Java: redissonClient.getLock("orders").lock()
//	err = client.Mutex("orders").Do(ctx, func(ctx context.Context) error {
//		return work(ctx) // stops when ctx ends: then the lock is not ours any more
//	})
//
// Use this package if Redisson's clients lock the same names. If all clients are yours, use package holdfast: it promises
// more. The two do not share names: see [ErrWrongKind].
//
// # Layout
//
// The layout was read in the sources of Redisson 4.7.0 (RedissonLock, RedissonBaseLock, RedissonFencedLock,
// RedissonRedLock, LockPubSub, LockTask), and is tested against that version (make interop).
//
//	NAME                                   hash: field "client id:thread id", value the reentrant count; with PX
//	redisson_lock__channel:{NAME}          channel: an unlock sends the message 0
//	redisson_unlock_latch:{NAME}:REQUEST   the latch of one request, see below
//	redisson_lock_token:{NAME}             the number of RFencedLock
//
// A name that contains "{" is not put into braces. NAME is the name after [Config.MapName]. The client id is a random
// UUID per [Client]. The thread id is a number per attempt. So two goroutines exclude each other, as two threads of Java
// do, and a late release of one attempt cannot free another one.
//
// RLock, RFencedLock and RSpinLock have this layout. RFairLock and RReadWriteLock use the same key: they exclude this
// package and are excluded by it. RFairLock's and RReadWriteLock's unlock, and RSpinLock's, send no message that wakes a
// waiter of this package, so it finds the free lock at its next try: see [Config.Poll]. RFairLock's queue has no place
// for this package.
//
// # What it does
//
//   - Waiting: the goroutines of one client wait in one line per name. The first one subscribes to the channel and
//     tries again after each message, when the holder's time ends, and after [Config.Poll].
//   - Renewal: each third of the TTL, as Redisson's watchdog. A renewal never shortens the key's time. Java's waiters
//     sleep until the time that they read, so they try now and then beside a long lease.
//   - Loss: the deadline is the time before the request was sent, plus TTL, minus a hundredth of it and 2 ms. The
//     lease's context ends at the deadline, before the key expires, with the cause [holdfast.ErrLost].
//   - Reentrancy: through the context, as in package holdfast. Each handle raises the count on the server. The count
//     is written, not incremented: so a request that comes twice does no harm.
//   - Tokens: where the number of RFencedLock exists, each acquisition draws one ([Lease.Fence]).
//   - The latch: Redisson stores an unlock's answer there, so that a repeated request gets the same answer, and deletes
//     it afterwards. The unlock of this package may be repeated without that, because no field is used twice. It writes a
//     latch only if an acquire may still be on its way. The acquire then finds the latch and locks nothing. The latch
//     ends after the TTL.
//
// # Several nodes
//
// With several nodes the layout of each node is the same, and a majority decides, as with RedissonRedLock. The deadline
// follows the rule above, for the answers of a majority. A waiter tries again after messages of a majority.
//
// # What it cannot promise
//
// The Java side takes part in no protocol of Holdfast, so these promises of package holdfast do not hold here:
//
//   - No quarantine. A server that lost its memory grants at once, to both sides. Two holders are then possible.
//   - No order of service. Whoever asks first gets a free lock.
//   - No fencing token from several nodes. Each node has its own number. The token of a single node is lost with its
//     memory, and grows only if every client draws one.
//   - A forced unlock is found at the next renewal, up to a third of the TTL later. The next holder may have begun.
//   - No repair. A node that lost the lock does not get it back before the next acquisition. A repair would undo a
//     forced unlock.
//   - Redisson's own holders do not learn of a loss: their watchdog stops without a word. RedissonRedLock keeps no
//     deadline of a majority.
//   - A server's clock that leaps ahead ends locks early.
//
// # Why Lease is a type of its own
//
// It has the methods of [holdfast.Lease] that make sense here, with the same meaning and the same errors. It is not that
// type: a holdfast.Lease is a record with a stamp on each node, and its renewal, repair and token work on that. A
// constructor for other packages would have to open the engine, and Downgrade, Store and UnlockAt would exist and always
// fail. Code that accepts both takes an interface:
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
// An ACL user needs the keys and the channel above, and +evalsha +eval +script|load +exists +type +hset +hget +hexists
// +hdel +hlen +hgetall +pexpire +pttl +incr +getrange +set +publish +subscribe (with Sharded: +spublish +ssubscribe),
// and what the driver needs to connect.
package redisson
