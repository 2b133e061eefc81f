package redistest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestSlotsAreThoseOfTheServer(t *testing.T) {
	t.Parallel()
	c := StartCluster(t, 1, 0)
	keys := []string{"", "a", "123456789", "{user}.a", "{user}.b", "x{}y", "x{}{z}", "{", "}{", "a{b}c{d}", "{{b}}", "\x00\xff"}
	for _, key := range keys {
		if got, want := Slot(key), c.Servers()[0].MustDo(t, "CLUSTER", "KEYSLOT", key); int64(got) != want {
			t.Errorf("the slot of %q is %d, want %d", key, got, want)
		}
	}
	if key := KeyIn(4711, "k"); Slot(key) != 4711 {
		t.Errorf("KeyIn returned %q, of slot %d", key, Slot(key))
	}
}

func TestAClusterServesAllSlotsAndReplicatesThem(t *testing.T) {
	t.Parallel()
	c := StartCluster(t, 3, 1, Password("secret"))
	shards := c.Shards()
	if len(shards) != 3 || len(c.Addrs()) != 6 {
		t.Fatalf("%d shards, and %d addresses", len(shards), len(c.Addrs()))
	}
	sum := 0
	for i, s := range shards {
		if s.Master != c.Servers()[i] || !slices.Equal(s.Replicas, c.Servers()[i+3:i+4]) {
			t.Errorf("shard %d has other servers", i)
		}
		sum += len(s.Slots)
		key := KeyIn(s.Slots[0], "k")
		s.Master.MustDo(t, "SET", key, i)
		if got := s.Master.MustDo(t, "WAIT", 1, 10_000); got != int64(1) {
			t.Errorf("shard %d: %v replicas have the key", i, got)
		}
		if m := c.MasterOf(Slot(key)); m != s.Master {
			t.Errorf("the slot of shard %d belongs to another master", i)
		}
		if _, err := shards[(i+1)%3].Master.Do("GET", key); err == nil || !strings.HasPrefix(err.Error(), "MOVED ") {
			t.Errorf("another shard answers %v, want MOVED", err)
		}
	}
	if sum != Slots {
		t.Errorf("the shards have %d slots", sum)
	}
}

func TestASlotMovesWithItsKeys(t *testing.T) {
	t.Parallel()
	c := StartCluster(t, 2, 0, Password("secret"))
	from, to := c.Servers()[0], c.Servers()[1]
	const slot, n = 100, 3*batch + 1
	tag := "{" + KeyIn(slot, "t") + "}"
	for i := range n {
		from.MustDo(t, "SET", fmt.Sprint(tag, i), i)
	}
	ctx := t.Context()
	m, err := c.BeginMove(ctx, slot, to)
	if err != nil {
		t.Fatal(err)
	}
	if moved, err := m.Keys(ctx, 5); moved != 5 || err != nil {
		t.Fatalf("%d keys moved, and %v", moved, err)
	}
	asked := 0
	for i := range n {
		if _, err := from.Do("GET", fmt.Sprint(tag, i)); err != nil && strings.HasPrefix(err.Error(), "ASK ") {
			asked++
		}
	}
	if asked != 5 || c.MasterOf(slot) != from {
		t.Errorf("halfway the source asks for %d keys, want 5", asked)
	}
	if err := m.Cancel(ctx); err != nil {
		t.Fatal(err)
	}
	if got := from.MustDo(t, "CLUSTER", "COUNTKEYSINSLOT", slot); got != int64(n) {
		t.Errorf("%v keys are back, want %d", got, n)
	}
	if err := c.MoveSlots(ctx, []int{slot, slot + 1}, to); err != nil {
		t.Fatal(err)
	}
	c.AwaitSettled()
	for i := range n {
		if got := to.MustDo(t, "GET", fmt.Sprint(tag, i)); got != fmt.Sprint(i) {
			t.Errorf("key %d is %v", i, got)
		}
	}
	if c.MasterOf(slot) != to || c.MasterOf(slot+1) != to || c.MasterOf(slot+2) != from {
		t.Error("the slots have other masters")
	}
}

func TestAReplicaTakesOverOnRequest(t *testing.T) {
	t.Parallel()
	c := StartCluster(t, 3, 1)
	former := c.Servers()[0]
	key := KeyIn(0, "k")
	former.MustDo(t, "SET", key, "v")
	next, err := c.Failover(t.Context(), former)
	if err != nil {
		t.Fatal(err)
	}
	if next != c.Servers()[3] || next.MustDo(t, "GET", key) != "v" {
		t.Error("the replica is not the master with the data")
	}
	c.AwaitSettled()
	if c.MasterOf(0) != next || !slices.Equal(c.ReplicasOf(next), []*Server{former}) {
		t.Error("the former master does not follow")
	}
}

func TestAReplicaTakesOverFromAKilledOrFrozenMaster(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]struct{ begin, end func(*Server) }{
		"killed": {(*Server).Kill, (*Server).Restart},
		"frozen": {(*Server).Freeze, (*Server).Thaw},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := StartCluster(t, 3, 1, NodeTimeout(time.Second))
			former, replica := c.Servers()[1], c.Servers()[4]
			slot := c.Shards()[1].Slots[0]
			fault.begin(former)
			if c.MasterOf(slot) == former {
				t.Error("a server that does not answer is still the master")
			}
			Eventually(t, patience, "a takeover", func() bool { return c.MasterOf(slot) == replica })
			fault.end(former)
			c.AwaitSettled()
			if c.MasterOf(slot) != replica || former.Role() != "slave" {
				t.Error("the former master does not follow")
			}
		})
	}
}

func TestAReplicaIsForcedToTakeOver(t *testing.T) {
	t.Parallel()
	c := StartCluster(t, 3, 1, NodeTimeout(patience)) // it does not take over by itself
	c.Servers()[2].Freeze()
	next, err := c.ForceFailover(t.Context(), c.Servers()[2])
	if err != nil || next != c.Servers()[5] || next.Role() != "master" {
		t.Fatalf("the replica did not take over: %v", err)
	}
}

func TestAnEmptyMasterJoinsAndGetsSlots(t *testing.T) {
	t.Parallel()
	c := StartCluster(t, 2, 0)
	s := c.AddMaster()
	if all := c.Shards(); len(all) != 3 || all[2].Master != s || len(all[2].Slots) != 0 {
		t.Fatalf("%d shards", len(all))
	}
	if err := c.MoveSlot(t.Context(), 7, s); err != nil {
		t.Fatal(err)
	}
	r := c.AddReplica(s)
	if all := c.Shards(); !slices.Equal(all[2].Slots, []int{7}) || !slices.Equal(all[2].Replicas, []*Server{r}) {
		t.Error("the new shard has other slots, or another replica")
	}
}
