package interop

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// These tests show broken promises of other shared locks and semaphores, and run Holdfast under the same work. They
// state facts of docs/guide/comparison.md. A test that fails after an update of a library means: the page has to
// change.

var redissonShared = []string{"java", "-XX:+UseSerialGC", "-Xmx128m", "-XX:TieredStopAtLevel=1", "-cp", "redisson/target/classes:redisson/target/lib/*", "Shared"}

// peers of shared locks.
func rival(name string) library {
	l := library{name: name, nodes: 1, command: redissonShared}
	if name == "redis-semaphore" {
		l.nodes, l.command = 3, []string{"node", "node/semaphore.js"}
	}
	return l
}

// semaphores starts n servers. It returns the library for the workers: Holdfast if ours is true, else the rival.
func semaphores(t *testing.T, kind string, ours bool, n int) ([]*redistest.Server, library) {
	t.Helper()
	servers, lib := redistest.StartN(t, n), rival(kind)
	if ours {
		lib.command = nil
		_ = voting(t, servers)
	}
	return servers, lib
}

// crowdOf returns n workers that hold the lock for between least and most.
func crowdOf(n int, lib library, shared bool, least, most time.Duration) (list []shiftWorker) {
	hold := func() time.Duration { return least + rand.N(most-least+1) }
	for range n {
		list = append(list, shiftWorker{lib: lib, shared: shared, hold: hold})
	}
	return list
}

// both runs the test for a library and for Holdfast. kind is the name of the peer, or its begin.
func both(t *testing.T, them, us string, test func(t *testing.T, kind string, ours bool)) {
	if strings.HasPrefix(them, "redisson") {
		if err := build(); err != nil {
			t.Fatal(err)
		}
	}
	t.Run(strings.TrimSuffix(them, "-"), func(t *testing.T) { test(t, them, false) })
	t.Run("holdfast", func(t *testing.T) { test(t, us, true) })
}

// Readers that come again and again shut out a writer of Redisson's RReadWriteLock: a reader never waits behind a
// writer.
func TestLoopingReadersShutOutAWriterOfRedisson(t *testing.T) {
	const d = 20 * time.Second
	both(t, "redisson-", "", func(t *testing.T, kind string, ours bool) {
		servers := redistest.StartN(t, 1)
		read, write := library{name: kind + "read", command: redissonShared}, library{name: kind + "write", command: redissonShared}
		if ours {
			read.command, write.command = nil, nil
			_ = voting(t, servers)
		}
		s := run(t, servers, ttl, d, append(crowdOf(4, read, true, 20*time.Millisecond, 60*time.Millisecond),
			crowdOf(1, write, false, 5*time.Millisecond, 10*time.Millisecond)...), nil)
		writer, readers := len(s.waits[false]), len(s.waits[true])
		t.Logf("in %v the writer got %d locks, and waited up to %v; 4 readers got %d locks, and waited up to %v; %d beside a writer; errors %v",
			d, writer, s.longest(false), readers, s.longest(true), s.beside(), s.failed)
		if readers < 100 || s.beside() > 0 {
			t.Error("the readers did not work, or not alone")
		}
		if shut := s.longest(false) > d/2; shut == ours {
			t.Errorf("the writer was shut out: %v, want %v", shut, !ours)
		}
	})
}

// The one server is killed and comes back empty. A holder of Redisson's RReadWriteLock does not learn that it has lost
// the lock, and the next client gets the lock beside it.
func TestAnEmptyServerLetsAWriterOfRedissonInBesideReaders(t *testing.T) {
	both(t, "redisson-", "", func(t *testing.T, kind string, ours bool) {
		servers := redistest.StartN(t, 1)
		read, write := library{name: kind + "read", command: redissonShared}, library{name: kind + "write", command: redissonShared}
		if ours {
			read.command, write.command = nil, nil
			_ = voting(t, servers)
		}
		const restarts = 6
		s := run(t, servers, ttl, 50*time.Second, append(crowdOf(1, read, true, ttl/2, 2*ttl),
			crowdOf(2, write, false, ttl/2, 2*ttl)...), func() { emptied(servers, restarts, 1) })
		t.Logf("%d restarts: %d locks of readers, %d of writers; %d began beside a writer, or a writer's beside another; the last came at %v; errors %v",
			restarts, len(s.waits[true]), len(s.waits[false]), s.beside(), time.Duration(s.last).Round(time.Second), s.failed)
		if len(s.waits[true]) == 0 || len(s.waits[false]) == 0 {
			t.Error("one side never had the lock")
		}
		if broken := s.beside() > 0; broken == ours {
			t.Errorf("the lock was broken: %v, want %v", broken, !ours)
		}
	})
}

