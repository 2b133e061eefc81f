package e2e

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// This file has hash slots that came lately without the record of a lock whose holder is cut off, and what other callers
// leave behind there.

// holders is the user of a client that cutOff ends.
var holders = redistest.User("holder", "pw", "~*", "&*", "+@all")

func (c *cluster) holder() *holdfast.Client {
	return c.clientOf(strings.Replace(c.url(), "://", "://holder:pw@", 1))
}

func (c *cluster) cutOff() {
	for _, s := range c.Servers() {
		_, _ = s.Do("ACL", "SETUSER", "holder", "off") // a server may be dead
		_, _ = s.Do("CLIENT", "KILL", "USER", "holder")
	}
}

// A waiter that gives up sends a release. It must not look as if the server knew the name.
func TestAReleaseMakesNoRecordInASlotThatCameLately(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 0, holders)
	b, name := c.client(), names("n", 1)[0]
	to := c.other(name)
	l := lock(t, c.holder(), name)
	c.cutOff()
	c.comes(name, to)
	to.MustDo(t, "CLUSTER", "SETSLOT", redistest.Slot(name), "NODE", c.ID(to)) // by force
	for _, take := range []func(context.Context) (*holdfast.Lease, error){b.Mutex(name).Lock, b.Mutex(name).RLock} {
		ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
		if second, err := take(ctx); err == nil && l.Context().Err() == nil {
			t.Errorf("two holders: tokens %d and %d", l.Fence(), second.Fence())
		}
		cancel()
	}
	c.excludes(l, b, name)
}

// The question of a second waiter gives no claim of a slot without a record to the first one.
func TestAClaimMakesNoRecordInASlotThatCameLately(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 0, holders)
	name := names("n", 1)[0]
	slot, to, queue := redistest.Slot(name), c.other(name), nodescript.SlotsQueueKey(name)
	l, err := c.holder().Semaphore(name, 1).TryAcquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithDeadline(t.Context(), l.Deadline())
	defer cancel()
	got := make(chan *holdfast.Lease, 2)
	for i, waiter := range []*holdfast.Client{c.client(), c.client()} {
		go func() {
			second, _ := waiter.Semaphore(name, 1, holdfast.WaitThroughOutages()).Acquire(ctx)
			got <- second
		}()
		redistest.Eventually(t, 10*time.Second, "a waiter", func() bool {
			n, _ := c.master(name).Do("ZCARD", queue)
			return n == int64(i+1)
		})
	}
	c.cutOff()
	from := c.comes(name, to)
	c.send(from, to, queue)
	to.MustDo(t, "CLUSTER", "SETSLOT", slot, "NODE", c.ID(to)) // by force: the record of the slot stays behind
	for range 2 {
		if second := <-got; second != nil && time.Now().Before(l.Deadline()) {
			t.Errorf("two holders: tokens %d and %d", l.Fence(), second.Fence())
		}
	}
}

// The clock of the new master goes back by less than Window, so the slot seems to come later.
func TestAClockThatGoesBackGrantsNoNameWithoutARecord(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 0, holders, redistest.WithClock())
	b, name := c.client(), names("n", 1)[0]
	to := c.other(name)
	l := lock(t, c.holder(), name)
	c.cutOff()
	c.comes(name, to)
	to.MustDo(t, "CLUSTER", "SETSLOT", redistest.Slot(name), "NODE", c.ID(to)) // by force: the record stays behind
	admission := nodescript.SlotGuard(redistest.Slot(name)) + ":admission"
	var came string
	redistest.Eventually(t, 10*time.Second, "the slot to be admitted", func() (is bool) {
		_, _ = b.Mutex(name).TryLock(t.Context())
		came, is = to.MustDo(t, "HGET", admission, "came").(string)
		return is
	})
	at, err := strconv.ParseInt(came, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	to.SetClock(at - 50_000)
	c.excludes(l, b, name)
}

// A slot came lately to a master that may have forgotten what came. It moves on, and its admission goes first. The guard
// that is left does not vote alone.
func TestASlotWhoseAdmissionHasLeftGrantsNothing(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, 0)
	b := c.client(func(cfg *holdfast.Config) { cfg.Private = true })
	name := names("n", 1)[0]
	if err := lock(t, b, name).Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.move(c.other(name), name)
	admission := nodescript.SlotGuard(redistest.Slot(name)) + ":admission"
	redistest.Eventually(t, 10*time.Second, "the slot to be admitted", func() bool {
		l, err := b.Mutex(name).TryLock(t.Context())
		return err == nil && l.Unlock(t.Context()) == nil
	})
	c.master(name).MustDo(t, "HSET", admission, "settled", "0") // as if it had been a replica before
	if _, err := b.Mutex(name).TryLock(t.Context()); !errors.Is(err, holdfast.ErrUnavailable) {
		t.Fatalf("a name of a server that is not settled: %v", err)
	}
	m, err := c.BeginMove(t.Context(), redistest.Slot(name), c.other(name))
	if err != nil {
		t.Fatal(err)
	}
	c.send(m.From, m.To, admission) // the keys of a slot have no order
	for began := time.Now(); time.Since(began) < 2*time.Second; time.Sleep(20 * time.Millisecond) {
		if l, err := b.Mutex(name).TryLock(t.Context()); err == nil {
			t.Fatalf("the name was granted with token %d", l.Fence())
		}
	}
}

