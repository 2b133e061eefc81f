//go:build linux

package cluster

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/verify/chaos"
)

// mover moves the slots of the names between the masters. It never fails a test: a move fails if a fault hits one of
// its servers.
type mover struct {
	cluster *redistest.Cluster
	slots   []int
	rng     *rand.Rand

	// gate is held during a move. Whoever waits for the cluster to settle takes it first.
	gate sync.Mutex

	done, again, left int // moves, moves that succeeded at a later try only, and moves that were given up
	moves             []moved
}

// run moves slots until ctx ends.
func (m *mover) run(ctx context.Context) {
	for ctx.Err() == nil {
		m.gate.Lock()
		m.step(ctx)
		m.gate.Unlock()
		rest(ctx, 50*time.Millisecond+m.some(300*time.Millisecond))
	}
}

func (m *mover) some(most time.Duration) time.Duration {
	return time.Duration(m.rng.Int64N(int64(most)))
}

// step moves one slot, in steps with pauses in between: holders come and go while the slot is half moved.
func (m *mover) step(ctx context.Context) {
	name := m.rng.IntN(len(m.slots))
	slot := m.slots[name]
	from, to := m.target(slot)
	if to == nil {
		return
	}
	began := chaos.Monotonic()
	defer func() { m.moves = append(m.moves, moved{name, from, to, began, chaos.Monotonic()}) }()
	move, err := m.cluster.BeginMove(ctx, slot, to)
	if err == nil {
		rest(ctx, m.some(200*time.Millisecond))
		_, err = move.Keys(ctx, 1)
	}
	if err == nil {
		rest(ctx, m.some(200*time.Millisecond))
		err = move.Finish(context.WithoutCancel(ctx))
	}
	switch {
	case err == nil:
		m.done++
	case m.mend(slot, to):
		m.again++
	default:
		m.left++
	}
}

// target returns the master of a slot, and another master. The second is nil if there is none now.
func (m *mover) target(slot int) (owner, other *redistest.Server) {
	owner = m.cluster.MasterOf(slot)
	shards := m.cluster.Shards()
	if owner == nil {
		return nil, nil
	}
	for _, i := range m.rng.Perm(len(shards)) {
		if s := shards[i]; s.Master != owner && len(s.Slots) > 0 {
			return owner, s.Master
		}
	}
	return owner, nil
}

// mend completes a move that failed, as redis-cli --cluster fix does: keys that are on both servers are replaced. It
// reports whether the target has the slot. If it fails, no master moves the slot any longer.
func (m *mover) mend(slot int, to *redistest.Server) bool {
	ctx := context.Background()
	for range 5 {
		time.Sleep(500 * time.Millisecond)
		if m.cluster.MasterOf(slot) == to {
			break
		}
		if to.Role() != "master" {
			continue
		}
		move, err := m.cluster.BeginMove(ctx, slot, to)
		if err != nil {
			continue
		}
		move.Replace = true
		if move.Finish(ctx) == nil {
			break
		}
	}
	for _, s := range m.cluster.Shards() {
		_, _ = s.Master.Do("CLUSTER", "SETSLOT", slot, "STABLE") // an error: it has just become a replica
	}
	return m.cluster.MasterOf(slot) == to
}

// state returns what the servers know of the slot of a name.
func (m *mover) state(name int) string {
	slot := m.slots[name]
	text := fmt.Sprintf("its slot %d:", slot)
	for _, s := range m.cluster.Servers() {
		guard, _ := s.Do("GET", nodescript.SlotGuard(slot))
		admission, _ := s.Do("HGETALL", nodescript.SlotGuard(slot)+":admission")
		keys, _ := s.Do("CLUSTER", "COUNTKEYSINSLOT", slot)
		text += fmt.Sprintf("\n%s, %s: %v keys, guard %v, admission %v", s.Addr(), s.Role(), keys, guard, admission)
	}
	for _, v := range m.moves[max(0, len(m.moves)-200):] {
		if v.name == name {
			text += fmt.Sprintf("\nmoved from %s to %s", v.from.Addr(), v.to.Addr())
		}
	}
	if owner := m.cluster.MasterOf(slot); owner != nil {
		text += "\nits master is " + owner.Addr()
		nodes, _ := owner.Do("CLUSTER", "NODES")
		text += fmt.Sprintf("\n%v", nodes)
	}
	return text
}
