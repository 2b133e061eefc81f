package interop

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/compat/redisson"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// versions are the folders with the versions of Redisson that these tests run.
var versions = map[string]string{"4.7": newest, "3.52": older}

// kinds are all locks of Redisson on one hash.
var kinds = []string{"lock", "fenced", "spin", "fair", "read", "write"}

// enter and leave do what Peer.java does when a holder goes in and out. enter returns 1 if the holder is beside another
// one that it excludes.
var (
	enter = redis.NewScript("redis.call('hincrby', KEYS[1], ARGV[1], 1) " +
		"local readers = tonumber(redis.call('hget', KEYS[1], 'readers') or 0) " +
		"local writers = tonumber(redis.call('hget', KEYS[1], 'writers') or 0) " +
		"if writers == 0 or (writers == 1 and readers == 0) then return 0 end return 1")
	leave = redis.NewScript("return redis.call('hincrby', KEYS[1], ARGV[1], -1)")
)

// tally is what one side of a shift did.
type tally struct{ writes, reads, overlaps int }

func (a *tally) add(b tally) {
	a.writes, a.reads, a.overlaps = a.writes+b.writes, a.reads+b.reads, a.overlaps+b.overlaps
}

// goShift takes the lock again and again until an instant, as the command shift of Peer.java does.
func goShift(t *testing.T, s *redistest.Server, reads bool, end time.Time) (done tally) {
	db := redis.NewClient(&redis.Options{Addr: s.Addr(), MaxRetries: -1, ReadTimeout: within})
	defer db.Close()
	m := open(t, []*redistest.Server{s}, func(c *redisson.Config) {
		c.Poll, c.NodeTimeout = time.Second, 10*time.Second // a busy machine stalls
	}).Mutex("orders")
	do, locks, mine := m.Do, &done.writes, "writers"
	if reads {
		do, locks, mine = m.RDo, &done.reads, "readers"
	}
	ctx, cancel := context.WithDeadline(t.Context(), end)
	defer cancel()
	for ctx.Err() == nil {
		err := do(ctx, func(context.Context) error {
			ctx := context.Background() // the work does not end with the shift
			beside, err1 := enter.Run(ctx, db, []string{"counter:inside"}, mine).Int()
			now, err2 := db.Get(ctx, "counter").Int()
			if err2 == redis.Nil {
				err2 = nil
			}
			time.Sleep(2 * time.Millisecond)
			var err3 error
			if !reads {
				err3 = db.Set(ctx, "counter", strconv.Itoa(now+1), 0).Err()
			}
			*locks++
			done.overlaps += beside
			return errors.Join(err1, err2, err3, leave.Run(ctx, db, []string{"counter:inside"}, mine).Err())
		})
		if err != nil && ctx.Err() == nil {
			t.Errorf("Go: %v", err)
		}
	}
	return done
}

// javaShift does the same in a new Java process.
func javaShift(t *testing.T, lib string, s *redistest.Server, kind string) (do func(end time.Time) tally) {
	p := startPeer(t, lib, single, []*redistest.Server{s}, 30*time.Second, "")
	return func(end time.Time) (done tally) {
		locks := 0
		got := p.do("w", "shift", kind+"@orders", "counter", fmt.Sprint(time.Until(end).Milliseconds()))
		if _, err := fmt.Sscanf(got, "%d %d", &locks, &done.overlaps); err != nil {
			t.Errorf("java says %q", got)
		}
		if kind == "read" {
			done.reads = locks
		} else {
			done.writes = locks
		}
		return done
	}
}

// A counter without other protection, for 20 s: two Java processes with each kind of lock beside two clients of Go, and
// beside a reader and a writer of Go. The last shift has readers and writers on both sides.
func TestEachKindOfJavaAndGoCountTogether(t *testing.T) {
	for version, lib := range versions {
		for _, shift := range []struct{ java, ours []string }{
			{[]string{"lock", "lock"}, []string{"write", "write"}},
			{[]string{"fenced", "fenced"}, []string{"write", "read"}},
			{[]string{"spin", "spin"}, []string{"write", "write"}},
			{[]string{"fair", "fair"}, []string{"write", "write"}},
			{[]string{"fair", "lock"}, []string{"write", "read"}},
			{[]string{"read", "read"}, []string{"write", "write"}},
			{[]string{"write", "write"}, []string{"write", "read"}},
			{[]string{"write", "read"}, []string{"read", "write"}},
		} {
			t.Run(fmt.Sprintf("%s/%v-%v", version, shift.java, shift.ours), func(t *testing.T) {
				s := redistest.Start(t)
				var all []func(end time.Time) tally
				for _, kind := range shift.java {
					all = append(all, javaShift(t, lib, s, kind))
				}
				for _, kind := range shift.ours {
					all = append(all, func(end time.Time) tally { return goShift(t, s, kind == "read", end) })
				}
				end := time.Now().Add(20 * time.Second)
				done := make([]tally, len(all))
				var wait sync.WaitGroup
				for i, work := range all {
					wait.Go(func() { done[i] = work(end) })
				}
				wait.Wait()
				var java, ours tally
				for i, d := range done {
					if i < len(shift.java) {
						java.add(d)
					} else {
						ours.add(d)
					}
				}
				counter, _ := s.MustDo(t, "GET", "counter").(string)
				counted, _ := strconv.Atoi(counter)
				lost, overlaps := java.writes+ours.writes-counted, java.overlaps+ours.overlaps
				t.Logf("java %d locks and %d as a reader, Go %d and %d; %d increments lost; %d overlaps",
					java.writes, java.reads, ours.writes, ours.reads, lost, overlaps)
				if lost != 0 || overlaps > 0 {
					t.Errorf("%d increments lost; %d overlaps", lost, overlaps)
				}
				if java.writes+java.reads == 0 || ours.writes+ours.reads == 0 {
					t.Error("one side never had the lock")
				}
			})
		}
	}
}

// Each kind of lock of Java is refused while Go has the lock, and Go while Java has it. Nothing changes.
func TestEachKindOfJavaAndGoRefuseEachOther(t *testing.T) {
	for version, lib := range versions {
		t.Run(version, func(t *testing.T) {
			s := redistest.Start(t)
			java := startPeer(t, lib, single, []*redistest.Server{s}, 30*time.Second, "")
			c := open(t, []*redistest.Server{s}, nil)
			for _, kind := range kinds {
				l := lock(t, c, "orders")
				before := dump(t, s, "orders")
				if got := java.do("a", "try", kind+"@orders"); got != "false" {
					t.Errorf("%s beside a lease of Go: tryLock says %s", kind, got)
				}
				if after := dump(t, s, "orders"); after != before {
					t.Errorf("%s: the hash was %s, and is %s", kind, before, after)
				}
				unlock(t, l)
				s.MustDo(t, "DEL", "orders", "redisson_lock_queue:{orders}", "redisson_lock_timeout:{orders}")
				java.must("true", "b", "try", kind+"@orders")
				if _, err := c.Mutex("orders").TryLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
					t.Errorf("Go beside %s: %v", kind, err)
				}
				java.must("unlocked", "b", "unlock", kind+"@orders")
			}
			dropLatches(t, s, lib)
			java.quit()
		})
	}
}
