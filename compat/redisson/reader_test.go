package redisson_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/compat/redisson"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

func mustRLock(t testing.TB, c *redisson.Client, name string) *redisson.Lease {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	l, err := c.Mutex(name).RLock(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// held fails the test unless somebody has the lock.
func held(t testing.TB, err error, mode string) {
	t.Helper()
	var held *redisson.HeldError
	if !errors.As(err, &held) || held.Mode != mode {
		t.Errorf("%v, want held in mode %q", err, mode)
	}
}

// RReadWriteLock looks only at the field mode. A lease keeps both of its sides out, and nothing of them touches the
// lease.
func TestALeaseKeepsJavasReadWriteLockOut(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, []string{s.URL()}, nil)
	j := javaRW{t, s, "orders", thread}
	l := mustLock(t, c, "orders")
	if r, w := j.read(time.Second), j.write(time.Second); r == nil || w == nil {
		t.Errorf("java's tryLock says %v as a reader, and %v as a writer; want the remaining ms", r, w)
	}
	if r, w := j.readUnlock(), j.writeUnlock(); r != nil || w != nil {
		t.Errorf("java's unlock says %v as a reader, and %v as a writer; want nil", r, w)
	}
	if got := j.force(javaReadForce); got != int64(0) {
		t.Errorf("java's forceUnlock as a reader says %v", got)
	}
	if got := hash(t, s, "orders"); len(got) != 2 || got[l.Owner()] != "1" || got["mode"] != "write" {
		t.Errorf("the hash is %v", got)
	}
	mustUnlock(t, l)
	if r := j.read(time.Second); r != nil {
		t.Errorf("java's tryLock as a reader says %v after Unlock", r)
	}
	held(t, tryErr(c.Mutex("orders").TryLock(t.Context())), "read")
	j.readUnlock()
	if w := j.write(time.Second); w != nil {
		t.Errorf("java's tryLock as a writer says %v after Unlock", w)
	}
	held(t, tryErr(c.Mutex("orders").TryLock(t.Context())), "write")
	held(t, tryErr(c.Mutex("orders").TryRLock(t.Context())), "write")
	j.writeUnlock()
	empty(t, s)
}

func tryErr(_ *redisson.Lease, err error) error { return err }

// A reader is stored as a reader of Java, with a key for each count, and shares the lock with readers only.
func TestAReaderHasTheLayoutOfReadWriteLock(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, []string{s.URL()}, nil)
	l := mustRLock(t, c, "orders")
	inner, err := c.Mutex("orders").RLock(l.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := hash(t, s, "orders"); len(got) != 2 || got["mode"] != "read" || got[l.Owner()] != "2" || !inner.Shared() || l.Fence() != 0 {
		t.Errorf("the hash is %v", got)
	}
	first := "{orders}:" + l.Owner() + ":rwlock_timeout:"
	for _, key := range []string{"orders", first + "1", first + "2"} {
		if left := s.MustDo(t, "PTTL", key).(int64); left < 20_000 || left > 30_000 {
			t.Errorf("%s expires in %d ms, want 30 s", key, left)
		}
	}
	mustUnlock(t, inner)
	if s.MustDo(t, "EXISTS", first+"1") != int64(1) || s.MustDo(t, "EXISTS", first+"2") != int64(0) {
		t.Error("after the inner Unlock the first key is left, and no other")
	}
	if err := tryErr(c.Mutex("orders").TryLock(l.Context())); !errors.Is(err, holdfast.ErrUpgrade) {
		t.Errorf("a reader becomes a writer: %v", err)
	}
	held(t, tryErr(c.Mutex("orders").TryLock(t.Context())), "read")
	if w := (javaRW{t, s, "orders", thread}).write(time.Second); w == nil {
		t.Error("a writer of Java came beside a reader")
	}
	if _, is := (java{t: t, server: s, name: "orders"}).lock(time.Second).(int64); !is {
		t.Error("an RLock of Java came beside a reader")
	}
	mustUnlock(t, l)
	empty(t, s)
}

// Readers of Go and Java share the lock. Whoever leaves takes nothing from the others, and the last one frees the lock.
func TestReadersOfGoAndJavaShareTheLock(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, []string{s.URL()}, nil)
	j := javaRW{t, s, "orders", thread}
	for _, javaFirst := range []bool{true, false} {
		if javaFirst && j.read(time.Minute) != nil {
			t.Fatal("java is refused")
		}
		l := mustRLock(t, c, "orders")
		if !javaFirst && j.read(time.Minute) != nil {
			t.Fatal("java is refused beside a reader")
		}
		if j.readUnlock() != int64(0) {
			t.Error("java's unlock freed the lock of our reader")
		}
		if got := hash(t, s, "orders"); len(got) != 2 || got[l.Owner()] != "1" {
			t.Errorf("after java's unlock the hash is %v", got)
		}
		if left := s.MustDo(t, "PTTL", "orders").(int64); left > 30_000 || left < 20_000 {
			t.Errorf("after java's unlock the lock expires in %d ms, want our 30 s", left)
		}
		if err := l.Extend(t.Context(), time.Second); err != nil {
			t.Error(err)
		}
		if j.read(time.Minute) != nil {
			t.Fatal("java is refused beside a reader")
		}
		mustUnlock(t, l)
		if got := hash(t, s, "orders"); len(got) != 2 || got[thread] != "1" {
			t.Errorf("after our unlock the hash is %v", got)
		}
		if j.readUnlock() != int64(1) {
			t.Error("java's last unlock did not free the lock")
		}
	}
	empty(t, s)
}

