package renewal

import (
	"container/heap"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/clock"
	"github.com/holdfast-go/holdfast/internal/fanout"
)

// watchEvery is how often a client that holds leases looks whether its host was
// suspended: timers run on the monotonic clock, which stops meanwhile, so a deadline
// may have passed without its timer having fired.
const watchEvery = time.Second

// mostOut is how many renewals are under way at a time. More would only wait in the
// queues of the nodes, and what waits there for longer than the window is not sent: of
// fifty thousand leases that come due together after a pause of this process, most would
// be tried in vain, and again, and lost.
const mostOut = 1024

// Keeper keeps all leases of a client: one goroutine and one timer renew them in the
// order in which they are due, whatever their number; what is due together travels
// together.
type Keeper struct {
	fan *fanout.Fanout
	// Explain makes what callers are told of a loss; it may not call the lease's methods that lock. nil: the LostError
	// itself. It is set before the first lease is kept.
	Explain func(e *Lease, why *LostError) error

	// Refused is called where a node did not repair a lease because another has a part of the name: it will hand the name
	// to the lease's owner, who is to hear of that, and then [Keeper.Repair] is to be called. nil: nobody hears. It is set
	// before the first lease is kept.
	Refused func()

	timers clock.Clock // the clock that timers run on: it stops while the host is suspended

	mu     sync.Mutex
	fresh  []*Lease // not looked at yet: most locks are given back before they are due
	heap   dueHeap
	out    int           // renewals under way that the scheduler sent
	armed  clock.Instant // when the scheduler wakes by itself, by timers
	soon   clock.Instant // the earliest due of those added since it last woke, also of those gone; 0: none
	wake   chan struct{}
	closed bool
	gaps   map[*gap]struct{} // under way
	wants  map[string]*Lease // by owner: a node refused to repair them, and may hand them the name
	stop   chan struct{}
	wait   sync.WaitGroup

	lostMu sync.Mutex
	lost   []*Lease // announced, but the nodes are not told yet
	tells  bool     // a goroutine tells them
	atOnce bool     // they are told at once: the keeper is closed
}

// NewKeeper returns a keeper; Close ends it.
func NewKeeper(f *fanout.Fanout) *Keeper {
	k := &Keeper{fan: f, timers: clock.Monotonic(), wake: make(chan struct{}, 1), stop: make(chan struct{})}
	k.wait.Go(k.run)
	return k
}

// Held returns the leases that are kept.
func (k *Keeper) Held() []*Lease {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Concat(k.fresh, k.heap)
}

// Repair renews the lease of an owner at once, to which a node has handed the name: it refused to repair it before. It
// reports whether such a lease is kept.
func (k *Keeper) Repair(owner string) bool {
	k.mu.Lock()
	e := k.wants[owner]
	k.mu.Unlock()
	if e == nil {
		return false
	}
	e.mu.Lock()
	first := e.highest == e.grant.Token
	e.mu.Unlock()
	return !first && e.renew(newOutcome())
}

// refused notes that a node did not repair a lease, which may be over by now.
func (k *Keeper) refused(e *Lease) {
	k.mu.Lock()
	if e.index >= 0 {
		if k.wants == nil {
			k.wants = map[string]*Lease{}
		}
		k.wants[e.grant.Owner] = e
	}
	k.mu.Unlock()
	k.Refused()
}

// Close ends the renewal of all leases, which are not given back: see Held; and all gaps. A lease that is to be
// kept later is ended at once.
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

// add takes a lease, and reports false if the keeper is closed. If the scheduler wakes before
// it is due anyway, it joins the others then; until then it costs nothing but its place.
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

// arm sets when e is due next; nothing if it is not kept any more.
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

// settle moves a fresh lease into the heap. k.mu is held.
func (k *Keeper) settle(e *Lease) {
	if e.fresh {
		k.drop(e)
		heap.Push(&k.heap, e)
	}
}

// drop takes a lease out of the fresh ones. k.mu is held.
func (k *Keeper) drop(e *Lease) {
	last := len(k.fresh) - 1
	k.fresh[e.index] = k.fresh[last]
	k.fresh[e.index].index = e.index
	k.fresh[last] = nil
	k.fresh = k.fresh[:last]
	e.fresh, e.index = false, -1
}

// later has the nodes told of a loss that was announced. e.mu is held.
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

// tellLost tells the nodes of all losses that were announced. It lets other goroutines go first: they announce others.
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
}

// watch looks at the fresh leases: their deadlines get timers, and they are renewed in
// the order in which they are due.
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

// nudge wakes the scheduler if e is due before it wakes by itself. k.mu is held. While
// leases come and go it wakes every watchEvery anyway, before most are due: so
// taking a lock costs no switch to another goroutine.
func (k *Keeper) nudge(e *Lease) {
	if k.sleepsPast(e.due) {
		select {
		case k.wake <- struct{}{}:
		default:
		}
	}
}

// sleepsPast reports whether the scheduler wakes by itself only after due. The comparison is by the clock that its
// timer runs on: after a suspension the instant for which the timer was set is in the past by the client's clock,
// and the timer fires that much later all the same. k.mu is held.
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

// decided notes that a renewal that the scheduler sent is not under way any more, and
// wakes it if others wait for that.
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

// takeDue returns what is due now, as far as it may be under way; each is armed anew by its renewal, and until then
// by a guess, so that it is taken once.
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
	pause := time.Hour // nothing held: nothing to watch, until an add wakes us
	switch {
	case k.out >= mostOut:
		pause = watchEvery // woken before, when enough of them are decided
	case len(k.heap) > 0:
		pause = max(min(k.heap[0].due.Sub(now), watchEvery), 0)
	}
	if k.soon != 0 { // those that came since the others were looked at
		// Also for one that is gone: where they come and go one at a time, each would
		// have to wake the scheduler.
		pause = max(min(k.soon.Sub(now), watchEvery, pause), 0)
		k.soon = 0
	}
	k.armed = k.timers().Add(pause)
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
