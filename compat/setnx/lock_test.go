package setnx_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/compat/setnx"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// The value is the time of the end in the unit of the configuration, never earlier than the TTL. The key does not
// expire.
func TestALeaseHasThePatternsValue(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	for unit, scale := range map[setnx.Unit]float64{setnx.Seconds: 1000, setnx.FloatSeconds: 1000, setnx.Milliseconds: 1} {
		c := open(t, s.URL(), func(c *setnx.Config) { c.Unit = unit })
		before := clock(t, s)
		l := mustLock(t, c, "lock.foo")
		v := value(t, s, "lock.foo")
		ends, err := strconv.ParseFloat(v, 64)
		if late := ends*scale - float64(before) - 30_000; err != nil || late < 0 || late > 3000 || v != l.Value() {
			t.Errorf("%s: the value is %s, %v ms after the TTL; the lease has %s", unit, v, late, l.Value())
		}
		if strings.Contains(v, ".") != (unit == setnx.FloatSeconds) {
			t.Errorf("%s: the value is %s", unit, v)
		}
		if left := s.MustDo(t, "PTTL", "lock.foo"); left != int64(-1) {
			t.Errorf("%s: the key expires in %v ms", unit, left)
		}
		if d := time.Until(l.Deadline()); d > 28_700*time.Millisecond || d < 20*time.Second {
			t.Errorf("%s: the deadline is in %v; it must be Skew and a hundredth of the TTL before the value", unit, d)
		}
		mustUnlock(t, l)
		if v := value(t, s, "lock.foo"); v != "" {
			t.Errorf("%s: after Unlock the value is %s", unit, v)
		}
		if err := l.Unlock(t.Context()); !errors.Is(err, holdfast.ErrReleased) {
			t.Errorf("%s: a second Unlock: %v", unit, err)
		}
	}
}

// Locks of other clients are read in all units. A lock is respected until its time, and taken afterwards.
func TestValuesOfOtherClientsAreRead(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s.URL(), nil)
	units := map[string]func(ms int64) string{
		"seconds":      func(ms int64) string { return strconv.FormatInt(ms/1000, 10) },
		"milliseconds": func(ms int64) string { return strconv.FormatInt(ms, 10) },
		"python":       func(ms int64) string { return fmt.Sprintf("%d.%07d", ms/1000, ms%1000*10000) },
	}
	for unit, of := range units {
		v := of(clock(t, s) + 20_000)
		s.MustDo(t, "SET", unit, v)
		_, err := c.Mutex(unit).TryLock(t.Context())
		var held *setnx.HeldError
		if !errors.As(err, &held) || !errors.Is(err, holdfast.ErrHeld) || held.Value != v {
			t.Fatalf("%s: TryLock: %v", unit, err)
		}
		if held.ExpiresIn < 15*time.Second || held.ExpiresIn > 21*time.Second {
			t.Errorf("%s: it expires in %v", unit, held.ExpiresIn)
		}
		if got := value(t, s, unit); got != v {
			t.Errorf("%s: the value %s is %s now", unit, v, got)
		}
		s.MustDo(t, "SET", unit, of(clock(t, s)-2_500))
		mustUnlock(t, mustLock(t, c, unit))
	}
}

// A value that is no time is a clear error. It is never overwritten, by no method, and no wait goes on.
func TestAForeignKeyIsAClearErrorAndUntouched(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s.URL(), nil)
	for name, command := range map[string][]any{
		"one":      {"SET", "one", "1"},
		"token":    {"SET", "token", "b2bf4f0e6bd43b0d", "PX", 60000},
		"empty":    {"SET", "empty", ""},
		"nanos":    {"SET", "nanos", "1790000000123456789"},
		"negative": {"SET", "negative", "-1790000000"},
		"exponent": {"SET", "exponent", "1.79e9"},
		"hex":      {"SET", "hex", "0x6AB3CDEF"},
		"ancient":  {"SET", "ancient", "999999999"},
		"between":  {"SET", "between", "500000000000"},
		"space":    {"SET", "space", " 1790000000"},
		"inf":      {"SET", "inf", "inf"},
		"long":     {"SET", "long", "1790000000." + strings.Repeat("0", 200)},
		"hash":     {"HSET", "hash", "8743c9c0-0795-4907-87fd-6c719a6b4586:17", "1"},
		"list":     {"RPUSH", "list", "a"},
	} {
		s.MustDo(t, command...)
		before := s.MustDo(t, "DUMP", name)
		_, err := c.Mutex(name).TryLock(t.Context())
		var foreign *setnx.ForeignError
		if !errors.As(err, &foreign) || !errors.Is(err, setnx.ErrForeign) || errors.Is(err, holdfast.ErrHeld) || foreign.Key != name {
			t.Errorf("%s: TryLock: %v", name, err)
			continue
		}
		if foreign.ExpiresIn >= 0 != (name == "token") {
			t.Errorf("%s: it expires in %v", name, foreign.ExpiresIn)
		}
		if _, err := c.Mutex(name).Lock(t.Context()); !errors.Is(err, setnx.ErrForeign) {
			t.Errorf("%s: Lock: %v", name, err)
		}
		if after := s.MustDo(t, "DUMP", name); after != before {
			t.Errorf("%s: the key was changed", name)
		}
	}
}

// A lock is taken Skew after its time, because its holder's clock may be late.
func TestAnEndedLockIsTakenSkewLater(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s.URL(), func(c *setnx.Config) { c.Skew = 2 * time.Second })
	s.MustDo(t, "SET", "lock.foo", in(t, s, -500*time.Millisecond))
	_, err := c.Mutex("lock.foo").TryLock(t.Context())
	var held *setnx.HeldError
	if !errors.As(err, &held) || held.ExpiresIn > 1500*time.Millisecond {
		t.Fatalf("TryLock within Skew: %v", err)
	}
	s.MustDo(t, "SET", "lock.foo", in(t, s, -2001*time.Millisecond))
	l, err := c.Mutex("lock.foo").TryLock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	mustUnlock(t, l)
}

