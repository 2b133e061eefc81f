package e2e

import (
	"strconv"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/verdict"
)

// This file moves hash slots whose records may be incomplete on their new shard. It must not vote for them at once.

// forgets fails the test unless the shard of a name says that its records may be incomplete. Without that it would only
// grant no name without a record for a while.
func (c *cluster) forgets(name string) {
	c.t.Helper()
	if a := c.refuses(c.client(), name); a.Cause != verdict.CauseRestarted {
		c.t.Errorf("a shard that may have forgotten locks says %q; want the cause %q", a, verdict.CauseRestarted)
	}
}

// The guard of a slot has moved, and a record has not. Then the source restarts without its data.
func TestASlotOfARestartedSourceIsQuarantined(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, 0)
	name := names("n", 1)[0]
	lock(t, c.client(), name)
	move := c.guards(name, c.other(name))
	move.From.Kill()
	move.From.Restart()
	c.AwaitSettled()
	c.finish(move)
	c.forgets(name)
}

// The guard of a slot has moved, and a record has not. Then the source evicts the record.
func TestASlotOfASourceThatEvictedKeysIsQuarantined(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, 0)
	name := names("n", 1)[0]
	lock(t, c.client(), name)
	move := c.guards(name, c.other(name))
	move.From.MustDo(t, "CONFIG", "SET", "maxmemory", "100kb", "maxmemory-policy", "allkeys-random")
	redistest.Eventually(t, 20*time.Second, "the record to be evicted", func() bool {
		return move.From.MustDo(t, "CLUSTER", "COUNTKEYSINSLOT", redistest.Slot(name)) == int64(0)
	})
	move.From.MustDo(t, "CONFIG", "SET", "maxmemory", "0", "maxmemory-policy", "noeviction")
	c.finish(move)
	c.forgets(name)
}

// The source was a replica in between, so its data came from another server, which may have lacked writes.
func TestASlotOfASourceThatWasAReplicaIsQuarantined(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, 1)
	name := names("n", 1)[0]
	before := c.client()
	if err := lock(t, before, name).Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	before.Close()
	from := c.master(name)
	move := c.guards(name, c.other(name))
	// A master that imports a slot does not learn of a failover there.
	move.To.MustDo(t, "CLUSTER", "SETSLOT", move.Slot, "STABLE")
	for _, master := range []*redistest.Server{from, c.Servers()[3]} { // there, and back
		if _, err := c.Failover(t.Context(), master); err != nil {
			t.Fatal(err)
		}
		c.AwaitSettled()
	}
	if c.master(name) != from {
		t.Fatal("the source is not the master again")
	}
	move, err := c.BeginMove(t.Context(), move.Slot, move.To)
	if err != nil {
		t.Fatal(err)
	}
	c.finish(move)
	c.refuses(c.client(), name)
}

// The clock of the target differs from that of the source by more than 2 W. The leases would end at another time there.
func TestASlotIsQuarantinedWhereTheClockDiffers(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, 0, redistest.WithClock())
	list := names("n", 2)
	ahead, behind := c.Servers()[1], c.Servers()[2]
	ahead.Step(3 * window)
	behind.Step(-3 * window)
	a, b := c.client(), c.client()
	for to, name := range map[*redistest.Server]string{ahead: list[0], behind: list[3]} { // both names are on the first shard
		l := lock(t, a, name)
		c.move(to, name)
		c.refuses(b, name)
		ends(t, l)
	}
}

// An operator gives a slot to another master without its keys.
func TestASlotWithoutItsKeysIsQuarantined(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, 0)
	name := names("n", 1)[0]
	l := lock(t, c.client(), name)
	slot, from, to := redistest.Slot(name), c.master(name), c.other(name)
	to.MustDo(t, "CLUSTER", "SETSLOT", slot, "NODE", c.ID(to))
	to.MustDo(t, "CLUSTER", "BUMPEPOCH")
	redistest.Eventually(t, 20*time.Second, "the slot to have its new master", func() bool {
		return c.Settled() && c.MasterOf(slot) == to && from.MustDo(t, "CLUSTER", "COUNTKEYSINSLOT", slot) == int64(0)
	})
	c.refuses(c.client(), name)
	ends(t, l)
}

// until returns the end of a slot's quarantine as its master stores it, in µs, and the time of its clock. It is 0 if the
// slot votes.
func (c *cluster) until(name string) (until, now time.Duration) {
	c.t.Helper()
	s := c.master(name)
	text, _ := s.MustDo(c.t, "HGET", nodescript.SlotGuard(redistest.Slot(name))+":admission", "until").(string)
	us, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		c.t.Fatalf("a quarantine until %q", text)
	}
	at := s.MustDo(c.t, "TIME").([]any)
	seconds, _ := strconv.ParseInt(at[0].(string), 10, 64)
	return time.Duration(us) * time.Microsecond, time.Duration(seconds) * time.Second
}

// begun waits until the slot of a name is in quarantine.
func (c *cluster) begun(name string) {
	c.t.Helper()
	redistest.Eventually(c.t, time.Minute, "the quarantine of a slot that nobody has asked for", func() bool {
		s := c.MasterOf(redistest.Slot(name))
		if s == nil {
			return false
		}
		until, _ := s.Do("HGET", nodescript.SlotGuard(redistest.Slot(name))+":admission", "until")
		text, _ := until.(string)
		return text != "" && text[0] != '9' // 9999999999999999: it has not begun
	})
}

func TestAQuarantineGoesOnAfterAMove(t *testing.T) {
	t.Parallel()
	c := bareCluster(t, 3, 0, redistest.NodeTimeout(time.Minute))
	name := names("n", 1)[0]
	client := c.client(func(cfg *holdfast.Config) { cfg.MaxTTL = time.Minute }) // the test ends before the quarantine
	c.refuses(client, name)
	began, _ := c.until(name)
	redistest.Eventually(t, 20*time.Second, "a part of the quarantine", func() bool {
		_, now := c.until(name)
		return began-now < 57*time.Second // a quarantine that begins now would end three seconds later
	})
	before := began
	for range 2 {
		to := c.other(name)
		c.move(to, name)
		c.refuses(client, name)
		after, _ := c.until(name)
		if after < before || after > before+3*window {
			t.Errorf("after a move the quarantine ends %s later, want at most %s", after-before, 3*window)
		}
		before = after
	}
}
