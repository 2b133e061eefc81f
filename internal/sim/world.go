package sim

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/nodescript"
)

// Result is what came of a world.
type Result struct {
	Violations []string // none: all promises were kept
	broken     [breaches]bool
	Digest     uint64 // of the history
	Tally      Tally

	history history
}

// History is what happened, as text.
func (r *Result) History() string { return r.history.String() }

// world runs a plan.
type world struct {
	plan    *Plan
	start   time.Time
	ctx     context.Context // of calls inside nodes: it never ends
	servers []*server
	trace   io.Writer // every call to a node, for people; nil: not written
	healed  chan struct{}
	abort   chan struct{}  // closed when there is nothing to wait for any more
	acts    sync.WaitGroup // actors
	ends    sync.WaitGroup // clients being closed
	timers  sync.Pool      // of messages on their way: two for each, so they are used again

	gate   chan struct{} // closed when calls may begin again; nil: they may. Under mu
	inside int           // calls that began, with what they got; under mu

	clocks sync.Mutex    // of the hosts; nothing else is locked under it
	dozed  time.Duration // for how long all hosts slept: by so much their clocks are ahead of their timers

	mu       sync.Mutex
	hosts    []*host         // by slot, the present ones
	ready    []chan struct{} // by slot: closed when there is one
	all      []*host
	active   [kinds][]*Fault // those of messages, while they last
	hit      map[*Fault]bool // faults that a message met
	names    []*name
	over     bool            // all faults,
	since    time.Duration   // since then
	votes    []time.Duration // by node: when it votes, as known when they were over
	doubtful []bool          // by node: whether a question for what it has no record of may find out otherwise
	forgot   bool            // no majority did then
	result   Result
	unique   int
	messages int
}

// Run runs a plan. It must be called inside a bubble of testing/synctest, by the bubble's
// main goroutine. trace, which may be nil, gets every call to a node.
func Run(p *Plan, trace io.Writer) *Result {
	w := &world{plan: p, start: time.Now(), ctx: context.Background(), trace: trace, hit: map[*Fault]bool{}, healed: make(chan struct{}), abort: make(chan struct{})}
	for _, n := range p.Names {
		w.names = append(w.names, &name{record: nodescript.RecordKey(n)})
	}
	for i := range p.N {
		w.servers = append(w.servers, newServer(w, i))
	}
	for range p.others() {
		w.servers = append(w.servers, newServer(w, len(w.servers)))
	}
	for k := range DeadCall {
		if p.Rare.has(k) {
			w.rare(k)
		}
	}
	w.hosts, w.ready = make([]*host, len(p.Clients)), make([]chan struct{}, len(p.Clients))
	for slot := range p.Clients {
		w.ready[slot] = make(chan struct{})
		w.launch(slot, 0)
	}
	for i := range p.Actors {
		a := &p.Actors[i]
		w.acts.Go(func() { w.act(a) })
	}
	w.ends.Go(w.strikeAll)
	w.awaitActors()
	w.ends.Wait()
	w.lookForGhosts()
	w.farewell()
	w.sum()
	return &w.result
}

// awaitActors waits until all actors have got what they wanted. One that waits for much
// longer than promised is a lost wake-up.
func (w *world) awaitActors() {
	done := make(chan struct{})
	go func() { w.acts.Wait(); close(done) }()
	t := time.NewTimer(w.plan.Heal + time.Duration(w.plan.ops())*3*time.Second + w.plan.lasts() + 5*time.Minute)
	defer t.Stop()
	select {
	case <-done:
		return
	case <-t.C:
	}
	w.mu.Lock()
	for i, n := range w.names {
		for _, wait := range n.waits {
			w.violated(anyOther, i, "nobody served client%d/%d, which waits for name%d since %.3f", wait.h.slot, wait.actor, i, wait.since.Seconds())
		}
	}
	w.violated(neverGot, -1, "some never got what they wanted")
	w.mu.Unlock()
	close(w.abort)
	w.closeAll()
	w.ends.Wait()
	<-done
}

// closeAll closes the clients that are left.
func (w *world) closeAll() {
	w.mu.Lock()
	hosts := append([]*host(nil), w.hosts...)
	w.mu.Unlock()
	for _, h := range hosts {
		if h != nil {
			w.retire(h, false, 0)
		}
	}
}

// now is the true time, since the world began.
func (w *world) now() time.Duration { return time.Since(w.start) }

// configs are those that clients of this world may have; the first is the right one.
func (w *world) configs() []nodescript.Config {
	p := w.plan
	right := nodescript.Config{N: p.N, MaxTTL: p.MaxTTL, Window: p.Window, Durable: p.Durable, Cluster: cluster}
	if p.Broken.Long {
		right.MaxTTL *= 2
	}
	ttl, window, n := right, right, right
	ttl.MaxTTL += time.Second
	window.Window += time.Millisecond
	window.MaxTTL += 8 * time.Millisecond // at least 8 W
	n.N = max(p.N-2, 1)
	if p.N == 1 {
		n.MaxTTL += 2 * time.Millisecond
	}
	return []nodescript.Config{right, ttl, window, n}
}

const cluster = "sim"

var silent = slog.New(slog.DiscardHandler)

// serial is a number of nanoseconds that nobody else has.
func (w *world) serial() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unique++
	return 1 + w.unique%50_000
}

// delivered counts a message to a node. Now and then it has the scheduler begin a new time
// slice: goroutines that wake each other share one, and the runtime interrupts whoever runs
// when it is over, which would change the order of what follows.
func (w *world) delivered() {
	w.mu.Lock()
	w.messages++
	slice := w.messages%32 == 0
	w.mu.Unlock()
	if slice {
		go func() {}()
		go func() {}()
	}
}

// longest is the longest TTL that anybody asks for.
func longest(p *Plan) (d time.Duration) {
	for _, c := range p.Clients {
		d = max(d, c.TTL)
	}
	for _, a := range p.Actors {
		for _, o := range a.Ops {
			d = max(d, o.TTL, o.Extend, o.Left)
		}
	}
	return d
}

// note adds to the history. w.mu is held.
func (w *world) note(what string, client, actor, name int, a, b int64) {
	w.result.history.add(event{w.now(), what, client, actor, name, a, b})
}

// count counts an outcome.
func (w *world) count(o Outcome) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.result.Tally.Outcomes[o]++
}

// sum makes the result.
func (w *world) sum() {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := &w.result.Tally
	t.Worlds, t.Messages = 1, w.messages
	for _, h := range w.all {
		t.Calls += h.calls
		t.Bids += h.bids
		t.Attempts += max(h.calls, h.bids)
	}
	w.result.Digest = w.result.history.digest()
}
