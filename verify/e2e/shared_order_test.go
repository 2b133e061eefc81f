package e2e

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// A writer gets its turn although readers of several clients overlap all the time. Readers get their turns although
// writers wait all the time.
func TestNobodyStarves(t *testing.T) {
	t.Parallel()
	turns := inShort(20, 10)
	for _, many := range []string{"readers", "writers"} {
		t.Run("among "+many, func(t *testing.T) {
			t.Parallel()
			s := newSet(t, 3)
			var clients []*holdfast.Client
			for range 3 {
				clients = append(clients, s.ready(s.client(patient)))
			}
			crowd, few := (*holdfast.Mutex).RLock, (*holdfast.Mutex).Lock
			if many == "writers" {
				crowd, few = few, crowd
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var wait sync.WaitGroup
			var busy atomic.Int64
			for _, c := range clients {
				for range 4 {
					wait.Go(func() {
						for ctx.Err() == nil {
							l, err := crowd(c.Mutex("x"), ctx)
							if err != nil {
								break
							}
							busy.Add(1)
							<-time.After(5 * time.Millisecond)
							unlock(t, l)
						}
					})
				}
			}
			redistest.Eventually(t, 20*time.Second, "the crowd to work", func() bool { return busy.Load() > 20 })
			for i, c := range clients[:2] {
				for range turns {
					within, stop := context.WithTimeout(ctx, 10*time.Second)
					l, err := few(c.Mutex("x"), within)
					stop()
					if err != nil {
						t.Errorf("client %d starves among %s: %v", i, many, err)
						break
					}
					unlock(t, l)
				}
			}
			cancel()
			wait.Wait()
		})
	}
}

// A batch of readers of many clients comes in together, also beyond the number of claims that a node gives at once. A
// writer between two batches has its turn between them.
func TestABatchOfReadersComesInTogether(t *testing.T) {
	t.Parallel()
	const batch = 20
	s := newSet(t, 3)
	holder := lock(t, s.ready(s.client(patient)), "x")
	var clients []*holdfast.Client
	for range batch + 2 {
		clients = append(clients, s.ready(s.client(patient)))
	}
	var first []chan *holdfast.Lease
	for _, c := range clients[:batch] {
		first = append(first, eventually(t, c.Mutex("x").RLock))
	}
	s.inLine("x", batch)
	<-time.After(4 * late)
	writer := eventually(t, clients[batch].Mutex("x").Lock)
	s.inLine("x", batch+1)
	<-time.After(4 * late)
	last := eventually(t, clients[batch+1].Mutex("x").RLock)
	s.inLine("x", batch+2)
	unlock(t, holder)
	var together []*holdfast.Lease
	for i, got := range first {
		together = append(together, comes(t, got, fmt.Sprint("reader ", i)))
	}
	for _, l := range together {
		if l.Context().Err() != nil {
			t.Errorf("%v is over", l)
		}
	}
	if len(writer)+len(last) > 0 {
		t.Error("somebody came in beside the batch and before the writer")
	}
	unlock(t, together...)
	w := comes(t, writer, "the writer")
	if len(last) > 0 {
		t.Error("a reader beside the writer before it")
	}
	unlock(t, w)
	unlock(t, comes(t, last, "the last reader"))
}

// A writer that is killed while it waits does not keep readers out, although others read all the time.
func TestAWriterThatDiedInTheQueueKeepsNoReaderOut(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	reads, comesLater := s.ready(s.client(patient)), s.ready(s.client(patient))
	r := readLock(t, reads, "x")
	dead := s.waiter()
	dead.until(60*time.Second, "ready")
	dead.tell()
	s.inLine("x", 1)
	dead.Kill()
	// The nodes see that nobody listens to the writer's channel, so they skip the writer. No lease ends in this time.
	l := comes(t, eventually(t, comesLater.Mutex("x").RLock), "a reader behind a dead writer")
	if r.Context().Err() != nil {
		t.Error("the first reader is gone")
	}
	unlock(t, l, r)
}

// An Unlock passes the lock from a writer to all readers of its client that wait. That costs one round trip.
func TestAWriterPassesTheLockToReaders(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1)
	c := s.ready(s.client(patient))
	w := lock(t, c, "x")
	var readers []chan *holdfast.Lease
	for range 8 {
		readers = append(readers, eventually(t, c.Mutex("x").RLock))
	}
	<-time.After(100 * time.Millisecond) // they come to the line, and the first one asks or waits for the pass
	before := s.calls()[0]
	unlock(t, w)
	var all []*holdfast.Lease
	for i, got := range readers {
		all = append(all, comes(t, got, fmt.Sprint("reader ", i)))
	}
	if n := s.calls()[0] - before; n > 3 {
		t.Errorf("a pass to %d readers cost %d calls", len(all), n)
	}
	for _, l := range all {
		if l.Owner() != all[0].Owner() || l.Fence() <= w.Fence() {
			t.Errorf("%v after %v, and beside %v", l, w, all[0])
		}
	}
	writer := eventually(t, c.Mutex("x").Lock)
	unlock(t, all...)
	unlock(t, comes(t, writer, "the next writer"))
}

