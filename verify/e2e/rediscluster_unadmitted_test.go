package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// This file moves a hash slot to a master that admits it, grants a lock, and then loses these last writes. The source
// of the slot still proves its memory, but this proof says nothing about the writes that are lost.

// The replica of the new master has got the slot, but not its admission and the lock.
func TestAReplicaThatLacksTheAdmissionOfASlotIsQuarantined(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, 1)
	name := names("n", 1)[0]
	to := c.other(name)
	_ = lock(t, c.client(), name).Unlock(t.Context())
	replica := c.ReplicasOf(to)[0]
	c.move(to, name)
	to.MustDo(t, "WAIT", 1, 5000)
	replica.Freeze()
	to.MustDo(t, "CLIENT", "KILL", "TYPE", "replica")
	old := lock(t, c.client(), name)
	to.Kill()
	replica.Thaw()
	redistest.Eventually(t, 20*time.Second, "a takeover", func() bool { return c.MasterOf(redistest.Slot(name)) == replica })
	lives(t, old)
	c.refuses(c.client(), name)
}

// The new master restarts with data that contain the slot, but not its admission and the lock.
func TestAMasterThatForgotTheAdmissionOfASlotIsQuarantined(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, 0)
	name := names("n", 1)[0]
	to := c.other(name)
	_ = lock(t, c.client(), name).Unlock(t.Context())
	c.move(to, name)
	to.MustDo(t, "SAVE")
	old := lock(t, c.client(), name)
	to.Kill()
	to.Restart()
	c.AwaitSettled()
	lives(t, old)
	c.refuses(c.client(), name)
}

// A former master becomes a replica, gets the data of its successor, and is the master again. Nobody used the name
// meanwhile.
func TestAMasterThatWasAReplicaForAMomentIsQuarantined(t *testing.T) {
	t.Parallel()
	c := bareCluster(t, 3, 1)
	long := func(cfg *holdfast.Config) { cfg.MaxTTL, cfg.TTL = 24*time.Second, 24*time.Second }
	name := names("n", 1)[0]
	master := c.master(name)
	replica := c.ReplicasOf(master)[0]
	_ = lock(t, c.client(long), name, holdfast.WaitThroughOutages()).Unlock(t.Context())
	master.MustDo(t, "WAIT", 1, 5000)
	replica.Freeze()
	master.MustDo(t, "CLIENT", "KILL", "TYPE", "replica")
	holder := c.client(long)
	old := lock(t, holder, name)
	master.Freeze()
	replica.Thaw()
	redistest.Eventually(t, 20*time.Second, "a takeover", func() bool {
		replica.MustDo(t, "CLUSTER", "FAILOVER", "TAKEOVER")
		time.Sleep(100 * time.Millisecond)
		return replica.Role() == "master"
	})
	master.Thaw()
	redistest.Eventually(t, 20*time.Second, "a replica", func() bool { return master.Role() == "slave" })
	if _, err := c.Failover(t.Context(), replica); err != nil {
		t.Fatal(err)
	}
	redistest.Eventually(t, 20*time.Second, "the first master", func() bool { return c.MasterOf(redistest.Slot(name)) == master })
	lives(t, old)
	c.refuses(c.client(long), name)
}

// A slot moves on from a master that has forgotten its admission and a lock of it, and has admitted it again. The next
// master knows nothing of that lock either, whose holder is cut off.
func TestASlotThatLostWritesAndMovesOnGrantsNothing(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, 1, holders)
	long := func(cfg *holdfast.Config) { cfg.MaxTTL, cfg.TTL = 40*time.Second, 40*time.Second }
	name := names("n", 1)[0]
	first, to := c.master(name), c.other(name)
	replica, other := c.ReplicasOf(to)[0], c.client(long)
	_ = lock(t, other, name).Unlock(t.Context())
	c.move(to, name)
	to.MustDo(t, "WAIT", 1, 5000)
	replica.Freeze()
	to.MustDo(t, "CLIENT", "KILL", "TYPE", "replica")
	old := lock(t, c.clientOf(strings.Replace(c.url(), "://", "://holder:pw@", 1), long), name)
	to.Kill()
	replica.Thaw()
	c.cutOff()
	redistest.Eventually(t, 20*time.Second, "a takeover", func() bool { return c.MasterOf(redistest.Slot(name)) == replica })
	c.refuses(other, name)
	c.move(first, name)
	lives(t, old)
	c.excludes(old, other, name)
}