// The lock lasts as long as the reader with the most time left. A reader that died is no reader.
func TestADeadReaderOfJavaIsNoHolder(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, []string{s.URL()}, nil)
	dead, alive := javaRW{t, s, "orders", "dead:1"}, javaRW{t, s, "orders", "alive:1"}
	l := mustRLock(t, c, "orders")
	dead.read(time.Millisecond)
	alive.read(10 * time.Second)
	redistest.Eventually(t, within, "the reader is dead", func() bool { return s.MustDo(t, "EXISTS", dead.timeout()+":1") == int64(0) })
	mustUnlock(t, l)
	if left := s.MustDo(t, "PTTL", "orders").(int64); left <= 0 || left > 10_000 {
		t.Errorf("with a reader of 10 s the lock expires in %d ms", left)
	}
	l = mustRLock(t, c, "orders")
	alive.readUnlock()
	mustUnlock(t, l) // only the dead one is left
	empty(t, s)
}

// Any program may write a hash with many readers, or with readers that have high counts. A release does not stop the
// server for a question about each of them: it then leaves the time of the lock as it is.
func TestAReleaseAsksForALimitedNumberOfReaders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ readers, count int }{{100, 1_000_000}, {12_000, 1}} {
		s := redistest.Start(t)
		l := mustRLock(t, open(t, []string{s.URL()}, nil), "orders")
		hash := []any{"HSET", "orders"}
		for i := range c.readers {
			hash = append(hash, fmt.Sprint("reader:", i), c.count)
		}
		s.MustDo(t, hash...)
		s.MustDo(t, "CONFIG", "RESETSTAT")
		mustUnlock(t, l)
		asked := 0
		for line := range strings.Lines(s.MustDo(t, "INFO", "commandstats").(string)) {
			_, _ = fmt.Sscanf(line, "cmdstat_pttl:calls=%d,", &asked)
		}
		left := s.MustDo(t, "PTTL", "orders").(int64)
		if asked > 10_000 || left <= 0 || left > 30_000 {
			t.Errorf("%d readers with the count %d: the release asked %d times, and the lock expires in %d ms", c.readers, c.count, asked, left)
		}
	}
}

// A hash that has only a mode belongs to nobody.
func TestAModeWithoutHolderBlocksNobody(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, []string{s.URL()}, nil)
	for _, take := range []func(context.Context) (*redisson.Lease, error){c.Mutex("orders").TryLock, c.Mutex("orders").TryRLock} {
		s.MustDo(t, "HSET", "orders", "mode", "read")
		s.MustDo(t, "PEXPIRE", "orders", 3_600_000)
		l, err := take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if left := s.MustDo(t, "PTTL", "orders").(int64); left > 30_000 {
			t.Errorf("the lock has the time of the hash before it: %d ms", left)
		}
		mustUnlock(t, l)
	}
	empty(t, s)
}

// An earlier version of this package writes no mode. It and this version exclude each other, and its release leaves no
// hash. Beside its lease RReadWriteLock comes in, as before.
func TestALeaseWithoutModeIsRespected(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, []string{s.URL()}, nil)
	s.MustDo(t, "HSET", "orders", thread, 1)
	s.MustDo(t, "PEXPIRE", "orders", 60_000)
	held(t, tryErr(c.Mutex("orders").TryLock(t.Context())), "")
	held(t, tryErr(c.Mutex("orders").TryRLock(t.Context())), "")
	j := javaRW{t, s, "orders", "other:1"}
	j.write(time.Minute)
	j.writeUnlock() // leaves the mode, because there is a field
	s.MustDo(t, "HDEL", "orders", thread)
	mustUnlock(t, mustLock(t, c, "orders"))
	empty(t, s)
}

