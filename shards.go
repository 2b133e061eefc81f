package holdfast

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/verdict"
)

// shards leads the names of a client to the shards of a Redis Cluster. Each shard is a node set of its own, with one
// node: its present master.
type shards struct {
	client  *Client
	cluster node.Cluster
	last    atomic.Pointer[node.Topology] // the last one with hash slots: see topology

	mu      sync.Mutex
	byNode  map[node.Node]*set // a shard that comes back after a time without hash slots has another node
	closed  bool
	parting sync.WaitGroup // the goroutines that close sets: see part
}

// known returns nil when the shards are known. It asks for them if no majority of the servers has told them yet, or if no
// server had hash slots. The error matches ErrUnavailable. name and slots are for the error.
func (h *shards) known(ctx context.Context, name string, slots int) error {
	if h.keep(h.cluster.Topology()) {
		return nil
	}
	within, cancel := context.WithTimeout(ctx, 2*h.client.config.NodeTimeout)
	defer cancel()
	t, err := h.cluster.Look(within)
	switch {
	case h.keep(t):
		return nil
	case err == nil:
		err = node.ErrNoSlots
	}
	un := &UnavailableError{Name: name, Slots: slots, Nodes: []verdict.Answer{{
		Node: h.cluster.Addr(), Reason: verdict.ReasonFailed, Cause: verdict.CauseTopology, Err: err,
	}}}
	if ctx.Err() != nil {
		return ended(ctx, un)
	}
	return un
}

// keep reports whether a topology has shards, and keeps it for topology.
func (h *shards) keep(t *node.Topology) bool {
	if t == nil || len(t.Shards) == 0 {
		return false
	}
	if h.last.Load() != t {
		h.mu.Lock()
		defer h.mu.Unlock()
		if t = h.cluster.Topology(); len(t.Shards) > 0 { // another goroutine may have kept a later one
			h.last.Store(t)
			h.partLocked(t)
		}
	}
	return true
}

// partLocked closes the sets of the shards that have no node in a topology any more, after their last use. The caller
// holds h.mu.
func (h *shards) partLocked(t *node.Topology) {
	for n, s := range h.byNode {
		if h.closed || known(t, n) {
			continue
		}
		delete(h.byNode, n)
		h.parting.Go(func() { h.client.closeSet(s) })
	}
}

// known reports whether a node belongs to a shard of a topology, also to one that has lost its hash slots lately.
func known(t *node.Topology, n node.Node) bool {
	return slices.Contains(t.Former, n) || slices.ContainsFunc(t.Shards, func(s *node.Shard) bool { return s.Node == n })
}

// topology returns the present topology. If no server has hash slots, it returns the one before: names keep their sets,
// whose nodes refuse all calls. It returns nil before the shards are known.
func (h *shards) topology() *node.Topology {
	h.keep(h.cluster.Topology())
	return h.last.Load()
}

// of returns the set of the shard that has a name, which is with the Prefix. If no shard has its hash slot at present,
// it returns any: that one does not vote for this name. The shards must be known.
func (h *shards) of(name string) *set {
	return h.at(h.topology(), node.SlotOf(nodescript.RecordKey(name)))
}

// at returns the set of the shard that has a hash slot in a topology with shards, or any if none has it.
func (h *shards) at(t *node.Topology, slot int) *set {
	h.mu.Lock()
	defer h.mu.Unlock()
	one := t.Shards[max(t.Owner[slot], 0)]
	if now := h.cluster.Topology(); h.byNode[one.Node] == nil && len(now.Shards) > 0 && !known(now, one.Node) { // t is old
		one = now.Shards[max(now.Owner[slot], 0)]
	}
	return h.openLocked(one)
}

// all returns the sets of all shards in a topology, or in the present one, in its order. There are none in nil.
func (h *shards) all(t *node.Topology) (all []*set) {
	if t == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if now := h.cluster.Topology(); len(now.Shards) > 0 {
		t = now // the nodes of an older one may be closed
	}
	for _, one := range t.Shards {
		all = append(all, h.openLocked(one))
	}
	return all
}

// end makes h open and close no further sets.
func (h *shards) end() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.parting.Wait()
}

