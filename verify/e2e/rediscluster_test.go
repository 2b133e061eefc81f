package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/election"
	"github.com/holdfast-go/holdfast/internal/leasetest"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/job"
)

// This file has every kind of lock on a Redis Cluster.

func TestLocksOnARedisClusterExcludeEachOther(t *testing.T) {
	t.Parallel()
	c := sharedCluster(t)
	a, b := c.client(), c.client()
	for _, name := range names(t.Name(), 2) {
		l := lock(t, a, name)
		if _, err := b.Mutex(name).TryLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
			t.Errorf("TryLock of a held lock: %v, want ErrHeld", err)
		}
		if s, err := b.Status(t.Context(), name); err != nil || !s.Held || s.Holder().Owner != l.Owner() {
			t.Errorf("the status is %+v, %v; want the holder %s", s, err, l.Owner())
		}
		waiter := eventually(t, b.Mutex(name).Lock)
		c.inLine(name, 1)
		if err := l.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		next := comes(t, waiter, "the waiter")
		if next.Fence() <= l.Fence() {
			t.Errorf("the token %d comes after %d", next.Fence(), l.Fence())
		}
		if err := next.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		if s, err := a.Status(t.Context(), name); err != nil || s.Held {
			t.Errorf("the status after Unlock is %+v, %v", s, err)
		}
	}
}

