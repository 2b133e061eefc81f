package sim

import (
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/environment"
)

// host is a client's process. Another process replaces it after a crash or a Close.
type host struct {
	w       *world
	slot    int // the client's index in the plan
	life    int // how many processes had this slot before
	client  *holdfast.Client
	links   []*link
	random  *chance
	hops    *chance       // the luck of the process's goroutines at their hand-overs; nil: none of them is ever held back
	base    int64         // the reading of the client's steady clock at the start of the world, in ns
	speed   float64       // the speed of the client's clock
	visitor bool          // the client is not part of the plan
	over    chan struct{} // this channel closes when the process begins to end

	// The world's lock protects these fields.
	dead     bool          // the process crashed: its leases no longer count
	closing  bool          // Close was called
	held     time.Duration // no message passes to or from the process until this time
	asleep   bool          // the process is suspended
	sleeping time.Duration // the time that the stopped clock shows while the process is suspended
	stood    time.Duration // the total length of all suspensions, when the last one began
	woke     time.Duration // when the process last resumed
	settled  time.Duration // when the client last reported that it waits for an event with a known end: see settles
	off      time.Duration // when a node last told the client that its clock is off
	bids     int           // the number of owners that the client used
	calls    int
	owners   map[string]*bid
	leases   []*held
	uses     []use // the client's use of each name
}

// bid is an owner as it appeared on the network: one attempt.
type bid struct {
	name     string        // the key of the name's record
	born     time.Duration // when a request with this owner was first seen
	repeated bool          // one of the owner's requests came twice
	ended    bool          // the client sent a release or quit of the owner, or passed its lease on
	over     time.Duration // when it last did so
	won      time.Duration // when the owner got the lock; 0: not yet
	first    time.Duration // the TTL that the grant had
	readers  int           // handles of the reader's lease that have not ended
	shared   bool          // the lease had several handles
	failed   bool          // a handle of the lease ended with an error
	stored   bool          // a node stored the lease again at a renewal; the client counts such a node as one that lost it
	left     time.Duration // UnlockAt of a handle keeps the name until this time

	renewals map[int64]*try // the owner's renewals, by stamp
	until    int64          // the end of the lease that the last successful renewal asked for, as a stamp
	ttl      time.Duration  // the TTL of that renewal; 0: no renewal succeeded
}

// environment returns the client's sources of time and chance.
func (h *host) environment() environment.Sources {
	s := environment.Sources{Clock: h.clock, Random: h.random.next}
	if h.hops != nil {
		s.Woken = h.woken
	}
	return s
}

// clock returns the time of the client's steady clock. While its host is suspended, timers of the bubble continue,
// although they should stop. The stopped clock makes their actions harmless. When the clock leaps, these timers have
// not fired in time, as on a real host.
func (h *host) clock() clock.Instant {
	now := h.w.now()
	h.w.clocks.Lock()
	now += h.w.dozed
	if h.asleep {
		now = h.sleeping + h.stood
	}
	h.w.clocks.Unlock()
	return clock.Instant(h.base + int64(float64(now)*h.speed))
}

// gone reports whether the process is dead, so that its calls no longer count.
func (h *host) gone() bool {
	h.w.mu.Lock()
	defer h.w.mu.Unlock()
	return h.dead
}

// slewed is the largest difference between the rates of a client's clock and of the nodes' clocks. The client reads the
// nodes' clocks as often as a rate 10 % larger requires. A client whose stamps leave the window earlier must wait for
// MaxTTL + W, as after a move of a majority of the clocks.
const slewed = 900e-6

