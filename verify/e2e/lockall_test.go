package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// trips counts the round trips to a node that are about the names of a test.
type trips struct {
	node.Node
	n atomic.Int32
}

const counted = "counted/"

func (c *trips) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	if slices.ContainsFunc(calls, func(call node.Call) bool {
		return slices.ContainsFunc(call.Keys, func(key string) bool { return strings.Contains(key, counted) })
	}) {
		c.n.Add(1)
	}
	return c.Node.EvalSHA(ctx, calls)
}

// countedNames returns n names in a random order. trips counts the round trips about these names.
func countedNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s%03d", counted, i)
	}
	rand.Shuffle(n, func(i, j int) { names[i], names[j] = names[j], names[i] })
	return names
}

func TestSeveralFreeLocksTakeOneRoundTrip(t *testing.T) {
	t.Parallel()
	sets(t, func(t *testing.T, s *set) {
		nodes, err := rueidisnode.Open(s.urls...)
		if err != nil {
			t.Fatal(err)
		}
		counts := make([]*trips, len(nodes))
		for i := range nodes {
			counts[i] = &trips{Node: nodes[i]}
			nodes[i] = counts[i]
		}
		c := s.ready(s.client(longLived, func(c *holdfast.Config) { c.Nodes, c.NodeTimeout = nodes, 3*time.Second }))
		// expect reports whether each node had at most want round trips.
		expect := func(what string, names, want int32, strict bool) bool {
			t.Helper()
			good := true
			for i, count := range counts {
				// A majority is enough for the result, so a node may get its question later.
				redistest.Eventually(t, 10*time.Second, what, func() bool { return count.n.Load() > 0 })
				n := count.n.Swap(0)
				good = good && n <= want
				if n > want && strict {
					t.Errorf("%s of %d names: %d round trips to node %d, want %d", what, names, n, i, want)
				}
			}
			return good
		}
		lock(t, c, "warm").Unlock(t.Context())
		for _, n := range []int{1, 2, 64, 65, 256} {
			for what, take := range map[string]func(context.Context, []string, ...holdfast.Option) (*holdfast.LeaseSet, error){
				"LockAll": c.LockAll, "TryLockAll": c.TryLockAll,
			} {
				trips := int32(1)
				if what == "TryLockAll" && n > nodescript.MostTogether {
					trips = 2 // first as many names as one script takes: see TestOneOfTheTriesForManyNamesGetsThem
				}
				// A request that stood still on a busy machine is sent again, so one of three tries must do.
				for try := 1; try <= 3; try++ {
					set, err := take(t.Context(), countedNames(n))
					if err != nil {
						t.Fatalf("%s of %d names: %v", what, n, err)
					}
					good := expect(what, int32(n), trips, try == 3)
					if err := set.Unlock(t.Context()); err != nil {
						t.Fatalf("Unlock after %s of %d names: %v", what, n, err)
					}
					if expect("Unlock", int32(n), 1, try == 3) && good {
						break
					}
				}
			}
		}
	})
}

func TestSeveralLocksAreHeldUntilUnlock(t *testing.T) {
	t.Parallel()
	sets(t, func(t *testing.T, s *set) {
		c, other := s.ready(s.client(calm)), s.ready(s.client(calm))
		names := []string{"orders/42", "a", "ab", "stock/7", "a"}
		set, err := c.LockAll(t.Context(), names)
		if err != nil {
			t.Fatal(err)
		}
		if got := set.Names(); !slices.Equal(got, []string{"a", "ab", "orders/42", "stock/7"}) {
			t.Errorf("Names: %q", got)
		}
		for _, name := range set.Names() {
			_, err := other.Mutex(name).TryLock(t.Context())
			var held *holdfast.HeldError
			if !errors.As(err, &held) || held.Holder().Owner != set.Owner(name) || set.Owner(name) == "" {
				t.Errorf("another client, for %s: %v; want that %s has it", name, err, set.Owner(name))
			}
			if d := set.Deadline(); time.Until(d) <= 0 || time.Until(d) > 5*time.Second {
				t.Errorf("the deadline is %s from now", time.Until(d))
			}
		}
		if set.Fence("b") != 0 || set.Owner("b") != "" {
			t.Error("a name that is not in the set has a token or an owner")
		}
		fences := map[string]int64{}
		for _, name := range set.Names() {
			fences[name] = set.Fence(name)
		}
		if err := set.Extend(t.Context(), 4*time.Second); err != nil {
			t.Errorf("Extend: %v", err)
		}
		if err := set.Context().Err(); err != nil {
			t.Errorf("the context ended by %v", context.Cause(set.Context()))
		}
		if err := set.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
		if cause := context.Cause(set.Context()); !errors.Is(cause, holdfast.ErrReleased) {
			t.Errorf("after Unlock the context's cause is %v", cause)
		}
		for what, err := range map[string]error{"Unlock": set.Unlock(t.Context()), "Extend": set.Extend(t.Context(), 4*time.Second)} {
			if !errors.Is(err, holdfast.ErrReleased) {
				t.Errorf("%s after Unlock: %v", what, err)
			}
		}
		for name, fence := range fences {
			l := lock(t, other, name)
			if l.Fence() <= fence || fence == 0 {
				t.Errorf("%s: token %d after %d", name, l.Fence(), fence)
			}
			l.Unlock(t.Context())
		}
	})
}

