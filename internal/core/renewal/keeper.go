package renewal

import (
	"container/heap"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/events"
	"github.com/holdfast-go/holdfast/internal/core/fanout"
)

// watchEvery is the pause between two checks whether the client's host was suspended. Timers run on the monotonic
// clock, which stops during a suspension. So a deadline may have passed before its timer fires.
const watchEvery = time.Second

// mostOut is the number of renewals that may be under way at a time. More renewals would only wait in the queues of the
// nodes, and the client does not send a message that waited there for longer than a window. Fifty thousand leases may
// be due together after a pause of this process. Without the limit the client would try most of them several times in
// vain, and lose them.
const mostOut = 1024

// Keeper keeps all leases of a client. One goroutine and one timer renew all leases, in the order in which they are
// due. Renewals that are due together travel together.
type Keeper struct {
	fan *fanout.Fanout
	// Explain returns the error that callers get after a loss. It must not call methods that lock the lease. nil:
	// callers get the LostError itself. It must be set before the first lease is kept.
	Explain func(e *Lease, why *LostError) error

	// Events gets Renewed, Released and Lost. nil: there are no listeners. It must be set before the first lease is
	// kept.
	Events *events.Stream

	// Refused is called when a node did not repair a lease because another attempt has a partial grant. That node will
	// hand the name to the lease's owner. The client must then hear the hand-off and call [Keeper.Repair]. nil: the
	// client does not hear hand-offs. It must be set before the first lease is kept.
	Refused func()

	timers clock.Clock // the clock of timers: it stops while the host is suspended

	mu     sync.Mutex
	fresh  []*Lease // leases not scheduled yet, because most locks are released before they are due
	heap   dueHeap
	out    int           // the number of the scheduler's renewals that are under way
	armed  clock.Instant // the instant, on the clock timers, at which the scheduler wakes by itself
	soon   clock.Instant // the earliest due of leases added since the scheduler woke, even of ended ones; 0: none
	wake   chan struct{}
	closed bool
	gaps   map[*gap]struct{} // gaps under way
	wants  map[string]*Lease // by owner: the leases that a node refused to repair; it may hand them the name
	stop   chan struct{}
	wait   sync.WaitGroup

	lostMu sync.Mutex
	lost   []*Lease // announced losses of which the nodes do not know yet
	tells  bool     // a goroutine sends these losses to the nodes
	atOnce bool     // losses go to the nodes at once, because the keeper is closed
}

// NewKeeper returns a keeper. Close ends it.
func NewKeeper(f *fanout.Fanout) *Keeper {
	k := &Keeper{fan: f, timers: clock.Monotonic(), wake: make(chan struct{}, 1), stop: make(chan struct{})}
	k.wait.Go(k.run)
	return k
}

// Held returns the leases that the keeper keeps now.
func (k *Keeper) Held() []*Lease {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Concat(k.fresh, k.heap)
}

// Repair renews the lease of owner at once, because a node that refused the repair has now handed the name to the
// owner. It returns false if the keeper has no such lease, if the lease has ended, or if no renewal of it was sent yet.
func (k *Keeper) Repair(owner string) bool {
	k.mu.Lock()
	e := k.wants[owner]
	k.mu.Unlock()
	if e == nil {
		return false
	}
	e.mu.Lock()
	first := e.highest == e.Token()
	e.mu.Unlock()
	return !first && e.renew(newOutcome())
}

// refused notes that a node did not repair a lease. The lease may have ended in the meantime.
func (k *Keeper) refused(e *Lease) {
	owner := e.Owner()
	k.mu.Lock()
	if e.index >= 0 {
		if k.wants == nil {
			k.wants = map[string]*Lease{}
		}
		k.wants[owner] = e
	}
	k.mu.Unlock()
	k.Refused()
}

// Close stops the renewal of all leases, and ends all gaps. It does not release the leases: see Held. A lease that
// comes after Close ends at once.
func (k *Keeper) Close() {
	k.mu.Lock()
	if !k.closed {
		k.closed = true
		close(k.stop)
	}
	gaps := k.gaps
	k.gaps = nil
	k.mu.Unlock()
	for g := range gaps {
		g.timer.Stop()
		g.end()
	}
	k.lostMu.Lock()
	k.atOnce = true
	k.lostMu.Unlock()
	k.wait.Wait()
}

// add takes a lease. It returns false if the keeper is closed. The lease enters the heap when the scheduler wakes next.
// Until then it costs only its place in a list.
func (k *Keeper) add(e *Lease, due clock.Instant) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return false
	}
	e.due = due
	e.fresh, e.index = true, len(k.fresh)
	k.fresh = append(k.fresh, e)
	if k.soon == 0 || due < k.soon {
		k.soon = due
	}
	k.nudge(e)
	return true
}

// arm sets the instant at which e is due next. It does nothing if the keeper no longer keeps e.
func (k *Keeper) arm(e *Lease, due clock.Instant) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if e.index < 0 {
		return
	}
	k.settle(e)
	e.due = due
	heap.Fix(&k.heap, e.index)
	k.nudge(e)
}

// settle moves a fresh lease into the heap. The caller holds k.mu.
func (k *Keeper) settle(e *Lease) {
	if e.fresh {
		k.drop(e)
		heap.Push(&k.heap, e)
	}
}