// newHost starts a process and its client.
func (w *world) newHost(slot, life int, c holdfast.Config, targets []int, visitor bool) (*host, error) {
	d := dice(luck(w.plan.Seed, 'h', uint64(slot), uint64(life)))
	h := &host{
		w: w, slot: slot, life: life, random: newChance(w.plan.Seed, 'r', uint64(slot), uint64(life)),
		base: int64(d.below(time.Hour)), speed: 1 + (float64(d.n(2001))-1000)/1e8*w.plan.steady(), owners: map[string]*bid{}, uses: make([]use, len(w.names)), visitor: visitor, over: make(chan struct{}),
	}
	if len(w.plan.Faults) > 0 && d.hit(0.4) && !w.plan.Rare.has(LongSleep) {
		h.speed = 1 + (float64(d.n(2001))-1000)/1000*slewed // the client has an inaccurate clock
	}
	if !visitor && w.plan.has(Busy) {
		h.hops = newChance(w.plan.Seed, 'k', uint64(slot), uint64(life))
	}
	if !visitor && w.plan.Clients[slot].Speed != 0 {
		h.speed = w.plan.Clients[slot].Speed
	}
	if w.plan.Broken.Slow && slot%2 == 0 {
		h.speed = 0.3
	}
	for i, to := range targets {
		l := newLink(h, i, to)
		h.links = append(h.links, l)
		c.Nodes = append(c.Nodes, l)
	}
	var err error
	h.client, err = holdfast.New(c)
	return h, err
}

// config returns the configuration of a client.
func (w *world) config(c ClientPlan) holdfast.Config {
	p := w.plan
	return holdfast.Config{
		TTL: c.TTL, MaxTTL: w.configs()[0].MaxTTL, Window: p.Window, Durable: p.Durable, NodeTimeout: p.Timeout,
		Label: "sim", Prefix: c.Prefix, Private: c.Private, Fair: c.Fair, Logger: silent, RetryDelay: c.Retry, PollGap: c.Gap,
	}
}

// launch starts the process of a slot.
func (w *world) launch(slot, life int) {
	targets := make([]int, w.plan.N)
	for i := range targets {
		targets[i] = i
	}
	if has(w.plan.Spare, slot) {
		for i := range w.plan.others() {
			targets[len(targets)-1-i] = w.plan.N + i
		}
	}
	h, err := w.newHost(slot, life, w.config(w.plan.Clients[slot]), targets, false)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.violated(anyOther, -1, "client%d: %v", slot, err)
		return
	}
	w.all = append(w.all, h)
	w.hosts[slot] = h
	close(w.ready[slot])
}

// host waits for the process of a slot. It returns nil if the slot gets no process.
func (w *world) host(slot int) *host {
	for {
		w.mu.Lock()
		h, ready := w.hosts[slot], w.ready[slot]
		w.mu.Unlock()
		if h != nil {
			return h
		}
		select {
		case <-ready:
		case <-w.abort:
			return nil
		}
	}
}

// retire ends a process: the process vanishes, or its client is closed. After pause another process replaces it. If
// pause is 0, none does.
func (w *world) retire(h *host, vanishes bool, pause time.Duration) {
	w.mu.Lock()
	if h.dead || h.closing {
		w.mu.Unlock()
		return
	}
	h.closing = true
	mustForget := w.mustForget(h)
	if vanishes {
		h.dead = true
		for _, l := range h.leases {
			w.ended(l, true)
		}
	}
	if !h.visitor {
		w.hosts[h.slot], w.ready[h.slot] = nil, make(chan struct{})
	}
	w.mu.Unlock()
	if vanishes {
		for _, s := range w.servers {
			w.hangUpAll(s, func(sub *subscription) bool { return sub.l.h == h })
		}
	}
	close(h.over)
	w.ends.Go(func() {
		_ = h.client.Close() // the ghost check and the reach check judge whether the nodes heard of the Close
		mustForget()
		w.mu.Lock()
		w.note("is gone", h.slot, -1, -1, 0, 0)
		h.dead = true
		w.mu.Unlock()
		if pause > 0 {
			d := dice(luck(w.plan.Seed, 'q', uint64(h.slot), uint64(h.life)))
			// The random part separates the starts of processes that ended together.
			time.Sleep(pause + d.below(50*time.Microsecond))
			w.launch(h.slot, h.life+1)
		}
	})
}
