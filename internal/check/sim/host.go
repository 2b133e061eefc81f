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
	slot    int // the slot of the process
	life    int // the number of the process in its slot
	client  *holdfast.Client
	links   []*link
	random  *chance
	base    int64         // the value of its steady clock at the start of the world, ns
	speed   float64       // of its clock
	visitor bool          // it is not a client of the plan
	over    chan struct{} // closed when it begins to end

	// These fields are under the world's lock.
	dead     bool          // the process crashed: its leases no longer count
	closing  bool          // Close was called
	held     time.Duration // until then nothing passes to or from it
	asleep   bool          // its host is suspended:
	sleeping time.Duration // its clock shows this time,
	stood    time.Duration // at which all hosts had dozed this long
	woke     time.Duration // when it was last resumed
	settled  time.Duration // when it last said that it waits for an event with a known end: see settles
	off      time.Duration // when a node last told it that its clock is off
	bids     int           // the number of owners seen
	calls    int
	owners   map[string]*bid
	leases   []*held
	uses     []use // by name
}

// bid is an owner as it appeared on the network: one attempt.
type bid struct {
	name     string        // the record's key
	born     time.Duration // when it was first seen
	repeated bool          // one of its requests came twice
	ended    bool          // a release or quit of it was sent, or its lease was passed
	won      time.Duration // when it got the lock; 0: not yet

	renewals map[int64]*try // by stamp
	until    int64          // the stamp time until which the last successful renewal asked for the lease,
	ttl      time.Duration  // and its TTL; 0: no renewal succeeded
}

// environment returns the time and chance of the client.
func (h *host) environment() environment.Sources {
	return environment.Sources{Clock: h.clock, Random: h.random.next}
}

// clock is the client's steady clock. While its host is suspended, timers of the bubble continue, although they should
// stop. The stopped clock makes their actions harmless. When the clock leaps they have not fired in time, as on a real
// host.
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

// gone reports whether calls on the client no longer count.
func (h *host) gone() bool {
	h.w.mu.Lock()
	defer h.w.mu.Unlock()
	return h.dead
}

// slewed is the largest rate by which a client's clock may differ from those of the nodes. The client reads the nodes'
// clocks as often as a rate a tenth larger requires. A client that leaves the window earlier must wait for MaxTTL + W,
// as after a move of a majority of the clocks.
const slewed = 900e-6

// newHost starts a process and its client.
func (w *world) newHost(slot, life int, c holdfast.Config, targets []int, visitor bool) (*host, error) {
	d := dice(luck(w.plan.Seed, 'h', uint64(slot), uint64(life)))
	h := &host{
		w: w, slot: slot, life: life, random: newChance(w.plan.Seed, 'r', uint64(slot), uint64(life)),
		base: int64(d.below(time.Hour)), speed: 1 + (float64(d.n(2001))-1000)/1e8*w.plan.steady(), owners: map[string]*bid{}, uses: make([]use, len(w.names)), visitor: visitor, over: make(chan struct{}),
	}
	if len(w.plan.Faults) > 0 && d.hit(0.4) && !w.plan.Rare.has(LongSleep) {
		h.speed = 1 + (float64(d.n(2001))-1000)/1000*slewed // an inaccurate clock
	}
	if !visitor && w.plan.Clients[slot].Speed != 0 {
		h.speed = w.plan.Clients[slot].Speed
	}
	if w.plan.Broken.Slow && slot%2 == 0 {
		h.speed = 0.6
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
		TTL: c.TTL, MaxTTL: w.configs()[0].MaxTTL, Window: p.Window, Durable: p.Durable, NodeTimeout: p.Timeout, Cluster: cluster,
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

// host returns the process of a slot when it exists, nil if there will be none.
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

// retire ends a process: it vanishes, or it is closed. After pause another one replaces it, or none if pause is 0.
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
		_ = h.client.Close() // the ghost check and the reach check judge whether the nodes heard it
		mustForget()
		w.mu.Lock()
		w.note("is gone", h.slot, -1, -1, 0, 0)
		h.dead = true
		w.mu.Unlock()
		if pause > 0 {
			d := dice(luck(w.plan.Seed, 'q', uint64(h.slot), uint64(h.life)))
			time.Sleep(pause + d.below(50*time.Microsecond)) // processes that ended together do not start together
			w.launch(h.slot, h.life+1)
		}
	})
}
