//go:build linux

package chaos

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// arena contains the parts of a run: nodes, clients, the resource, and the faults so far.
type arena struct {
	t        testing.TB
	plan     Plan
	nodes    []*node
	resource *redistest.Server
	dir      string // the directory of the counter files
	began    int64
	rng      *rand.Rand // draws the schedule; no draw depends on the course of the run

	mu        sync.Mutex
	slots     []*process // the present clients
	processes []*process // all clients of the run
	nextID    int
	injuries  []*injury
	amnesia   int   // the number of present faults that delete memory
	forgot    int64 // when the last of these faults ended
	healed    int64 // when all faults had ended
	calm      int   // the number of present faults that must not meet a fault that deletes memory
	wantCalm  bool  // such a fault waits, so no fault that deletes memory may begin
	again     []card
	deaths    []death
	slow      []span // the times in which a majority of the servers was slow: see pings
}

// injury is a fault that happened.
type injury struct {
	Kind     string
	From, To int64 // the time of the fault; To is 0 while it lasts
	Nodes    []int // the nodes that the fault may keep from voting
	Again    bool  // this is a second try, because the first had no effect
	Took     bool  // the fault had an effect on at least one node
}

func (a *arena) startClient(slot int) {
	a.mu.Lock()
	id := a.nextID
	a.nextID++
	a.mu.Unlock()
	p := startProcess(a.t, a.mode(a.role(id), slot))
	a.mu.Lock()
	defer a.mu.Unlock()
	a.slots[slot] = p
	a.processes = append(a.processes, p)
}

func (a *arena) role(id int) Role {
	return Role{
		Readers: max(a.plan.Readers, 0),
		Client:  id, Locker: a.plan.Locker, Nodes: urls(a.nodes, id%sides), Names: a.plan.names(), TTL: a.plan.TTL, Window: a.plan.Window,
		Loops: a.plan.Loops, Resource: a.resource.Addr(), Dir: a.dir, Pause: a.plan.Pause, Parts: a.plan.ours(),
	}
}

// pickClient chooses a client. It prefers a client that holds a lock.
func (a *arena) pickClient(r *rand.Rand) (slot int) {
	order := r.Perm(len(a.slots))
	if r.IntN(4) > 0 {
		for _, i := range order {
			if a.slots[i] != nil && a.slots[i].holds() {
				return i
			}
		}
	}
	return order[0]
}

// howMany returns the number of nodes for a fault that may hit all of them.
func (a *arena) howMany(r *rand.Rand) int {
	n := len(a.nodes)
	switch p := r.IntN(100); {
	case a.plan.Most:
		return n/2 + 1 + r.IntN(n-n/2)
	case p < 55:
		return 1
	case p < 75:
		return max(1, (n-1)/2)
	case p < 92:
		return n/2 + 1
	}
	return n
}

// take reserves the same part of up to n nodes. It takes fewer nodes if fewer are free.
func (a *arena) take(r *rand.Rand, n int, part func(*busy) *bool) (taken []*node) {
	for _, i := range r.Perm(len(a.nodes)) {
		if b := part(&a.nodes[i].busy); len(taken) < n && !*b {
			*b = true
			taken = append(taken, a.nodes[i])
		}
	}
	return taken
}

// release ends the reservation of a part of these nodes.
func (a *arena) release(taken []*node, part func(*busy) *bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, n := range taken {
		*part(&n.busy) = false
	}
}

func (a *arena) index(n *node) int { return slices.Index(a.nodes, n) }

func processPart(b *busy) *bool { return &b.process }
func clockPart(b *busy) *bool   { return &b.clock }
func networkPart(side int) func(*busy) *bool {
	return func(b *busy) *bool { return &b.network[side] }
}

// between returns a random duration.
func between(r *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(r.Float64()*float64(most-least))
}

// each runs f for all nodes at the same time. It reports whether f had an effect on any node.
func each(nodes []*node, f func(*node) bool) bool {
	var wait sync.WaitGroup
	var took atomic.Bool
	for _, n := range nodes {
		wait.Go(func() {
			if f(n) {
				took.Store(true)
			}
		})
	}
	wait.Wait()
	return took.Load()
}

// do runs a command on a node's server. If the command fails, do logs the error and returns nil, because the server may
// be dying.
func (a *arena) do(s *redistest.Server, args ...any) any {
	v, err := s.Do(args...)
	if err != nil {
		a.t.Logf("chaos: %v: %v", args, err)
	}
	return v
}

func (a *arena) names() []string { return a.plan.names() }

func (p Plan) names() (list []string) {
	for i := range p.Names {
		list = append(list, fmt.Sprintf("lock-%d", i))
	}
	return list
}