func TestDoAllHoldsAllLocksWhileItsWorkRuns(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	c, other := s.ready(s.client(calm)), s.ready(s.client(calm))
	why := errors.New("work failed")
	err := c.DoAll(t.Context(), []string{"y", "x"}, func(ctx context.Context) error {
		set, ok := holdfast.LeaseSetFromContext(ctx)
		if !ok || !slices.Equal(set.Names(), []string{"x", "y"}) || set.Fence("x") == 0 {
			t.Error("the work's context has no set, or another one")
		}
		for _, name := range []string{"x", "y"} {
			if _, err := other.Mutex(name).TryLock(ctx); !errors.Is(err, holdfast.ErrHeld) {
				t.Errorf("another client, for %s: %v", name, err)
			}
		}
		return why
	})
	if !errors.Is(err, why) {
		t.Errorf("DoAll returned %v", err)
	}
	for _, name := range []string{"x", "y"} {
		l, err := other.Mutex(name).TryLock(t.Context())
		if err != nil {
			t.Fatalf("%s was not given back: %v", name, err)
		}
		l.Unlock(t.Context())
	}
	closing := s.ready(s.client(calm))
	err = closing.DoAll(t.Context(), []string{"y", "x"}, func(ctx context.Context) error { return closing.Close() })
	if !errors.Is(err, holdfast.ErrClosed) {
		t.Errorf("the client closed while the work ran: %v", err)
	}
	closing = s.ready(s.client(calm))
	err = closing.DoAll(t.Context(), []string{"y", "x"}, func(ctx context.Context) error {
		if l, ok := holdfast.FromContext(ctx); !ok || l.Unlock(t.Context()) != nil {
			t.Error("one lease of the set cannot be unlocked")
		}
		return closing.Close()
	})
	if !errors.Is(err, holdfast.ErrClosed) {
		t.Errorf("the client closed after the work had unlocked one of two leases: %v", err)
	}
}

// One lock of several is held. The error names that lock and its holder, and the other locks are free at once.
func TestOneHeldLockOfSeveralLeavesTheOthersFree(t *testing.T) {
	t.Parallel()
	sets(t, func(t *testing.T, s *set) {
		c, other := s.ready(s.client(calm)), s.ready(s.client(calm, func(c *holdfast.Config) { c.Label = "web-3" }))
		holder := lock(t, other, "m")
		names := []string{"z", "m", "a", "q"}
		bounded := func() context.Context {
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			t.Cleanup(cancel)
			return ctx
		}
		for what, try := range map[string]func() error{
			"TryLockAll": func() error { _, err := c.TryLockAll(t.Context(), names); return err },
			"LockAll": func() error {
				_, err := c.LockAll(bounded(), names)
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("LockAll: %v; want one that matches the context's", err)
				}
				return err
			},
			"DoAll": func() error {
				return c.DoAll(bounded(), names, func(context.Context) error { t.Error("the work ran"); return nil })
			},
		} {
			err := try()
			var held *holdfast.HeldError
			if !errors.As(err, &held) || held.Name != "m" || held.Holder().Owner != holder.Owner() || !strings.Contains(err.Error(), `lock "m": held by web-3`) {
				t.Errorf("%s: %v; want that web-3 has m", what, err)
			}
			s.forgetAll([]string{"a", "q", "z"})
		}
		if _, err := c.TryLockAll(t.Context(), []string{"z", "a", "q"}); err != nil {
			t.Errorf("the others: %v", err)
		}
	})
}

// A waiter for several locks gets them when the held one becomes free.
func TestSeveralLocksComeInTheirTurn(t *testing.T) {
	t.Parallel()
	sets(t, func(t *testing.T, s *set) {
		c, other := s.ready(s.client(calm)), s.ready(s.client(calm))
		first, second := lock(t, other, "b"), lock(t, other, "d")
		got := make(chan error, 1)
		var told atomic.Pointer[holdfast.HeldError]
		listen := holdfast.OnWait(func(err error) {
			var held *holdfast.HeldError
			if errors.As(err, &held) {
				told.Store(held)
			}
		})
		go func() {
			set, err := c.LockAll(t.Context(), []string{"d", "c", "b", "a"}, listen)
			if err == nil {
				err = set.Unlock(t.Context())
			}
			got <- err
		}()
		waitsFor := func(name string) {
			t.Helper()
			redistest.Eventually(t, 10*time.Second, "a wait for "+name, func() bool {
				held := told.Load()
				return held != nil && held.Name == name
			})
		}
		waitsFor("b")
		// While the call waits for b it has a, and does not keep c from other clients.
		if _, err := other.Mutex("a").TryLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
			t.Errorf("a, while b is waited for: %v", err)
		}
		lock(t, other, "c").Unlock(t.Context())
		first.Unlock(t.Context())
		waitsFor("d")
		select {
		case err := <-got:
			t.Fatalf("it has all although d is held: %v", err)
		default:
		}
		second.Unlock(t.Context())
		if err := <-got; err != nil {
			t.Fatal(err)
		}
		s.forgetAll([]string{"a", "b", "c", "d"})
	})
}

