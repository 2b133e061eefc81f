package values

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

const (
	name   = "x"
	window = 100 * time.Millisecond
	ttl    = time.Second // also MaxTTL
	lasts  = 40 * time.Second
	// within is how soon after the faults a holder finds the value: quarantines, leases and claims must end.
	within = 30 * time.Second
)

// World is one world of clients that share a value.
type World struct {
	judge
	rng    *rand.Rand
	set    nodescript.Config
	models []*nodemodel.Node
	off    []atomic.Bool  // the nodes that are cut off
	clocks []atomic.Int64 // the error of each node's clock, in ns
	calm   atomic.Bool    // there are no faults any more
	ends   sync.WaitGroup
	leases []*holdfast.Lease // all of them: a lease that becomes garbage would be reported outside the bubble

	Losses int // of memory
	Killed int // holders that ended without a word
}

// Run runs the world of a seed. A goroutine of a bubble of testing/synctest calls it. It returns the first broken
// promise, or "".
func Run(seed uint64) (*World, string) {
	w := &World{rng: rand.New(rand.NewPCG(seed, 3)), judge: judge{forgot: map[int]int{}}}
	n := []int{1, 3, 3, 3, 5}[w.rng.IntN(5)]
	w.set = nodescript.Config{N: n, MaxTTL: ttl, Window: window, Cluster: "values"}
	w.off, w.clocks = make([]atomic.Bool, n), make([]atomic.Int64, n)
	young := w.rng.IntN(2) == 0
	for i := range n {
		w.models = append(w.models, w.model(i, young))
	}
	for range 2 + w.rng.IntN(3) {
		seed := w.rng.Uint64()
		w.ends.Go(func() { w.client(seed) })
	}
	for i, f := range []func(*rand.Rand){w.forgets, w.shuts, w.misleads} {
		if n > 1 && w.rng.IntN(4) > 0 {
			rng := rand.New(rand.NewPCG(seed, 50+uint64(i)))
			w.ends.Go(func() { f(rng) })
		}
	}
	time.Sleep(lasts)
	w.calm.Store(true)
	w.ends.Wait()
	w.findsValue()
	time.Sleep(5 * ttl) // messages that are under way arrive
	return w, w.broken
}

// model returns a node that votes. A young node was set up a moment ago.
func (w *World) model(i int, young bool) *nodemodel.Node {
	ahead := time.Duration(w.rng.Int64N(int64(window/4))) - window/8
	clock := func() int64 {
		return nodemodel.Now() + (ahead + time.Duration(w.clocks[i].Load())).Microseconds()
	}
	run := fmt.Sprint("run", i)
	m := nodemodel.Master(run, clock, w.set)
	m.Set(nodescript.GuardKey, w.set.String()+" "+run, 0)
	fields := map[string]string{"run": run, "config": w.set.String(), "evicted": "0", "id": "id-" + run, "since": nodescript.Micros(0)}
	if young {
		fields["since"] = nodescript.Micros(clock())
	}
	for field, text := range fields {
		m.HSet(nodescript.AdmissionKey, field, text)
	}
	return m
}

// open opens a client. cut keeps its messages from the nodes.
func (w *World) open(cut *atomic.Bool, seed uint64) *holdfast.Client {
	var nodes []node.Node
	for i, m := range w.models {
		nodes = append(nodes, &link{Node: m, w: w, cut: cut, off: &w.off[i], rng: rand.New(rand.NewPCG(seed, uint64(i)))})
	}
	c, err := holdfast.New(holdfast.Config{
		Nodes: nodes, MaxTTL: ttl, Window: window, Cluster: w.set.Cluster, NodeTimeout: ttl / 2, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		panic(err) // the settings are constant
	}
	return c
}

// client runs processes one after the other: each ends by Close, or by being cut off for good.
func (w *World) client(seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 99))
	var killed sync.WaitGroup
	for !w.calm.Load() {
		cut := &atomic.Bool{}
		c := w.open(cut, rng.Uint64())
		for range 1 + rng.IntN(30) {
			if !w.calm.Load() && !w.work(c, cut, rng) {
				break
			}
		}
		killed.Go(func() { c.Close() })
	}
	killed.Wait()
}

// work holds the lock for some loads and stores. It reports false if the process was killed.
func (w *World) work(c *holdfast.Client, cut *atomic.Bool, rng *rand.Rand) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	l, err := c.Mutex(name).Lock(ctx)
	if err != nil {
		time.Sleep(time.Duration(rng.Int64N(int64(20 * time.Millisecond))))
		return true
	}
	w.keep(l)
	for range 1 + rng.IntN(8) {
		bounded, stop := context.WithTimeout(context.Background(), time.Duration(rng.Int64N(int64(ttl))))
		w.use(bounded, l, rng.IntN(3) == 0)
		stop()
		switch rng.IntN(40) {
		case 0:
			time.Sleep(time.Duration(rng.Int64N(int64(3 * ttl)))) // some renewals
		case 1:
			if !w.calm.Load() {
				cut.Store(true)
				w.mu.Lock()
				w.Killed++
				w.mu.Unlock()
				return false
			}
		}
	}
	bounded, stop := context.WithTimeout(context.Background(), ttl)
	defer stop()
	_ = l.Unlock(bounded)
	return true
}

func (w *World) keep(l *holdfast.Lease) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leases = append(w.leases, l)
}

// use stores a new value, or loads the value.
func (w *World) use(ctx context.Context, l *holdfast.Lease, loads bool) {
	if loads {
		use := w.loads()
		if v, err := l.Load(ctx); err == nil {
			w.loaded(v, use)
			return
		}
		w.failed()
		return
	}
	value, use := w.stores()
	if err := l.Store(ctx, []byte(strconv.Itoa(value))); err == nil {
		w.stored(value, use)
		return
	}
	w.failed()
}

// findsValue checks that a holder finds the value when the faults have ended.
func (w *World) findsValue() {
	c := w.open(&atomic.Bool{}, 0)
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	for {
		l, err := c.Mutex(name, holdfast.WaitThroughOutages()).Lock(ctx)
		if err == nil {
			w.keep(l)
			use, v := w.loads(), []byte(nil)
			if v, err = l.Load(ctx); err == nil {
				w.loaded(v, use)
				return
			}
			_ = l.Unlock(ctx)
		}
		if ctx.Err() != nil {
			w.mu.Lock()
			w.breaks("%s after the faults no holder finds the value: %v", within, err)
			w.mu.Unlock()
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}