// emptied restarts servers without their data, in turn and some at a time, and pauses for 6 s and more per server.
func emptied(servers []*redistest.Server, times, together int) {
	for i := range times {
		time.Sleep(time.Duration(together)*6*time.Second + rand.N(time.Second)) // the workers work
		for j := range together {
			s := servers[(i+j)%len(servers)]
			s.Kill()
			s.Restart()
		}
	}
}

// A permit of RPermitExpirableSemaphore without a lease time is lost for ever when its holder is killed.
func TestKilledHoldersKeepPermitsOfRedissonForEver(t *testing.T) {
	const d = 30 * time.Second
	both(t, "redisson-permits", "semaphore", func(t *testing.T, kind string, ours bool) {
		servers, lib := semaphores(t, kind, ours, 1)
		workers := crowdOf(4, lib, false, 20*time.Millisecond, 100*time.Millisecond)
		for i := range places {
			workers[i].dies = 1
		}
		s := run(t, servers, ttl, d, workers, nil)
		over, most := s.above(places)
		t.Logf("%d permits, %d holders killed: %d locks, the last one after %v of %v; longest wait %v; %d locks above %d, at most %d at once; errors %v",
			places, s.killed, len(s.waits[false]), time.Duration(s.last).Round(time.Millisecond), d, s.longest(false), over, places, most, s.failed)
		if s.killed != places || over > 0 {
			t.Errorf("%d killed, %d above", s.killed, over)
		}
		if lost := time.Duration(s.last) < d/2; lost == ours {
			t.Errorf("all permits were lost: %v, want %v", lost, !ours)
		}
	})
}

// With a lease time the permit comes back after a kill. But nothing renews it, so a holder that works for longer has
// lost it, and nothing tells the holder.
func TestALongWorkerExceedsThePermitsOfRedisson(t *testing.T) {
	const d = 30 * time.Second
	both(t, "redisson-leased", "semaphore", func(t *testing.T, kind string, ours bool) {
		servers, lib := semaphores(t, kind, ours, 1)
		s := run(t, servers, ttl, d, crowdOf(5, lib, false, ttl/2, 2*ttl), nil)
		over, most := s.above(places)
		t.Logf("%d permits, work of %v to %v, lease or TTL %v: %d locks, %d above %d, at most %d at once; errors %v",
			places, ttl/2, 2*ttl, ttl, len(s.waits[false]), over, places, most, s.failed)
		if broken := over > 0; broken == ours {
			t.Errorf("more than %d held: %v, want %v", places, broken, !ours)
		}
	})
}

// A majority of counters is no counter: with two permits and three servers, A is counted on 1 and 2, B on 2 and 3, and
// C on 3 and 1. That happens to RedlockSemaphore without any fault.
func TestThreeHoldTwoPermitsOfRedlockSemaphore(t *testing.T) {
	const d = 25 * time.Second
	both(t, "redis-semaphore", "semaphore", func(t *testing.T, kind string, ours bool) {
		servers, lib := semaphores(t, kind, ours, 3)
		s := run(t, servers, ttl, d, crowdOf(8, lib, false, 5*time.Millisecond, 50*time.Millisecond), nil)
		over, most := s.above(places)
		t.Logf("%d permits on 3 servers, 8 processes, no fault: %d locks, %d above %d, at most %d at once; longest wait %v; errors %v",
			places, len(s.waits[false]), over, places, most, s.longest(false), s.failed)
		if broken := over > 0; broken == ours {
			t.Errorf("more than %d held: %v, want %v", places, broken, !ours)
		}
	})
}

// The three servers restart one after the other without their data, and two holders are killed.
func TestEmptyServersExceedThePermitsOfRedlockSemaphore(t *testing.T) {
	both(t, "redis-semaphore", "semaphore", func(t *testing.T, kind string, ours bool) {
		servers, lib := semaphores(t, kind, ours, 3)
		const restarts = 6
		workers := crowdOf(6, lib, false, 300*time.Millisecond, 2*ttl)
		for i := range places {
			workers[i].dies = 1
		}
		s := run(t, servers, ttl, 50*time.Second, workers, func() { emptied(servers, restarts/2, 2) })
		over, most := s.above(places)
		t.Logf("%d permits on 3 servers, %d restarts, %d holders killed: %d locks, %d above %d, at most %d at once; errors %v",
			places, restarts, s.killed, len(s.waits[false]), over, places, most, s.failed)
		if len(s.waits[false]) == 0 {
			t.Fatal("no process got a permit, so nothing was compared")
		}
		if broken := over > 0; broken == ours {
			t.Errorf("more than %d held: %v, want %v", places, broken, !ours)
		}
	})
}