// openLocked returns the set of a shard, and makes it if the shard is new. A client that is closed gets another set: no
// call uses it. The caller holds h.mu.
func (h *shards) openLocked(one *node.Shard) *set {
	s := h.byNode[one.Node]
	if h.closed && s == nil && len(h.byNode) > 0 {
		return h.client.sets.live()[0]
	}
	if s == nil {
		c := h.client
		s = c.openSet([]node.Node{one.Node}, &fanout.Shard{
			Slots:  func() []int { return h.slots(one.Name) },
			Master: func() string { return h.master(one.Name) },
			Prove:  h.prove,
			Owner:  h.owner,
			Look:   h.look,
			Turn:   func(slot int) (int, bool) { return h.turn(one.Node, slot) },
			New:    h.sweep,
		})
		s.inbox.Repair = c.keeper.Repair
		c.keeper.Serve(s.fan)
		h.byNode[one.Node] = s
	}
	return s
}

// slots returns the hash slots that a shard has.
func (h *shards) slots(shard string) (slots []int) {
	t := h.cluster.Topology()
	for slot, i := range t.Owner {
		if i >= 0 && t.Shards[i].Name == shard {
			slots = append(slots, slot)
		}
	}
	return slots
}

// master returns the address of the master of a shard, "" if the shard has lost its hash slots.
func (h *shards) master(shard string) string {
	for _, one := range h.cluster.Topology().Shards {
		if one.Name == shard {
			return one.Master.Addr
		}
	}
	return ""
}

// prove returns what the master with a run id says about its memory, for a hash slot that has left it. It asks the
// masters that a majority of the servers names now and does not call failed, so a former master is not asked. A master
// that gave its last hash slot away is among them. ok is false if none has this run id, and an error means that one did
// not answer.
func (h *shards) prove(ctx context.Context, run string) (proof fanout.Proved, ok bool, err error) {
	t, err := h.cluster.Look(ctx)
	if err != nil {
		return proof, false, err
	}
	ctx, found := context.WithCancel(ctx) // a server that hangs delays no proof of another one
	defer found()
	var wait sync.WaitGroup
	var mu sync.Mutex
	ask := func(one *node.Shard, firm bool) {
		asked := h.client.sets.here.Clock()
		r := one.Node.Eval(ctx, nodescript.ProofText(), node.Call{})
		answered := h.client.sets.here.Clock()
		p, is := nodescript.ParseProof(r)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case r.Err != nil:
			err = fanout.Unproved{Master: one.Master.Addr, Err: r.Err}
		case is && p.Run == run && !firm:
			err = fanout.Unproved{Master: one.Master.Addr, Err: errNotFirm}
		case is && p.Run == run:
			proof, ok = fanout.Proved{Proof: p, Asked: asked, Answered: answered}, true
			found()
		}
	}
	for _, one := range t.Shards {
		if one.Master.State != node.Fail {
			wait.Go(func() { ask(one, true) })
		}
	}
	for _, one := range t.Spare {
		wait.Go(func() { ask(one.Shard, one.Firm) })
	}
	if wait.Wait(); ok {
		err = nil
	}
	return proof, ok, err
}

// errNotFirm is the error of a master that may be about to become a replica: see [node.Spare].
var errNotFirm = errors.New("it has no hash slots, and most servers have not listed it as a master for two seconds yet")

// owner returns what leads to the shard that has a hash slot, or nil if no majority of the servers names one.
func (h *shards) owner(slot int) *fanout.Fanout {
	t := h.cluster.Topology()
	if t.Owner[slot] < 0 {
		return nil
	}
	return h.at(t, slot).fan
}

// sweep begins the quarantines of all hash slots. Otherwise the first lock on each shard would wait for one of its own.
func (h *shards) sweep() {
	for _, s := range h.all(h.cluster.Topology()) {
		s.fan.Sweep()
	}
}

// look asks the servers for the topology, for a node timeout at most.
func (h *shards) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, h.client.config.NodeTimeout)
	defer cancel()
	_, _ = h.cluster.Look(ctx) // after an error the topology is the one before
}

// turn returns the turn of the shard with a node, and whether it has a hash slot: see [node.Shard].
func (h *shards) turn(shard node.Node, slot int) (int, bool) {
	t := h.cluster.Topology()
	if i := t.Owner[slot]; i >= 0 && t.Shards[i].Node == shard {
		return t.Shards[i].Turn, true
	}
	return 0, false
}