// drop removes a lease from the list of fresh leases. The caller holds k.mu.
func (k *Keeper) drop(e *Lease) {
	last := len(k.fresh) - 1
	k.fresh[e.index] = k.fresh[last]
	k.fresh[e.index].index = e.index
	k.fresh[last] = nil
	k.fresh = k.fresh[:last]
	e.fresh, e.index = false, -1
}

// later schedules the request that tells the nodes of an announced loss. The caller holds e.mu.
func (k *Keeper) later(e *Lease) {
	k.lostMu.Lock()
	defer k.lostMu.Unlock()
	if k.atOnce {
		e.forgetLocked()
		return
	}
	k.lost = append(k.lost, e)
	if !k.tells {
		k.tells = true
		k.wait.Go(k.tellLost)
	}
}

// tellLost sends all announced losses to the nodes. It first yields to other goroutines, because they may announce more
// losses.
func (k *Keeper) tellLost() {
	for {
		k.lostMu.Lock()
		lost := k.lost
		k.lost = nil
		k.tells = len(lost) > 0
		k.lostMu.Unlock()
		if len(lost) == 0 {
			return
		}
		for _, e := range lost {
			runtime.Gosched()
			e.mu.Lock()
			e.forgetLocked()
			e.mu.Unlock()
		}
	}
}

func (k *Keeper) remove(e *Lease) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case e.fresh:
		k.drop(e)
	case e.index >= 0:
		heap.Remove(&k.heap, e.index)
	}
	delete(k.wants, e.grant.Owner)
	delete(k.wants, e.Owner())
}

// watch schedules the fresh leases: each gets a timer for its deadline and a place in the heap.
func (k *Keeper) watch() {
	k.mu.Lock()
	fresh := slices.Clone(k.fresh)
	k.mu.Unlock()
	for _, e := range fresh {
		e.mu.Lock()
		e.watchLocked()
		k.mu.Lock()
		k.settle(e)
		k.mu.Unlock()
		e.mu.Unlock()
	}
}

// nudge wakes the scheduler if e is due before the scheduler wakes by itself. While leases come and go, the scheduler
// wakes every watchEvery anyway, before most leases are due. So taking a lock usually costs no switch to another
// goroutine. The caller holds k.mu.
func (k *Keeper) nudge(e *Lease) {
	if k.sleepsPast(e.due) {
		select {
		case k.wake <- struct{}{}:
		default:
		}
	}
}

// sleepsPast reports whether the scheduler wakes by itself only after due. It compares by the clock of the scheduler's
// timer. After a suspension the client's clock is past the instant at which the scheduler planned to wake, but the
// timer still waits for the rest of its time. The caller holds k.mu.
func (k *Keeper) sleepsPast(due clock.Instant) bool {
	return k.timers().Add(due.Sub(k.fan.Now())) < k.armed
}

func (k *Keeper) run() {
	k.watch()
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
		k.watch()
		for _, e := range k.takeDue() {
			if !e.renew(nil) {
				k.decided()
			}
		}
		timer.Reset(k.pause())
	}
}

// decided notes the end of a renewal that the scheduler sent. It wakes the scheduler if other leases wait for a free
// place.
func (k *Keeper) decided() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.out--
	if k.out == mostOut/2 && len(k.heap) > 0 && k.sleepsPast(k.heap[0].due) {
		select {
		case k.wake <- struct{}{}:
		default:
		}
	}
}

// takeDue returns the leases that are due now, within the limit of mostOut. It guesses the next due instant of each
// lease, so that each lease is taken once. The renewal of the lease then sets the right instant.
func (k *Keeper) takeDue() (due []*Lease) {
	now := k.fan.Now()
	k.mu.Lock()
	defer k.mu.Unlock()
	for len(k.heap) > 0 && k.heap[0].due <= now && k.out < mostOut {
		k.out++
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
	pause := time.Hour // without leases the scheduler sleeps until an add wakes it
	switch {
	case k.out >= mostOut:
		pause = watchEvery // decided wakes the scheduler earlier, when enough renewals have ended
	case len(k.heap) > 0:
		pause = max(min(k.heap[0].due.Sub(now), watchEvery), 0)
	}
	if k.soon != 0 { // leases came since the scheduler last looked
		// k.soon may belong to a lease that has ended since then. It still counts: otherwise the scheduler would
		// sleep for long, and each of many short leases in a row would have to wake it.
		pause = max(min(k.soon.Sub(now), watchEvery, pause), 0)
		k.soon = 0
	}
	k.armed = k.timers().Add(pause)
	return pause
}

// dueHeap orders leases by their due instants.
type dueHeap []*Lease

func (h dueHeap) Len() int           { return len(h) }
func (h dueHeap) Less(i, j int) bool { return h[i].due < h[j].due }
func (h dueHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push implements heap.Interface.
func (h *dueHeap) Push(x any) {
	e := x.(*Lease)
	e.index = len(*h)
	*h = append(*h, e)
}

// Pop implements heap.Interface.
func (h *dueHeap) Pop() any {
	old := *h
	e := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	e.index = -1
	return e
}