func TestASemaphoreOnARedisClusterHasKHolders(t *testing.T) {
	t.Parallel()
	c := sharedCluster(t)
	a, b := c.client(), c.client()
	for _, name := range names(t.Name(), 1) {
		take := func(client *holdfast.Client) *holdfast.Lease {
			t.Helper()
			l, err := client.Semaphore(name, 2).Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return l
		}
		first, second := take(a), take(b)
		if first.Slot() == second.Slot() {
			t.Errorf("both holders have slot %d", first.Slot())
		}
		if _, err := a.Semaphore(name, 2).TryAcquire(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
			t.Errorf("a third holder: %v, want ErrHeld", err)
		}
		if s, err := b.Semaphore(name, 2).Status(t.Context()); err != nil || len(s.Holders) != 2 {
			t.Errorf("the status has %d holders, %v; want 2", len(s.Holders), err)
		}
		waiter := eventually(t, b.Semaphore(name, 2).Acquire)
		if err := first.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		third := comes(t, waiter, "a waiter for a slot")
		for _, l := range []*holdfast.Lease{second, third} {
			if err := l.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestReadersOnARedisClusterExcludeWriters(t *testing.T) {
	t.Parallel()
	c := sharedCluster(t)
	a, b := c.client(), c.client()
	for _, name := range names(t.Name(), 1) {
		w := lock(t, a, name)
		if _, err := b.Mutex(name).TryRLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
			t.Errorf("a reader beside a writer: %v, want ErrHeld", err)
		}
		if err := w.Downgrade(t.Context()); err != nil {
			t.Fatal(err)
		}
		r, err := b.Mutex(name).RLock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Mutex(name).TryLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
			t.Errorf("a writer beside readers: %v, want ErrHeld", err)
		}
		if s, err := a.Status(t.Context(), name); err != nil || s.Readers != 2 {
			t.Errorf("the status has %d readers, %v; want 2", s.Readers, err)
		}
		writer := eventually(t, a.Mutex(name, holdfast.Reentrant(false)).Lock)
		for _, l := range []*holdfast.Lease{w, r} {
			if err := l.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if l := comes(t, writer, "a writer after the readers"); l.Fence() <= r.Fence() {
			t.Errorf("the writer's token %d is not above the reader's %d", l.Fence(), r.Fence())
		} else if err := l.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestLockAllTakesNamesOfSeveralShards(t *testing.T) {
	t.Parallel()
	c := sharedCluster(t)
	a, b := c.client(), c.client()
	list := names(t.Name(), 2)
	back := slices.Clone(list)
	slices.Reverse(back)
	both := make(chan error, 2)
	inside := make(chan struct{}, 1) // has room for one holder of the locks
	for client, order := range map[*holdfast.Client][]string{a: list, b: back} {
		go func() {
			var err error
			for i := 0; i < 5 && err == nil; i++ {
				err = client.DoAll(t.Context(), order, func(context.Context) error {
					select {
					case inside <- struct{}{}:
						<-inside
						return nil
					default:
						return errors.New("two clients have the locks")
					}
				})
			}
			both <- err
		}()
	}
	for range 2 {
		select {
		case err := <-both:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(time.Minute):
			t.Fatal("two clients that take the same names in different orders wait for each other")
		}
	}
	held := lock(t, a, list[4])
	if _, err := b.TryLockAll(t.Context(), list); !errors.Is(err, holdfast.ErrHeld) {
		t.Errorf("TryLockAll with a held lock: %v, want ErrHeld", err)
	}
	for i, name := range list {
		redistest.Eventually(t, 10*time.Second, "a failed TryLockAll to leave nothing", func() bool {
			s, err := a.Status(t.Context(), name)
			return err == nil && s.Held == (i == 4)
		})
	}
	if err := held.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
	set, err := b.LockAll(t.Context(), list)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range list {
		if set.Fence(name) == 0 {
			t.Errorf("%q has no token", name)
		}
	}
	if err := set.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestValuesAreKeptOnARedisCluster(t *testing.T) {
	t.Parallel()
	c := sharedCluster(t)
	a, b := c.client(), c.client()
	list := names(t.Name(), 1)
	for _, name := range list {
		for i, client := range []*holdfast.Client{a, b, a} {
			l := lock(t, client, name)
			if v, err := l.Load(t.Context()); err != nil || len(v) != i {
				t.Errorf("value %q, %v; want %d bytes", v, err, i)
			}
			if err := l.Store(t.Context(), []byte(strings.Repeat("v", i+1))); err != nil {
				t.Error(err)
			}
			if err := l.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if v, err := b.Value(t.Context(), name); err != nil || string(v) != "vvv" {
			t.Errorf("value %q, %v; want vvv", v, err)
		}
	}
	found, err := admin.NamesWithValue(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range list {
		if !slices.Contains(found, name) {
			t.Errorf("%q is not in the list of names with values", name)
		}
	}
}

func TestALeaseOnARedisClusterIsReentrant(t *testing.T) {
	t.Parallel()
	c := sharedCluster(t).client()
	for _, name := range names(t.Name(), 1) {
		err := c.Mutex(name).Do(t.Context(), func(ctx context.Context) error {
			outer, _ := holdfast.FromContext(ctx)
			return c.Mutex(name).Do(ctx, func(ctx context.Context) error {
				if inner, ok := holdfast.FromContext(ctx); !ok || inner.Fence() != outer.Fence() {
					t.Errorf("the inner lease is %v, the outer one %v", inner, outer)
				}
				return nil
			})
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestOneCandidateLeadsOnARedisCluster(t *testing.T) {
	t.Parallel()
	c := sharedCluster(t)
	name := names(t.Name(), 1)[0]
	a, b := election.New(c.client(), name), election.New(c.client(), name)
	termsOfA := followed(t, a)
	first := next(t, termsOfA)
	termsOfB := followed(t, b)
	c.inLine(name, 1)
	if l, err := b.Leader(t.Context()); err != nil || l.Term != first {
		t.Errorf("the leader is %+v, %v; want term %d", l, err, first)
	}
	if err := a.Resign(t.Context()); err != nil {
		t.Fatal(err)
	}
	if second := next(t, termsOfB); second <= first {
		t.Errorf("term %d comes after %d", second, first)
	}
}

func TestATickRunsOnceOnARedisCluster(t *testing.T) {
	t.Parallel()
	c := sharedCluster(t)
	clients := []*holdfast.Client{c.client(), c.client()}
	tick := time.Now().Truncate(time.Minute)
	for _, name := range names(t.Name(), 1) {
		runs := 0
		for i := range 4 {
			ran, err := job.Once(t.Context(), clients[i%2], name, tick, func(context.Context, job.Tick) error { runs++; return nil })
			if err != nil || ran != (i == 0) {
				t.Errorf("call %d: ran %t, %v", i, ran, err)
			}
		}
		if runs != 1 {
			t.Errorf("the tick ran %d times", runs)
		}
	}
}

func TestAListHasTheLocksOfAllShards(t *testing.T) {
	t.Parallel()
	c := sharedCluster(t)
	a, b := c.client(), c.client()
	want := map[string]string{}
	list := names(t.Name(), 3)
	for _, name := range list {
		want[name] = lock(t, a, name).Owner()
	}
	slot, err := a.Semaphore(list[1]+"-of-two", 2).Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want[slot.Name()] = slot.Owner()
	got := map[string]string{}
	for one, err := range admin.List(t.Context(), b, admin.ListOptions{Pattern: t.Name() + "/*"}) {
		if err != nil {
			t.Fatal(err)
		}
		if _, twice := got[one.Name]; twice {
			t.Errorf("%q is in the list twice", one.Name)
		}
		got[one.Name] = one.Holder().Owner
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the list has %v, want %v", got, want)
	}
}

func TestAnOperatorEndsALeaseOnARedisCluster(t *testing.T) {
	t.Parallel()
	c := sharedCluster(t)
	a, b := c.client(), c.client()
	for _, name := range names(t.Name(), 1) {
		l := lock(t, a, name)
		waiter := eventually(t, b.Mutex(name).Lock)
		c.inLine(name, 1)
		done, err := admin.Unlock(t.Context(), b, name, admin.UnlockOptions{})
		if err != nil || len(done.Holders) != 1 || done.Holders[0].Owner != l.Owner() {
			t.Fatalf("Unlock: %+v, %v; want the holder %s", done, err, l.Owner())
		}
		if next := comes(t, waiter, "the waiter"); next.Fence() <= l.Fence() {
			t.Errorf("the token %d comes after %d", next.Fence(), l.Fence())
		}
		select {
		case <-l.Context().Done():
		case <-time.After(10 * time.Second):
			t.Error("the old holder does not learn of it")
		}
		if cause := context.Cause(l.Context()); !errors.Is(cause, holdfast.ErrLost) {
			t.Errorf("the old lease ended with %v, want ErrLost", cause)
		}
	}
}

func TestObserversHearOfLeasesOnAllShards(t *testing.T) {
	t.Parallel()
	c := sharedCluster(t)
	w := &witness{}
	client := c.client(func(cfg *holdfast.Config) { cfg.Observers = []holdfast.Observer{w.observer()} })
	list := names(t.Name(), 1)
	for i, name := range list {
		l := lock(t, client, name)
		if e := w.await(t, holdfast.EventAcquired, i+1); e.Name != name || e.Fence != l.Fence() {
			t.Errorf("the observer hears of %q with token %d, want %q with %d", e.Name, e.Fence, name, l.Fence())
		}
		w.await(t, holdfast.EventRenewed, 1)
		if err := l.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		if e := w.await(t, holdfast.EventReleased, i+1); e.Name != name || e.Fence != l.Fence() {
			t.Errorf("the observer hears of the release of %q with token %d, want %q with %d", e.Name, e.Fence, name, l.Fence())
		}
	}
}

func TestUnlockAtKeepsANameOfAShardTaken(t *testing.T) {
	t.Parallel()
	c := sharedCluster(t)
	a, b := c.client(), c.client()
	for _, name := range names(t.Name(), 1) {
		l := lock(t, a, name)
		now, err := a.Now(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		until := now.Add(time.Second)
		if err := l.UnlockAt(t.Context(), until); err != nil {
			t.Fatal(err)
		}
		next := lock(t, b, name)
		if token := time.UnixMicro(next.Fence()); token.Before(until) {
			t.Errorf("the next lease began at %s, before %s", token, until)
		}
		if err := next.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestClientsWithDifferentSeedsShareALock(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, 0)
	s := c.Servers()
	own := func(cfg *holdfast.Config) { cfg.Cluster = "" } // the default name of a Redis Cluster
	list := names(t.Name(), 1)
	a, b := c.clientOf(c.url(s[0]), own), c.clientOf(c.url(s[2], s[1]), own)
	for _, name := range list {
		l := lock(t, a, name)
		if _, err := b.Mutex(name).TryLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
			t.Errorf("TryLock through other servers: %v, want ErrHeld", err)
		}
		if err := l.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		if err := lock(t, b, name).Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	}
	for _, client := range []*holdfast.Client{a, b} {
		leasetest.AllVote(t, client, time.Minute)
	}
}