// A forced unlock of a reader is a loss, as for a writer.
func TestAForcedUnlockOfReadersIsALoss(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, []string{s.URL()}, nil)
	l := mustRLock(t, c, "orders")
	if got := (javaRW{t, s, "orders", thread}).force(javaWriteForce); got != int64(0) {
		t.Errorf("java's forceUnlock of a writer says %v beside a reader", got)
	}
	(javaRW{t, s, "orders", thread}).force(javaReadForce)
	if err := l.Extend(t.Context(), time.Minute); !errors.Is(err, holdfast.ErrLost) {
		t.Errorf("Extend: %v", err)
	}
	redistest.Eventually(t, within, "the reader's keys are gone", func() bool { return len(s.MustDo(t, "KEYS", "*").([]any)) == 0 })
}

// RReadWriteLock sends its messages on a channel of its own, which wakes readers and writers here. The poll is an hour.
func TestJavasReadWriteUnlockWakesUs(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, []string{s.URL()}, noPoll)
	j := javaRW{t, s, "orders", thread}
	for name, java := range map[string]struct{ lock, unlock func() any }{
		"read":  {func() any { return j.read(time.Hour) }, j.readUnlock},
		"write": {func() any { return j.write(time.Hour) }, j.writeUnlock},
	} {
		if java.lock() != nil {
			t.Fatal("java is refused")
		}
		got := make(chan *redisson.Lease)
		go func() { got <- mustLock(t, c, "orders") }()
		redistest.Eventually(t, within, "a subscription", func() bool {
			return s.MustDo(t, "PUBSUB", "NUMSUB", "redisson_rwlock:{orders}").([]any)[1].(int64) > 0
		})
		settled(t, s)
		java.unlock()
		t.Log(name)
		mustUnlock(t, take(t, got))
	}
	empty(t, s)
}

// A release tells the waiters of all kinds: RLock, RReadWriteLock, and the first waiter in the queue of RFairLock,
// whose channel has its field. A waiter whose time is over may still be alive, so it is told, too.
func TestUnlockTellsTheWaitersOfAllKinds(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, []string{s.URL()}, nil)
	n := goredis(t, s)[0]
	defer n.Close()
	messages := make(chan string, 20)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	listen := func(channel string) {
		ready := make(chan struct{})
		go func() {
			_ = n.Listen(ctx, channel, func(m string) {
				if m == "" {
					close(ready)
				} else {
					messages <- channel + " " + m
				}
			})
		}()
		<-ready
	}
	for _, channel := range []string{
		"redisson_lock__channel:{orders}", "redisson_rwlock:{orders}",
		"redisson_lock__channel:{orders}:a:1", "redisson_lock__channel:{orders}:b:1", "redisson_lock__channel:{orders}:c:1",
	} {
		listen(channel)
	}
	s.MustDo(t, "RPUSH", "redisson_lock_queue:{orders}", "a:1", "b:1", "c:1")
	now := time.Now().UnixMilli()
	s.MustDo(t, "ZADD", "redisson_lock_timeout:{orders}", now-1000, "a:1", now+300_000, "b:1", now+600_000, "c:1")
	for want, lock := range map[string]func(testing.TB, *redisson.Client, string) *redisson.Lease{"1": mustLock, "0": mustRLock} {
		mustUnlock(t, lock(t, c, "orders"))
		got := map[string]bool{}
		for range 4 {
			select {
			case m := <-messages:
				got[m] = true
			case <-time.After(within):
				t.Fatalf("only these messages: %v", got)
			}
		}
		for _, m := range []string{
			"redisson_lock__channel:{orders} 0", "redisson_rwlock:{orders} " + want,
			"redisson_lock__channel:{orders}:a:1 0", "redisson_lock__channel:{orders}:b:1 0",
		} {
			if !got[m] {
				t.Errorf("no message %q: %v", m, got)
			}
		}
	}
	if len(messages) > 0 {
		t.Errorf("a message more: %s", <-messages)
	}
}

// With three nodes a majority decides, also about readers. Several readers are one holder for a writer, and not a split
// vote.
func TestReadersOnThreeNodes(t *testing.T) {
	t.Parallel()
	servers := redistest.StartN(t, 3)
	a, b := open(t, urls(servers), nil), open(t, urls(servers), nil)
	java := javaRW{t, servers[0], "orders", thread}
	java.read(time.Minute) // a minority
	l, m := mustRLock(t, a, "orders"), mustRLock(t, b, "orders")
	err := tryErr(a.Mutex("orders").TryLock(t.Context()))
	held(t, err, "read")
	if strings.Contains(err.Error(), "nobody has a majority") {
		t.Errorf("a writer beside readers: %v", err)
	}
	mustUnlock(t, l)
	java.readUnlock()
	held(t, tryErr(a.Mutex("orders").TryLock(t.Context())), "read")
	got := make(chan *redisson.Lease)
	go func() { got <- mustLock(t, a, "orders") }()
	mustUnlock(t, m)
	mustUnlock(t, take(t, got))
	for _, s := range servers {
		empty(t, s)
	}
}
