package renewal

import (
	"container/heap"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/clock"
	"github.com/holdfast-go/holdfast/internal/fanout"
)

// watchEvery is how often a client that holds leases looks whether its host was
// suspended: timers run on the monotonic clock, which stops meanwhile, so a deadline
// may have passed without its timer having fired.
const watchEvery = time.Second

// Keeper keeps all leases of a client: one goroutine and one timer renew them in the
// order in which they are due, whatever their number; what is due together travels
// together.
type Keeper struct {
	fan *fanout.Fanout

	mu     sync.Mutex
	heap   dueHeap
	armed  clock.Instant // when the scheduler wakes by itself
	wake   chan struct{}
	closed bool
	stop   chan struct{}
	wait   sync.WaitGroup
}

// NewKeeper returns a keeper; Close ends it.
func NewKeeper(f *fanout.Fanout) *Keeper {
	k := &Keeper{fan: f, wake: make(chan struct{}, 1), stop: make(chan struct{})}
	k.wait.Go(k.run)
	return k
}

// Held returns the leases that are kept.
func (k *Keeper) Held() []*Lease {
	k.mu.Lock()
	defer k.mu.Unlock()
	return append([]*Lease(nil), k.heap...)
}

// Close ends the renewal of all leases, which are not given back: see Held.
func (k *Keeper) Close() {
	k.mu.Lock()
	if !k.closed {
		k.closed = true
		close(k.stop)
	}
	k.mu.Unlock()
	k.wait.Wait()
}

func (k *Keeper) add(e *Lease, due clock.Instant) {
	k.mu.Lock()
	defer k.mu.Unlock()
	e.due = due
	heap.Push(&k.heap, e)
	k.nudge(e)
}

// arm sets when e is due next; nothing if it is not kept any more.
func (k *Keeper) arm(e *Lease, due clock.Instant) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if e.index >= 0 {
		e.due = due
		heap.Fix(&k.heap, e.index)
		k.nudge(e)
	}
}

func (k *Keeper) remove(e *Lease) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if e.index >= 0 {
		heap.Remove(&k.heap, e.index)
	}
}

// nudge wakes the scheduler if e is due before it wakes by itself. k.mu is held. While
// leases come and go it wakes every watchEvery anyway, before most are due: so
// taking a lock costs no switch to another goroutine.
func (k *Keeper) nudge(e *Lease) {
	if e.index == 0 && e.due < k.armed {
		select {
		case k.wake <- struct{}{}:
		default:
		}
	}
}

func (k *Keeper) run() {
	timer := time.NewTimer(k.pause())
	defer timer.Stop()
	mono := clock.Monotonic()
	drift := k.fan.Now().Sub(mono())
	for {
		select {
		case <-k.stop:
			return
		case <-k.wake:
		case <-timer.C:
		}
		if d := k.fan.Now().Sub(mono()); d-drift > watchEvery/10 {
			for _, e := range k.Held() { // the host was suspended
				e.check()
			}
			drift = d
		}
		for _, e := range k.takeDue() {
			e.renew(nil)
		}
		timer.Reset(k.pause())
	}
}

// takeDue returns what is due now; each is armed anew by its renewal, and until then
// by a guess, so that it is taken once.
func (k *Keeper) takeDue() (due []*Lease) {
	now := k.fan.Now()
	k.mu.Lock()
	defer k.mu.Unlock()
	for len(k.heap) > 0 && k.heap[0].due <= now {
		e := k.heap[0]
		e.due = now.Add(watchEvery)
		heap.Fix(&k.heap, 0)
		due = append(due, e)
	}
	return due
}

func (k *Keeper) pause() time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.fan.Now()
	pause := time.Hour // nothing held: nothing to watch, until an add wakes us
	if len(k.heap) > 0 {
		pause = max(min(k.heap[0].due.Sub(now), watchEvery), 0)
	}
	k.armed = now.Add(pause)
	return pause
}

// dueHeap orders leases by when they are due.
type dueHeap []*Lease

func (h dueHeap) Len() int           { return len(h) }
func (h dueHeap) Less(i, j int) bool { return h[i].due < h[j].due }
func (h dueHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push is of heap.Interface.
func (h *dueHeap) Push(x any) {
	e := x.(*Lease)
	e.index = len(*h)
	*h = append(*h, e)
}

// Pop is of heap.Interface.
func (h *dueHeap) Pop() any {
	old := *h
	e := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	e.index = -1
	return e
}
