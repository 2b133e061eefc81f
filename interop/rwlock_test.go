package interop

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/compat/redisson"
	"github.com/holdfast-go/holdfast/internal/check/redistest"
)

// versions are the folders with the versions of Redisson that these tests run.
var versions = map[string]string{"4.7": newest, "3.52": older}

// kinds are all locks of Redisson on one hash.
var kinds = []string{"lock", "fenced", "spin", "fair", "read", "write"}

// enter and leave do what Peer.java does when a holder goes in and out. enter returns 1 if the holder is beside another one
// that it excludes.
var (
	enter = redis.NewScript("redis.call('hincrby', KEYS[1], ARGV[1], 1) " +
		"local readers = tonumber(redis.call('hget', KEYS[1], 'readers') or 0) " +
		"local writers = tonumber(redis.call('hget', KEYS[1], 'writers') or 0) " +
		"if writers == 0 or (writers == 1 and readers == 0) then return 0 end return 1")
	leave = redis.NewScript("return redis.call('hincrby', KEYS[1], ARGV[1], -1)")
)

// tally is what one side of a shift did.
type tally struct{ locks, overlaps, failed atomic.Int64 }

// goShift takes the lock again and again for a time, as the command shift of Peer.java does.
func goShift(t *testing.T, db *redis.Client, c *redisson.Client, name string, reads bool, d time.Duration, to *tally) {
	do, mine := c.Mutex(name).Do, "writers"
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	for ctx.Err() == nil {
		err := do(ctx, func(context.Context) error {
			to.locks.Add(1)
			ctx := context.Background() // the work does not end with the shift
			beside, err := enter.Run(ctx, db, []string{"counter:inside"}, mine).Int64()
			if err != nil {
				return err
			}
			to.overlaps.Add(beside)
			now, err := db.Get(ctx, "counter").Int()
			if err != nil && err != redis.Nil {
				return err
			}
			time.Sleep(2 * time.Millisecond)
			if !reads {
				err = db.Set(ctx, "counter", strconv.Itoa(now+1), 0).Err()
			}
			return errors.Join(err, leave.Run(ctx, db, []string{"counter:inside"}, mine).Err())
		})
		if err != nil && ctx.Err() == nil {
			to.failed.Add(1)
			t.Errorf("Go: %v", err)
		}
	}
}

// Two goroutines of two clients beside two Java processes for 20 s, for each kind of lock that Java may take on the name.
// The counter has no other protection.
func TestEachKindOfJavaAndGoCountTogether(t *testing.T) {
	for version, lib := range versions {
		for _, kind := range kinds {
			t.Run(version+"/"+kind, func(t *testing.T) {
				const d = 20 * time.Second
				s := redistest.Start(t)
				db := redis.NewClient(&redis.Options{Addr: s.Addr(), MaxRetries: -1})
				defer db.Close()
				var java []<-chan string
				var peers []*peer
				for range 2 {
					p := startPeer(t, lib, single, []*redistest.Server{s}, 30*time.Second, "")
					peers = append(peers, p)
				}
				var ours tally
				var wait sync.WaitGroup
				for _, p := range peers {
					java = append(java, p.start("w", "shift", kind+"@orders", "counter", fmt.Sprint(d.Milliseconds())))
				}
				for range 2 {
					c := open(t, []*redistest.Server{s}, func(c *redisson.Config) { c.Poll = time.Second })
					wait.Go(func() { goShift(t, db, c, "orders", false, d, &ours) })
				}
				wait.Wait()
				locks, overlaps := 0, 0
				for i, answer := range java {
					var l, o int
					if got := peers[i].await(answer); len(got) == 0 {
						t.Fatal("no answer")
					} else if _, err := fmt.Sscanf(got, "%d %d", &l, &o); err != nil {
						t.Fatalf("java says %q", got)
					}
					locks, overlaps = locks+l, overlaps+o
				}
				counted, _ := db.Get(t.Context(), "counter").Int()
				want := int(ours.locks.Load())
				if kind != "read" {
					want += locks
				}
				t.Logf("java %d locks, Go %d; %d increments lost; %d overlaps", locks, ours.locks.Load(), want-counted, overlaps+int(ours.overlaps.Load()))
				if counted != want || overlaps+int(ours.overlaps.Load()) > 0 {
					t.Errorf("%d increments of %d; %d overlaps", counted, want, overlaps+int(ours.overlaps.Load()))
				}
				if locks == 0 || ours.locks.Load() == 0 {
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
			java.quit()
		})
	}
}
