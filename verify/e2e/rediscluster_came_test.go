package e2e

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/verdict"
)

// This file has hash slots of which only a part has come, or whose new master forgets what came. The guard and the
// admission of a slot came first.

// comes moves the guard and the admission of a name's slot, and no other key.
func (c *cluster) comes(name string, to *redistest.Server) (from *redistest.Server) {
	c.t.Helper()
	slot := redistest.Slot(name)
	from = c.master(name)
	to.MustDo(c.t, "CLUSTER", "SETSLOT", slot, "IMPORTING", c.ID(from))
	from.MustDo(c.t, "CLUSTER", "SETSLOT", slot, "MIGRATING", c.ID(to))
	guard := nodescript.SlotGuard(slot)
	c.send(from, to, guard, guard+":admission", guard+":kept")
	return from
}

func (c *cluster) send(from, to *redistest.Server, keys ...string) {
	c.t.Helper()
	host, port, _ := net.SplitHostPort(to.Addr())
	args := []any{"MIGRATE", host, port, "", 0, 2000, "KEYS"}
	for _, k := range keys {
		args = append(args, k)
	}
	from.MustDo(c.t, args...)
}

// excludes fails if another client gets the name while the first holder relies on its lease.
func (c *cluster) excludes(l *holdfast.Lease, other *holdfast.Client, name string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 5*time.Second)
	defer cancel()
	for ctx.Err() == nil {
		if _, err := other.Mutex(name).TryLock(ctx); err != nil {
			time.Sleep(5 * time.Millisecond)
		} else if context.Cause(l.Context()) == nil && time.Now().Before(l.Deadline()) {
			c.t.Fatalf("a second holder got the lock %s before the deadline of the first", time.Until(l.Deadline()))
		} else {
			return
		}
	}
}

func TestANameWhoseRecordStayedBehindIsNotGranted(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 0)
	a, b := c.client(), c.client()
	name := names("n", 1)[0]
	to := c.other(name)
	l := lock(t, a, name)
	c.comes(name, to)
	to.MustDo(t, "CLUSTER", "SETSLOT", redistest.Slot(name), "NODE", c.ID(to)) // by force
	c.excludes(l, b, name)
}

func TestAMasterThatRestartsInTheMiddleOfAMoveGrantsNoNameOfTheSlot(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, 0)
	long := func(cfg *holdfast.Config) { cfg.MaxTTL, cfg.TTL = 30*time.Second, 30*time.Second }
	a, b := c.client(long), c.client(long)
	name := names("n", 1)[0]
	slot, to := redistest.Slot(name), c.other(name)
	l := lock(t, a, name)
	from := c.comes(name, to)
	to.MustDo(t, "SAVE")
	for _, k := range from.MustDo(t, "CLUSTER", "GETKEYSINSLOT", slot, 100).([]any) {
		c.send(from, to, k.(string))
	}
	to.MustDo(t, "CLUSTER", "SETSLOT", slot, "NODE", c.ID(to))
	from.MustDo(t, "CLUSTER", "SETSLOT", slot, "NODE", c.ID(to))
	to.Kill()
	to.Restart()
	c.excludes(l, b, name)
}

// A slot that nobody has used comes to a shard beside the slots of two names. Its quarantine does not end the guard of the
// others, and a look at the shards does not either. The look reports the quarantine, although the last of the slots, which
// nobody uses, has only come.
func TestASweepSparesTheSlotsThatCame(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 0)
	slow := func(cfg *holdfast.Config) {
		cfg.Window, cfg.TTL, cfg.MaxTTL = time.Second, 20*time.Second, time.Minute
	}
	a, b := c.client(slow), c.client(slow)
	name, idle, unused := names("n", 1)[0], names("i", 1)[0], names("u", 1)[0]
	l := lock(t, a, name)
	if err := lock(t, a, idle).Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	from := c.master(name)
	c.move(from, unused, idle)
	guard := nodescript.SlotGuard(redistest.Slot(unused))
	from.MustDo(t, "DEL", guard, guard+":admission", guard+":kept")
	to := c.other(name)
	c.move(to, unused, name, idle)
	if _, err := b.Mutex(unused).TryLock(t.Context()); !errors.Is(err, holdfast.ErrUnavailable) {
		t.Fatalf("the unused slot: %v, want its quarantine", err)
	}
	quarantined := 0
	for _, a := range admin.Nodes(t.Context(), c.client(slow)) {
		if a.Reason == verdict.ReasonQuarantined && a.Cause == verdict.CauseSlots {
			quarantined++
		}
	}
	if quarantined != 1 {
		t.Errorf("%d shards have slots in quarantine, want 1", quarantined)
	}
	if err := l.Extend(t.Context(), 20*time.Second); err != nil {
		t.Fatalf("the lease is lost: %v", err)
	}
}

// A hash slot came from a master that fails for good, and nobody has used it since. It has a quarantine, although nobody
// can say whether the master had kept its memory. As long as the cluster does not call the master failed, the refusal
// says which server does not answer.
func TestASlotWhoseFormerMasterHasFailedIsQuarantined(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, 0, redistest.Args("--cluster-require-full-coverage", "no"))
	name := names("n", 1)[0]
	from := c.master(name)
	if err := lock(t, c.client(), name).Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	living := slices.DeleteFunc(names("m", 1), func(n string) bool { return c.master(n) == from })[0]
	c.move(c.other(name), name)
	from.Kill()
	client := c.client()
	if _, err := client.Mutex(name).TryLock(t.Context()); err == nil || !strings.Contains(err.Error(), "perhaps "+from.Addr()+", which does not answer") && !strings.Contains(err.Error(), "quarantine") {
		t.Errorf("%v, want the server that does not answer", err)
	}
	c.refuses(client, name)
	held := lock(t, client, living)
	listed := 0
	for one, err := range admin.List(t.Context(), client, admin.ListOptions{}) {
		switch {
		case err != nil && listed == 0:
			t.Errorf("a list without the shard that has failed: %v before the lock of another one", err)
		case err == nil && one.Name == held.Name():
			listed++
		}
	}
}
