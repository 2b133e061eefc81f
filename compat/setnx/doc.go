// Package setnx takes the old locks by SETNX and GETSET, whose value is the Unix time at which the lock ends. Redis's
// documents of SETNX described this pattern before SET had NX and PX. Use this package in a Go service while other
// clients of a name still use the pattern. If all clients are yours, use package holdfast: it promises more.
//
//	nodes, err := rueidisnode.Open("redis://10.0.0.1") // the server of the old clients
//	if err != nil {
//		return err
//	}
//	client, err := setnx.New(setnx.Config{Node: nodes[0]})
//	if err != nil {
//		return err
//	}
//	defer client.Close()
//
//	err = client.Mutex("lock.orders").Do(ctx, func(ctx context.Context) error {
//		return work(ctx) // stops when ctx ends: then the lock is not ours any more
//	})
//
// # The pattern
//
//  1. SETNX key, now + timeout + 1. If it sets the key, the client has the lock.
//  2. Otherwise GET. If the time has not passed, somebody holds the lock: try again later.
//  3. If it has passed, the holder crashed: GETSET key, now + timeout + 1. If the old value is a time that has passed, the
//     client has the lock. Otherwise another client was faster. The GETSET has then changed the winner's value. It moves
//     the winner's end a little, and the pattern accepts that.
//  4. The release is DEL, but only if the holder's own time has not passed.
//
// # What this package does
//
//   - One script does the steps 1 to 3, so this client never overwrites a value whose time has not passed.
//   - The script reads the server's clock. So the clock of this host does not matter. The clocks of old clients do: see
//     [Config.Skew].
//   - Units: seconds, seconds with a fraction, and milliseconds are read. The client writes [Config.Unit].
//   - A key of another kind, or with a value that is no such time, is never changed ([ErrForeign]). A number that would
//     be a time before 2001 does not count as a time: a fleet that uses SETNX key 1 has other rules.
//   - Renewal: a script writes a later time after each third of the TTL, if the value is still this lease's.
//   - Loss: the deadline is the time before the request was sent, plus TTL, minus Skew, a hundredth of TTL and 2 ms. The
//     lease's context ends at the deadline, with the cause [holdfast.ErrLost].
//   - Changed values: in the first second of a lease another client may have lost the race of step 3. The lease accepts
//     the changed value in its first renewal, which comes after that second, and writes its own value again. A release
//     accepts it, too. After the first renewal a changed value means that somebody else has the lock: the lease is lost,
//     and its release changes nothing.
//   - Lost answers: the client chooses the value of a renewal, so it knows this value also if no answer comes. If the
//     answer to a release is lost, the next holder may have written an equal value. A repeated release then deletes the
//     value only after its time.
//   - Waiting: the goroutines of one client wait in one line per name, and the first one polls: see [Config.Poll].
//
// # What it cannot promise
//
//   - Clocks decide. A client whose clock is ahead by more than its holder's remaining time takes a held lock. One whose
//     clock is late by more than Skew believes that it still holds a lock that this package has taken.
//   - The race of step 3 changes the holder's value. A loser with a shorter timeout makes the holder's time shorter, and
//     this lease notices that at its first renewal, a second after the grant. A third client may take the lock before.
//   - In a lease's first second, a new holder after a forced DEL looks like a loser of the race. The lease and the
//     new holder then both believe that they hold the lock, until one of them releases it. In seconds, two clients may even
//     write equal values.
//   - An old client compares no value before its DEL. If it pauses between its check and its DEL, it frees the lock of the
//     next holder. This lease ends at its next renewal, which is too late.
//   - There is one server: no quorum, and no quarantine. A server that lost its memory grants at once.
//   - There are no fencing tokens, so a resource cannot refuse a late write.
//   - There is no order of service. Waiters poll.
//   - An acquire whose answer was lost may have taken the lock. Nobody has it then, and it ends with its TTL.
//
// # How to leave it
//
// Take both locks at first: this one, then the one of package holdfast under another name. When every client of a name
// does so, remove this one from one service after the other. docs/guide/coexistence.md has the steps.
//
// # Rights
//
// An ACL user needs the keys, and +evalsha +eval +time +type +pttl +getrange +setnx +getset +set +del, and
// what the driver needs to connect, with +info: see package redisson.
package setnx