// All keys of a slot are still there while it is open. So a new client gets an answer of it, and the lease goes on.
func TestAnOpenSlotIsAdmitted(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, 0)
	name := names("n", 1)[0]
	l := lock(t, c.client(), name)
	if _, err := c.BeginMove(t.Context(), redistest.Slot(name), c.other(name)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.client().Mutex(name).TryLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
		t.Errorf("a new client: %v, want the holder", err)
	}
	renews(t, l)
}

// A master that was promoted loses its last replica. repl-backlog-ttl later (1 h by default) its replication id changes,
// although it has copied nothing. The next client ends no lease.
func TestAMasterThatChangesItsReplicationIDHasKeptItsMemory(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, 1, redistest.Args("--repl-backlog-ttl", "1"))
	short := func(cfg *holdfast.Config) { cfg.MaxTTL = 3 * time.Second }
	name := names("n", 1)[0]
	former := c.master(name)
	next, err := c.Failover(t.Context(), former)
	if err != nil {
		t.Fatal(err)
	}
	c.AwaitSettled()
	l := lock(t, c.client(short), name, holdfast.WaitThroughOutages())
	id := func() string {
		_, rest, _ := strings.Cut(next.MustDo(t, "INFO", "replication").(string), "master_replid:")
		return rest[:40]
	}
	before := id()
	former.Kill() // only a replica now
	redistest.Eventually(t, 20*time.Second, "another replication id", func() bool { return id() != before })
	if _, err := c.client(short).Mutex(name).TryLock(t.Context()); !errors.Is(err, holdfast.ErrHeld) {
		t.Errorf("a new client: %v, want the holder", err)
	}
	renews(t, l)
}

// A lease whose record stayed behind is renewed with a shorter TTL than before, so its new record ends before its deadline.
// The answer is lost, because the holder is cut off.
func TestARenewalHidesNoMissingRecordInASlotThatCameLately(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 0, holders)
	set := nodescript.Config{N: 1, Sharded: true, MaxTTL: 40 * time.Second}
	long := func(cfg *holdfast.Config) {
		cfg.MaxTTL, cfg.TTL, set.Window, set.Cluster = set.MaxTTL, set.MaxTTL, cfg.Window, cfg.Cluster
	}
	name := names("n", 1)[0]
	from, to, b := c.master(name), c.other(name), c.client(long)
	l := lock(t, c.clientOf(strings.Replace(c.url(), "://", "://holder:pw@", 1), long), name)
	record := from.MustDo(t, "GET", nodescript.RecordKey(name)).(string)
	c.cutOff()
	c.comes(name, to)
	to.MustDo(t, "CLUSTER", "SETSLOT", redistest.Slot(name), "NODE", c.ID(to)) // by force
	admission := nodescript.SlotGuard(redistest.Slot(name)) + ":admission"
	redistest.Eventually(t, 20*time.Second, "the admission of the slot", func() bool {
		if _, err := b.Mutex(name).TryLock(t.Context()); err == nil {
			t.Fatal("a second holder got the lock")
		}
		came, _ := to.Do("HGET", admission, "came")
		return came != nil
	})
	run, _ := to.MustDo(t, "HGET", admission, "run").(string)
	at := to.MustDo(t, "TIME").([]any)
	seconds, _ := strconv.ParseInt(at[0].(string), 10, 64)
	token, now := l.Fence(), seconds*1_000_000
	call := nodescript.ExtendCall(nodescript.Lock{Name: name}, record[65:], int64(token), now, now+30_000_000, 8*set.Window, set.Window)
	keys := nodescript.ShardedKeys(call.Keys)
	args := []any{"EVALSHA", nodescript.NewScripts(set, run).SHA(call.Op), len(keys)}
	for _, s := range append(keys, call.Args...) {
		args = append(args, s)
	}
	if said, _ := to.MustDo(t, args...).(string); !strings.HasPrefix(said, "R") {
		t.Fatalf("the renewal: %q, want R", said)
	}
	lives(t, l)
	c.excludes(l, b, name)
}
