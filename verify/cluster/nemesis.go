//go:build linux

package cluster

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/verify/chaos"
)

// moving is the fault that lasts for the whole run: see [mover].
const moving = "move"

// faults hit a master. Each one begins and ends the fault, and returns when a replica had taken over, 0 if none did.
var faults = map[string]func(*nemesis, redistest.Shard) int64{
	// The server is back after a replica has taken over, and becomes a replica of that.
	"kill": func(n *nemesis, s redistest.Shard) int64 {
		s.Master.Kill()
		over := n.takeover(s)
		time.Sleep(n.between(0, 4*time.Second))
		s.Master.Restart()
		return over
	},
	// The server is back before a replica takes over. It is still the master, and its data is gone.
	"restart": func(n *nemesis, s redistest.Shard) int64 {
		s.Master.Kill()
		time.Sleep(n.between(0, 300*time.Millisecond))
		s.Master.Restart()
		return 0
	},
	// The server is back before or after a replica has taken over. It then executes the commands that came in between.
	"freeze": func(n *nemesis, s redistest.Shard) int64 {
		s.Master.Freeze()
		time.Sleep(n.between(time.Second, 7*time.Second))
		over := int64(0)
		if n.replaced(s) {
			over = chaos.Monotonic()
		}
		s.Master.Thaw()
		return over
	},
	// An operator makes a replica the master.
	"failover": func(n *nemesis, s redistest.Shard) int64 {
		if _, err := n.cluster.Failover(context.Background(), s.Master); err != nil {
			n.t.Fatal(err)
		}
		return chaos.Monotonic()
	},
}

// faultNames returns the names of all faults.
func faultNames() []string { return append(slices.Sorted(maps.Keys(faults)), moving) }

// parseFaults reads a list of faults. "" is a list of all.
func parseFaults(text string) ([]string, error) {
	if text == "" {
		return faultNames(), nil
	}
	list := strings.Split(text, ",")
	for _, f := range list {
		if !slices.Contains(faultNames(), f) {
			return nil, fmt.Errorf("no fault is called %q; there are: %s", f, strings.Join(faultNames(), ", "))
		}
	}
	return list, nil
}

// strike is one fault.
type strike struct {
	fault    string
	names    []int // the names of the shard
	servers  []*redistest.Server
	at, back int64 // when it began, and when the cluster was settled again
	over     int64 // when a replica had taken over, 0 if none did
}

// nemesis inflicts faults on the masters of a cluster, one after the other.
type nemesis struct {
	t       testing.TB
	cluster *redistest.Cluster
	rng     *rand.Rand
	mover   *mover
	strikes []strike

	unsettled int // the faults after which the servers did not agree about their roles
}

func (n *nemesis) between(least, most time.Duration) time.Duration {
	return least + time.Duration(n.rng.Int64N(int64(most-least)))
}

// run inflicts a fault about every so long, in rounds of all kinds, until the time end. Each fault begins on a settled
// cluster. Without kinds it only waits.
func (n *nemesis) run(kinds []string, every time.Duration, end time.Time) {
	var deck []string
	for len(kinds) > 0 && time.Now().Before(end) {
		next := time.Now().Add(every)
		if len(deck) == 0 {
			deck = slices.Clone(kinds)
			n.rng.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
		}
		n.strike(deck[0])
		deck = deck[1:]
		time.Sleep(min(time.Until(next), time.Until(end)))
	}
	time.Sleep(time.Until(end))
}

// strike inflicts a fault on a master that has names.
func (n *nemesis) strike(fault string) {
	at := chaos.Monotonic() // before the look at the shards, so that a move that ends meanwhile counts as one beside the fault
	shards := slices.DeleteFunc(n.cluster.Shards(), func(s redistest.Shard) bool { return len(n.names(s)) == 0 })
	if len(shards) == 0 {
		n.t.Fatal("no master with a name answers")
	}
	shard := shards[n.rng.IntN(len(shards))]
	k := strike{fault: fault, names: n.names(shard), servers: append(slices.Clone(shard.Replicas), shard.Master), at: at}
	k.over = faults[fault](n, shard)
	n.settle()
	k.back = chaos.Monotonic()
	n.strikes = append(n.strikes, k)
}

// settle waits until the cluster is settled. No slot moves meanwhile. After a minute it is enough that each slot of a
// name has a master: sometimes a server of Redis 7.0 keeps an old view of another one's role, and the cluster works.
func (n *nemesis) settle() {
	n.t.Helper()
	n.mover.gate.Lock()
	defer n.mover.gate.Unlock() // also if the test ends here: the mover must end, too
	for end := time.Now().Add(time.Minute); !n.cluster.Settled(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) && !slices.ContainsFunc(n.mover.slots, func(slot int) bool { return n.cluster.MasterOf(slot) == nil }) {
			n.unsettled++
			return
		}
		if time.Now().After(end.Add(time.Minute)) {
			n.t.Fatal("a slot has no master two minutes after a fault")
		}
	}
}

// names returns the numbers of the names that a shard has.
func (n *nemesis) names(s redistest.Shard) (in []int) {
	for i, slot := range n.mover.slots {
		if _, found := slices.BinarySearch(s.Slots, slot); found {
			in = append(in, i)
		}
	}
	return in
}

// takeover waits until a replica is the master of a shard, and returns the time.
func (n *nemesis) takeover(s redistest.Shard) int64 {
	n.t.Helper()
	redistest.Eventually(n.t, time.Minute, "a replica to take over", func() bool { return n.replaced(s) })
	return chaos.Monotonic()
}

// replaced reports whether another server is the master of a shard now. It looks at a slot that never moves.
func (n *nemesis) replaced(s redistest.Shard) bool {
	i := slices.IndexFunc(s.Slots, func(slot int) bool { return !slices.Contains(n.mover.slots, slot) })
	o := n.cluster.MasterOf(s.Slots[i])
	return o != nil && o != s.Master
}
