package crowd

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/check/nodemodel"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

const (
	window  = 200 * time.Millisecond
	ttl     = 2 * time.Second // also MaxTTL
	trouble = 12 * time.Second
	// within is the time after the faults within which all slots can be taken. Quarantines, leases and claims must end
	// first.
	within = 20 * time.Second
)

// World is one world of clients that share a semaphore.
type World struct {
	witness
	rng    *rand.Rand
	set    nodescript.Config
	models []*nodemodel.Node
	calm   atomic.Bool // no message is lost or late, and no client is cut off
	k      int
	ends   sync.WaitGroup

	Lost, Restarts int // leases that were lost, nodes that lost their memory
}

// Run runs the world of a seed. A goroutine of a bubble of testing/synctest calls it. It returns the first broken
// promise, or "".
func Run(seed uint64) (*World, string) {
	w := &World{rng: rand.New(rand.NewPCG(seed, 2)), witness: witness{holders: map[int]*holdfast.Lease{}, fences: map[int]int64{}}}
	n := []int{1, 3, 3, 5}[w.rng.IntN(4)]
	w.k = 1 + w.rng.IntN(4)
	w.set = nodescript.Config{N: n, MaxTTL: ttl, Window: window, Cluster: "crowd"}
	for i := range n {
		w.models = append(w.models, w.model(i))
	}
	faults := n > 1 && w.rng.IntN(4) > 0 // a single node that loses its memory shuts the semaphore for a while
	for range 2 + w.rng.IntN(4) {
		w.client()
	}
	if faults {
		w.ends.Go(w.forgets)
	}
	time.Sleep(trouble)
	w.calm.Store(true)
	w.ends.Wait()
	w.judgeUse()
	time.Sleep(2 * time.Second) // messages that are under way arrive
	return w, w.broken
}

// model returns a node that votes.
func (w *World) model(i int) *nodemodel.Node {
	ahead := time.Duration(w.rng.Int64N(int64(window/4))) - window/8
	clock := func() int64 { return time.Now().Add(30*365*24*time.Hour + ahead).UnixMicro() }
	run := fmt.Sprint("run", i)
	m := nodemodel.New(fmt.Sprint("node", i), clock, nodemodel.Info{Run: run, Role: "master", Policy: "noeviction", Version: "model"}, w.set)
	m.Set(nodescript.GuardKey, w.set.String()+" "+run, 0)
	for field, text := range map[string]string{"run": run, "config": w.set.String(), "evicted": "0", "id": "id-" + run} {
		m.HSet(nodescript.AdmissionKey, field, text)
	}
	return m
}

// forgets makes nodes lose their memory, one at a time.
func (w *World) forgets() {
	for i := 0; !w.calm.Load(); i++ {
		time.Sleep(time.Second + time.Duration(rand.Int64N(int64(4*time.Second))))
		m := w.models[i%len(w.models)]
		m.Restart(fmt.Sprintf("run%d.%d", i%len(w.models), i), "", false)
		w.Restarts++
	}
}

// open opens a client. cut keeps its messages from the nodes.
func (w *World) open(cut *atomic.Bool, seed uint64) *holdfast.Client {
	var nodes []node.Node
	for i, m := range w.models {
		nodes = append(nodes, &link{Node: m, w: w, cut: cut, rng: rand.New(rand.NewPCG(seed, uint64(i)))})
	}
	c, err := holdfast.New(holdfast.Config{
		Nodes: nodes, MaxTTL: ttl, Window: window, Cluster: w.set.Cluster, NodeTimeout: time.Second, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		panic(err) // the settings are constant
	}
	return c
}

// client runs a client with some goroutines that take and give back slots. Now and then it is cut off.
func (w *World) client() {
	cut, seed := &atomic.Bool{}, w.rng.Uint64()
	c := w.open(cut, seed)
	k := w.k
	if w.rng.IntN(6) == 0 {
		k++ // it already uses one slot more
	}
	var workers sync.WaitGroup
	for i := range 1 + w.rng.IntN(4) {
		rng := rand.New(rand.NewPCG(seed, uint64(100+i)))
		workers.Go(func() {
			for !w.calm.Load() {
				w.work(c, k, rng)
			}
		})
	}
	rng := rand.New(rand.NewPCG(seed, 99))
	w.ends.Go(func() {
		for !w.calm.Load() {
			time.Sleep(time.Duration(rng.Int64N(int64(8 * time.Second))))
			if !w.calm.Load() && rng.IntN(2) == 0 {
				cut.Store(true)
				time.Sleep(time.Duration(rng.Int64N(int64(3 * time.Second))))
			}
			cut.Store(false)
		}
	})
	w.ends.Go(func() {
		workers.Wait()
		cut.Store(false)
		c.Close()
	})
}

// work takes a slot for a moment.
func (w *World) work(c *holdfast.Client, k int, rng *rand.Rand) {
	s := c.Semaphore("x", k, holdfast.OnWait(func(error) {
		w.mu.Lock()
		w.Waits++
		w.mu.Unlock()
	}))
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rng.Int64N(int64(5*time.Second))))
	defer cancel()
	take := s.Acquire
	if rng.IntN(4) == 0 {
		take = s.TryAcquire
	}
	l, err := take(ctx)
	if err != nil {
		time.Sleep(time.Duration(rng.Int64N(int64(20 * time.Millisecond))))
		return
	}
	w.takes(l, k)
	hold := time.Duration(rng.Int64N(int64(30 * time.Millisecond)))
	if rng.IntN(8) == 0 {
		hold = time.Duration(rng.Int64N(int64(4 * time.Second))) // some renewals
	}
	select {
	case <-time.After(hold):
		bounded, stop := context.WithTimeout(context.Background(), time.Second)
		defer stop()
		_ = l.Unlock(bounded)
	case <-l.Context().Done():
		w.mu.Lock()
		w.Lost++
		w.mu.Unlock()
	}
}

// judgeUse checks that all slots can be taken at once after the end of the faults.
func (w *World) judgeUse() {
	var all sync.WaitGroup
	var clients []*holdfast.Client
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	for i := range w.k {
		c := w.open(&atomic.Bool{}, uint64(i))
		clients = append(clients, c)
		all.Go(func() {
			l, err := c.Semaphore("x", w.k, holdfast.WaitThroughOutages()).Acquire(ctx)
			if err != nil {
				w.mu.Lock()
				w.breaks("%s after the faults a slot of %d cannot be taken: %v", within, w.k, err)
				w.mu.Unlock()
				return
			}
			w.takes(l, w.k)
		})
	}
	all.Wait()
	for _, c := range clients {
		c.Close()
	}
}