// forgetsLease removes a lease from a node, as if its request had not come. It leaves the highest token and the end of
// the last lease in the record. A reader's release may overtake the reader's request, and only that token refuses the
// request: if DEL removed the token as well, the reader's share would stay, and would keep the writer off the node.
const forgetsLease = `
local record = redis.call('GET', KEYS[1])
redis.call('SET', KEYS[1], string.sub(record, 1, 16) .. string.rep('0', 33) .. string.sub(record, 50, 65), 'KEEPTTL')
return redis.call('DEL', unpack(KEYS, 2))`

// A writer's lease comes back to a node that lost it, although readers of several clients try there all the time, each
// time with a new attempt.
func TestAWritersLeaseComesBackAmongReadersThatTry(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	c := s.ready(s.client(patient))
	l := lock(t, c, "x", holdfast.WithTTL(2*time.Second))
	ctx, cancel := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	defer wait.Wait()
	defer cancel()
	var tries atomic.Int64
	for i := range 4 {
		other := s.ready(s.client(patient))
		for range 3 {
			wait.Go(func() {
				for ctx.Err() == nil {
					if i%2 == 0 {
						_, _ = other.Mutex("x").TryRLock(ctx)
					} else {
						short, stop := context.WithTimeout(ctx, 30*time.Millisecond)
						_, _ = other.Mutex("x").RLock(short)
						stop()
					}
					tries.Add(1)
					time.Sleep(10 * time.Millisecond) // so that 12 goroutines do not keep a machine busy
				}
			})
		}
	}
	for range 3 {
		redistest.Eventually(t, 20*time.Second, "the lease on all nodes", func() bool {
			r, ok := s.record(2, "x")
			if l.Context().Err() != nil {
				t.Fatalf("after %d tries of readers the lease ended: %v; node 2 has %+v", tries.Load(), context.Cause(l.Context()), r)
			}
			return ok && r.Owner == l.Owner() && r.Token == l.Fence()
		})
		was := tries.Load()
		key := nodescript.RecordKey("x")
		s.servers[2].MustDo(t, "EVAL", forgetsLease, 4, key, nodescript.QueueKey(key), nodescript.ReadersKey(key), "x")
		redistest.Eventually(t, 20*time.Second, "readers to try again", func() bool { return tries.Load() > was+50 })
	}
	redistest.Eventually(t, 20*time.Second, "the lease on all nodes", func() bool {
		r, ok := s.record(2, "x")
		return ok && r.Owner == l.Owner() && r.Token == l.Fence()
	})
	if l.Context().Err() != nil {
		t.Errorf("the lease ended: %v", context.Cause(l.Context()))
	}
	cancel()
	wait.Wait()
	unlock(t, l)
}
