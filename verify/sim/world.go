package sim

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// Result is the result of a world.
type Result struct {
	Violations []string // empty if all promises were kept
	broken     [breaches]bool
	Digest     uint64 // the digest of the history
	Tally      Tally

	history history
}

// History returns the events as text.
func (r *Result) History() string { return r.history.String() }

// world runs a plan.
type world struct {
	plan    *Plan
	start   time.Time
	ctx     context.Context // the context of calls inside nodes; it never ends
	servers []*server
	trace   io.Writer // receives every call to a node, for people; nil: no trace
	healed  chan struct{}
	abort   chan struct{}  // this channel closes when nothing more can happen
	acts    sync.WaitGroup // counts the actors that run
	ends    sync.WaitGroup // counts the clients that are being closed
	timers  sync.Pool      // timers of messages on their way; each message needs two, so they are reused

	gate   chan struct{} // this channel closes when calls may begin again; nil: they may begin; mu protects it
	inside int           // the number of running calls, with their locks; mu protects it

	clocks sync.Mutex    // protects the clocks of the hosts; no other lock is taken under it
	dozed  time.Duration // the total length of all dozes: the hosts' clocks are ahead of their timers by this

	mu       sync.Mutex
	hosts    []*host         // the present processes, by slot
	ready    []chan struct{} // by slot; a channel closes when the process exists
	all      []*host
	active   [kinds][]*Fault // message faults, while they last
	hit      map[*Fault]bool // faults that hit a message
	names    []*name
	forced   map[string]*forcing // forced releases, by the key and owner of the lease
	over     bool                // all faults have ended
	since    time.Duration       // when all faults ended
	votes    []time.Duration     // by node: the time from which it votes, as far as the judge knows
	doubtful []bool              // by node: a question about a name may find a loss
	forgot   bool                // no majority voted when the faults ended
	result   Result
	parted   bool // all clients were closed at the end
	unique   int
	messages int
}

// Run runs a plan. The main goroutine of a bubble of testing/synctest must call it. trace receives every call to a
// node. It may be nil.
func Run(p *Plan, trace io.Writer) *Result {
	w := &world{plan: p, start: time.Now(), ctx: context.Background(), trace: trace, hit: map[*Fault]bool{}, forced: map[string]*forcing{}, healed: make(chan struct{}), abort: make(chan struct{})}
	for _, n := range p.Names {
		record := nodescript.RecordKey(n)
		w.names = append(w.names, &name{record: record, queue: nodescript.QueueKey(record), plain: n})
	}
	w.addSlots()
	for i := range p.N {
		w.servers = append(w.servers, newServer(w, i))
	}
	for range p.others() {
		w.servers = append(w.servers, newServer(w, len(w.servers)))
	}
	if p.Replica {
		s := newServer(w, len(w.servers))
		s.model.Info.Role = "slave"
		w.servers = append(w.servers, s)
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

// awaitActors waits until all actors have their locks. If an actor waits for much longer than promised, a wake-up was
// lost.
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

// closeAll closes the remaining clients.
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

// now returns the true time since the start of the world.
func (w *world) now() time.Duration { return time.Since(w.start) }

// configs returns the configurations that clients of this world may have. The first is the main one.
func (w *world) configs() []nodescript.Config {
	p := w.plan
	right := nodescript.Config{N: p.N, MaxTTL: p.MaxTTL, Window: p.Window, Durable: p.Durable, Cluster: clusterOf(p.N)}
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

// clusterOf returns the name of a set that is called after its addresses.
func clusterOf(n int) string {
	var addrs []string
	for i := range n {
		addrs = append(addrs, fmt.Sprintf("sim://node%d", i))
	}
	slices.Sort(addrs) // node10 comes before node2
	sum := sha256.Sum256([]byte(strings.Join(addrs, "\n")))
	return hex.EncodeToString(sum[:6])
}

var silent = slog.New(slog.DiscardHandler)

// serial returns a number of nanoseconds. No other caller gets the same number soon.
func (w *world) serial() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unique++
	return 1 + w.unique%50_000
}

// delivered counts a message to a node. After every 32 messages it makes the scheduler begin a new time slice.
// Goroutines that wake each other share one slice. At the end of a slice the runtime interrupts the present goroutine,
// which would change the order of later events.
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

// longest returns the longest TTL that any client asks for.
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

// note adds an event to the history. The caller holds w.mu.
func (w *world) note(what string, client, actor, name int, a, b int64) {
	w.result.history.add(event{w.now(), what, client, actor, name, a, b})
}

// count counts an outcome.
func (w *world) count(o Outcome) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.result.Tally.Outcomes[o]++
}

// sum computes the result.
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