// Several clients try for the same locks at the same instant, even with a dead minority. One of the clients gets all
// locks.
func TestOneOfSeveralTriesForTheSameSetGetsIt(t *testing.T) {
	t.Parallel()
	s := newSet(t, 5)
	var clients []*holdfast.Client
	for range 10 {
		clients = append(clients, s.ready(s.client(longLived, func(c *holdfast.Config) { c.NodeTimeout = 5 * time.Second })))
	}
	s.kill(s.servers[4])
	// The test counts the rounds without a winner. On a busy machine there may be some, because the repeated attempts
	// of all clients may collide. A call may then also come too late. So a round in which no quorum answered counts
	// only if it was quick.
	none, slow, rounds := 0, 0, 80
	for round := 0; round < rounds; round++ {
		names := []string{fmt.Sprint("a", round), fmt.Sprint("b", round), fmt.Sprint("c", round)}
		start, won := make(chan struct{}), atomic.Int32{}
		var wait sync.WaitGroup
		wrong := make([]error, len(clients))
		for i, c := range clients {
			wait.Go(func() {
				<-start
				switch _, err := c.TryLockAll(t.Context(), names); {
				case err == nil:
					won.Add(1)
				case !errors.Is(err, holdfast.ErrHeld):
					wrong[i] = err
				}
			})
		}
		began := time.Now()
		close(start)
		wait.Wait()
		took, busy := time.Since(began), error(nil)
		for _, err := range wrong {
			switch {
			case err == nil:
			case errors.Is(err, holdfast.ErrUnavailable) && took > window:
				busy = err
			default:
				t.Error(err)
			}
		}
		if busy != nil && won.Load() == 0 {
			rounds++
			if slow++; slow > 160 {
				t.Fatalf("%d rounds were slow and had no quorum: %v", slow, busy)
			}
			continue
		}
		switch n := won.Load(); {
		case n == 0:
			none++
		case n > 1:
			t.Errorf("round %d: %d of %d clients got the set, want one", round, n, len(clients))
		}
	}
	if none > 4 {
		t.Errorf("in %d of 80 rounds 0 of %d clients got the set", none, len(clients))
	}
}

func TestWrongNamesForSeveralLocksAreErrors(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1)
	c := s.ready(s.client(calm))
	many := make([]string, 100_000)
	for i := range many {
		many[i] = fmt.Sprint("n", i)
	}
	for _, wrong := range []struct {
		names []string
		says  string
	}{
		{nil, "no names"}, {[]string{"a", ""}, "name is empty"}, {[]string{"a", "{x"}, "unbalanced braces"},
		{many, "100000 names; at most 256"}, {many[:257], "257 names"}, {[]string{"holdfast:node:x", "a"}, "holdfast:node"},
	} {
		for what, take := range map[string]func(context.Context, []string, ...holdfast.Option) (*holdfast.LeaseSet, error){
			"LockAll": c.LockAll, "TryLockAll": c.TryLockAll,
		} {
			if _, err := take(t.Context(), wrong.names); !errors.Is(err, holdfast.ErrBadName) || !strings.Contains(err.Error(), wrong.says) {
				t.Errorf("%s: %.100v; want %q", what, err, wrong.says)
			}
		}
	}
	if _, err := c.LockAll(t.Context(), []string{"a", "b"}, holdfast.WithTTL(time.Hour)); !errors.Is(err, holdfast.ErrBadTTL) {
		t.Errorf("a TTL of an hour: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.LockAll(ended, []string{"a", "b"}); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
	// Names that differ only by a prefix are different locks, and so is a name that contains Config.Prefix.
	prefixed := s.ready(s.client(calm, func(c *holdfast.Config) { c.Prefix = "app/" }))
	set, err := prefixed.TryLockAll(t.Context(), []string{"x", "app/x", "xx", "x/"})
	if err != nil || len(set.Names()) != 4 {
		t.Fatalf("names that differ by a prefix: %v", err)
	}
	if _, err := c.Mutex("app/app/x").TryLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
		t.Errorf("the whole name: %v", err)
	}
	set.Unlock(t.Context())
	c.Close()
	if _, err := c.LockAll(t.Context(), []string{"a", "b"}); !errors.Is(err, holdfast.ErrClosed) {
		t.Errorf("a closed client: %v", err)
	}
	s.forgetAll([]string{"a", "b"})
}
