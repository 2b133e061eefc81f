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

// watchEvery is the pause between two checks whether the client's host was suspended. Timers use the monotonic clock,
// and that clock stops during a suspension. So after a suspension, the timer of a deadline fires too late. The check
// finds the passed deadline within a second.
const watchEvery = time.Second

// Keeper keeps all leases of a client. It has one goroutine, the scheduler, and one timer for all renewals. It renews
// the leases in the order in which they are due. It sends renewals that are due together in the same pieces.
type Keeper struct {
	fan *fanout.Fanout
	// Explain returns the error that callers get after a loss. It must not call methods that lock the lease. If
	// Explain is nil, callers get the LostError. Set it before the first call of Keep.
	Explain func(e *Lease, why *LostError) error

	// Events receives the events Renewed, Released and Lost. nil: nobody listens. Set it before the first call of
	// Keep.
	Events *events.Stream

	// Refused is called when a node refused to repair a lease because another attempt has a partial grant there. When
	// that attempt gives its grant back, the node hands the name to the lease's owner. The client must receive that
	// hand-off and call [Keeper.Repair]. nil: the client receives no hand-offs. Set it before the first call of Keep.
	Refused func(name string)

	// Route returns the node set that has a name now, or nil if that is not known. nil: there is one node set for good.
	// Set it before the first call of Keep.
	Route func(name string) *fanout.Fanout

	// Routes returns a value that changes when Route may return another node set for some name. nil: it never does. Set it
	// together with Route.
	Routes func() any

	routes any // what Routes has returned last; the scheduler has it

	timers clock.Clock // the clock that timers use; it stops while the host is suspended

	mu     sync.Mutex
	fresh  []*Lease      // the leases that are not scheduled yet; most leases are released before they get there
	lanes  []*lane       // one for each node set with scheduled leases or renewals under way
	armed  clock.Instant // the instant at which the timer wakes the scheduler, by the clock timers
	paused time.Duration // the time from the last start of the timer to armed
	soon   clock.Instant // the earliest due instant of the leases added since the scheduler woke; 0: none. It may belong to an ended lease.
	wake   chan struct{}
	closed bool
	beats  bool // the pulse beats
	wakes  wakes
	gaps   map[*gap]struct{} // the gaps that have not ended
	wants  map[string]*Lease // by owner: the leases that a node refused to repair and may hand the name to
	stop   chan struct{}
	wait   sync.WaitGroup

	pulse pulse // the delay of this process

	lostMu sync.Mutex
	lost   []*Lease // announced losses that were not yet sent to the nodes
	tells  bool     // a goroutine is sending these losses
	atOnce bool     // the keeper is closed, so each loss is sent at once
}

// NewKeeper returns a keeper and starts its scheduler. Close stops it.
func NewKeeper(f *fanout.Fanout) *Keeper {
	k := &Keeper{fan: f, timers: clock.Monotonic(), wake: make(chan struct{}, 1), stop: make(chan struct{})}
	f.WhenLeft(k.left)
	k.wait.Go(k.run)
	return k
}

// Held returns the leases that the keeper has now.
func (k *Keeper) Held() []*Lease {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := slices.Clone(k.fresh)
	for _, l := range k.lanes {
		all = append(all, l.heap...)
	}
	return all
}

// Repair renews the lease of owner at once. The caller received a hand-off: a node that refused the repair has now
// reserved the name for the owner. Repair returns false if the keeper has no such lease, if the lease has ended, or if
// no renewal of it was sent yet.
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
	if !first {
		e.ask()
	}
	return !first && e.End() == nil
}

// refused notes that a node refused to repair a lease, unless the lease has ended.
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
	k.Refused(e.lock.Name())
}

// Close stops all renewals and ends all gaps. It does not release the leases: the caller does that with Held. If Keep
// is called after Close, the lease ends at once.
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

// add adds a lease to the list of fresh leases. The scheduler moves it into its lane when it wakes next. A lease that
// is released before that never costs more than its place in the list. add returns false if the keeper is closed.
func (k *Keeper) add(e *Lease, due clock.Instant) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return false
	}
	e.due = due
	e.index = int32(len(k.fresh))
	k.fresh = append(k.fresh, e)
	if k.soon == 0 || due < k.soon {
		k.soon = due
	}
	k.nudge(e)
	return true
}