// Many clients find an ended lock at once. One of them gets it: the one whose GETSET returned the ended value.
func TestOneOfManyTakesAnEndedLock(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	clients := make([]*setnx.Client, 8)
	for i := range clients {
		clients[i] = open(t, s.URL(), nil)
	}
	for round := range 20 {
		s.MustDo(t, "SET", "lock.foo", in(t, s, -time.Minute))
		var won atomic.Pointer[setnx.Lease]
		var wait sync.WaitGroup
		for _, c := range clients {
			wait.Go(func() {
				l, err := c.Mutex("lock.foo").TryLock(t.Context())
				if err == nil && !won.CompareAndSwap(nil, l) {
					t.Errorf("round %d: two clients have the lock", round)
				}
				if err != nil && !errors.Is(err, holdfast.ErrHeld) {
					t.Errorf("round %d: %v", round, err)
				}
			})
		}
		wait.Wait()
		if won.Load() == nil {
			t.Fatalf("round %d: nobody has the lock", round)
		}
		mustUnlock(t, won.Load())
	}
}

// A wait ends soon after a DEL of an old client, and after the time of a crashed holder.
func TestAWaitEndsWithTheLock(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s.URL(), nil)
	s.MustDo(t, "SET", "lock.foo", in(t, s, time.Hour))
	time.AfterFunc(300*time.Millisecond, func() { s.Do("DEL", "lock.foo") })
	mustUnlock(t, mustLock(t, c, "lock.foo"))
	s.MustDo(t, "SET", "lock.foo", in(t, s, 300*time.Millisecond)) // and nobody deletes it
	mustUnlock(t, mustLock(t, c, "lock.foo"))
}

// The error of a cancelled wait names the holder of the lock, and the wait leaves nothing.
// Goroutines of one client are served in their order.
func TestWaitsOfOneClient(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s.URL(), func(c *setnx.Config) { c.MapName = func(name string) string { return "app:" + name } })
	l := mustLock(t, c, "foo")
	if value(t, s, "app:foo") != l.Value() {
		t.Errorf("the key of the mapped name has %q", value(t, s, "app:foo"))
	}
	if _, err := c.Mutex("foo").TryLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) || !strings.Contains(err.Error(), "a lease of this client") {
		t.Errorf("TryLock: %v", err)
	}
	if _, err := c.Mutex("foo").Lock(l.Context()); !errors.Is(err, holdfast.ErrReentrant) {
		t.Errorf("Lock under the lease: %v", err)
	}
	mine := errors.New("the shop is closed")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(50*time.Millisecond, func() { cancel(mine) })
	_, err := c.Mutex("foo").Lock(ctx)
	if !errors.Is(err, holdfast.ErrHeld) || !errors.Is(err, context.Canceled) || !errors.Is(err, mine) {
		t.Errorf("Lock: %v", err)
	}
	n := 0 // without protection
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() {
			if err := c.Mutex("foo").Do(t.Context(), func(context.Context) error { n++; return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	mustUnlock(t, l)
	wait.Wait()
	if n != 20 {
		t.Errorf("%d of 20 increments", n)
	}
	if v := value(t, s, "app:foo"); v != "" {
		t.Errorf("the value %s is left", v)
	}
}

// Bad settings and names are errors that say what, which value and which bound.
func TestBadInput(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s.URL(), nil)
	if _, err := c.Mutex("").TryLock(t.Context()); !errors.Is(err, holdfast.ErrBadName) {
		t.Errorf("the empty name: %v", err)
	}
	if _, err := c.Mutex(strings.Repeat("x", 70_000)).TryLock(t.Context()); !errors.Is(err, holdfast.ErrBadName) {
		t.Errorf("a long name: %v", err)
	}
	l := mustLock(t, c, "lock.foo")
	for _, ttl := range []time.Duration{0, -1, 2 * time.Second, 25 * time.Hour} {
		if err := l.Extend(t.Context(), ttl); !errors.Is(err, holdfast.ErrBadTTL) || !strings.Contains(err.Error(), ttl.String()) {
			t.Errorf("Extend by %s: %v", ttl, err)
		}
	}
	mustUnlock(t, l)
	if _, err := setnx.New(setnx.Config{}); err == nil || !strings.Contains(err.Error(), "Node is nil") {
		t.Errorf("without a node: %v", err)
	}
	for want, change := range map[string]func(*setnx.Config){
		"TTL is 1ms":                   func(c *setnx.Config) { c.TTL = time.Millisecond },
		"TTL is 25h":                   func(c *setnx.Config) { c.TTL = 25 * time.Hour },
		"it must be at least 3m0s":     func(c *setnx.Config) { c.Skew = time.Minute },
		"Skew is -2s":                  func(c *setnx.Config) { c.Skew = -2 * time.Second },
		"Skew is 2h":                   func(c *setnx.Config) { c.Skew = 2 * time.Hour },
		"Unit is Unit(9)":              func(c *setnx.Config) { c.Unit = 9 },
		"Poll is -1ns":                 func(c *setnx.Config) { c.Poll = -1 },
		"NodeTimeout is 20s":           func(c *setnx.Config) { c.NodeTimeout = 20 * time.Second },
		"from 1ms to half of TTL = 15": func(c *setnx.Config) { c.NodeTimeout = 1 },
	} {
		config := setnx.Config{Node: plainNode{}}
		change(&config)
		if _, err := setnx.New(config); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}