// arm sets the instant at which e is due next. It does nothing if the keeper no longer has e. The caller holds e.mu.
func (k *Keeper) arm(e *Lease, due clock.Instant) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if e.index < 0 {
		return
	}
	k.place(e, e.grant.Fan)
	e.due = due
	heap.Fix(&e.lane.heap, int(e.index))
	k.nudge(e)
}

// drop removes a lease from the list of fresh leases. The caller holds k.mu.
func (k *Keeper) drop(e *Lease) {
	last := len(k.fresh) - 1
	k.fresh[e.index] = k.fresh[last]
	k.fresh[e.index].index = e.index
	k.fresh[last] = nil
	k.fresh = k.fresh[:last]
	e.index = -1
}

// later queues the release of a lost lease. A goroutine sends it: see loseLocked. The caller holds e.mu.
func (k *Keeper) later(e *Lease) {
	k.lostMu.Lock()
	if k.atOnce {
		k.lostMu.Unlock()
		e.forgetLocked()
		return
	}
	defer k.lostMu.Unlock()
	k.lost = append(k.lost, e)
	if !k.tells {
		k.tells = true
		k.wait.Go(k.tellLost)
	}
}

// tellLost releases all lost leases on the nodes. Before each one, it lets other goroutines run, because they may have
// to announce further losses. An announcement is more urgent than a release.
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
		k.fan.Woken()
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
	case e.fresh():
		k.drop(e)
	case e.index >= 0:
		heap.Remove(&e.lane.heap, int(e.index))
	}
	delete(k.wants, e.grant.Owner)
	delete(k.wants, e.Owner())
}

// watch schedules the fresh leases. Each of them gets a timer for its deadline and a place in its lane.
func (k *Keeper) watch() {
	k.mu.Lock()
	fresh := slices.Clone(k.fresh)
	k.mu.Unlock()
	for _, e := range fresh {
		e.mu.Lock()
		e.watchLocked()
		k.mu.Lock()
		if e.fresh() {
			k.place(e, e.grant.Fan)
		}
		k.mu.Unlock()
		e.mu.Unlock()
	}
}

// nudge wakes the scheduler if e is due before the scheduler's timer fires. While leases come and go, the timer fires
// every watchEvery, and most leases are due later than that. So a caller that takes a lock usually causes no switch to
// another goroutine. The caller holds k.mu.
func (k *Keeper) nudge(e *Lease) {
	if k.sleepsPast(e.due) {
		select {
		case k.wake <- struct{}{}:
		default:
		}
	}
}

// sleepsPast reports whether the scheduler's timer fires only after due. It compares the two instants by the clock of
// the timer. After a suspension, the client's own clock is already past the planned instant, but the timer still waits
// for the rest of its time. A comparison by the client's clock would then fail to wake the scheduler. The caller holds
// k.mu.
func (k *Keeper) sleepsPast(due clock.Instant) bool {
	left := due.Sub(k.fan.Now())
	return left < k.paused && k.timers().Add(left) < k.armed // the first check saves most callers a reading of a clock
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
		k.fan.Woken()
		k.awake()
		if d := k.fan.Now().Sub(mono()); d-drift > watchEvery/10 {
			for _, e := range k.Held() { // the two clocks moved apart, so the host was suspended
				e.check()
			}
			drift = d
		}
		k.watch()
		k.moved()
		for _, d := range k.takeDue() {
			if !d.renew(nil, d.in) {
				k.decided(d.in)
			}
		}
		timer.Reset(k.pause())
	}
}

func (k *Keeper) pause() time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.fan.Now()
	pause := time.Hour // without leases the scheduler sleeps until add wakes it
	if k.scheduled() {
		pause = watchEvery
		if due, ok := k.next(); ok {
			pause = max(min(due.Sub(now), watchEvery), 0)
		}
	}
	if k.soon != 0 { // leases came since the last call of pause
		// k.soon counts even if its lease has ended since then. Otherwise the scheduler would sleep for an hour, and
		// each of many short leases in a row would have to wake it.
		pause = max(min(k.soon.Sub(now), watchEvery, pause), 0)
		k.soon = 0
	}
	k.armed, k.paused = k.timers().Add(pause), pause
	k.sleeps(now, pause)
	return pause
}
