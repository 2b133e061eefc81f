package bids

import (
	"container/heap"
	"math/rand/v2"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

const (
	epoch   = int64(1_800_000_000_000_000) // µs of stamp time at the instant 0
	window  = 250 * time.Millisecond
	timeout = 2 * time.Second // the timeout of a question
	trouble = 15 * time.Second
)

// World is one world of a few clients that want one lock.
type World struct {
	rng     *rand.Rand
	now     clock.Instant
	agenda  agenda
	set     nodescript.Config
	scripts *nodescript.Scripts
	servers []*server
	clients []*client
	calm    bool // no message is lost or late any more
	ttl     time.Duration
	crashes bool          // holders may crash
	slow    bool          // answers may be slow
	repeats bool          // requests may arrive twice
	readers bool          // half of the waiters are readers
	dead    bool          // the last of several nodes never answers
	unused  clock.Instant // nobody has used the lock since then; 0: the nodes were checked after that
	quiet   bool          // there are no faults at all, and no passes: waiters are served in their order
	outage  clock.Instant // an outage of node 0 may begin from this instant on; 0: never
	cut     bool          // the outage has begun, and lasts until the end of the faults
	crowd   int           // the number of additional clients; if it is not 0, every waiter comes once more after the faults

	holders map[int][]*holding // by slot: the leases that somebody may still rely on; a lock has the slot 0
	tokens  map[int]int64      // by slot: the highest token of a lease so far
	written int64              // the highest token of a writer's lease so far; a slot's holders are no readers
	broken  string

	Won, Passed, Moved, Lost, Repeated, Handoffs int // what happened
	Shared                                       int // readers that won beside readers
}

// Explore runs the world of a seed. It returns the first broken promise, or "".
func Explore(seed uint64) (*World, string) {
	return explore(seed, func(w *World) []nodescript.Kind {
		// The outage has its own generator of random numbers, so that all other random draws stay as they are.
		if rng := rand.New(rand.NewPCG(seed, 2)); rng.IntN(4) == 0 {
			w.outage = clock.Instant(1 + rng.Int64N(int64(trouble)))
		}
		return []nodescript.Kind{lock}
	})
}

// ExploreSlots is Explore for a semaphore. In some worlds the clients differ in the number of slots.
func ExploreSlots(seed uint64) (*World, string) {
	return explore(seed, func(w *World) (kinds []nodescript.Kind) {
		w.readers = false
		k := 1 + w.rng.IntN(4)
		kinds = append(kinds, slotsOf(k))
		w.crowd, w.dead, w.quiet = w.rng.IntN(4), w.chance(3), w.chance(4)
		if w.chance(4) {
			kinds = append(kinds, slotsOf(k+1))
		}
		return kinds
	})
}

var lock = nodescript.NewExclusive(nodescript.Lock{Name: "x", Private: true})

func slotsOf(k int) nodescript.Kind {
	return nodescript.NewSemaphore(nodescript.NewSlots("x", k)).Any()
}

// explore runs the world of a seed. The clients want the kinds in turn.
func explore(seed uint64, draw func(w *World) []nodescript.Kind) (*World, string) {
	w := &World{rng: rand.New(rand.NewPCG(seed, 1)), holders: map[int][]*holding{}, tokens: map[int]int64{}}
	w.readers = w.chance(2)
	kinds := draw(w)
	n := []int{1, 3, 3, 3, 5}[w.rng.IntN(5)]
	w.set = nodescript.Config{N: n, MaxTTL: 10 * time.Second, Window: window, Cluster: "bids"}
	w.scripts = nodescript.NewScripts(w.set, "run")
	w.ttl = 2*time.Second + w.below(8*time.Second)
	w.crashes, w.slow, w.repeats = w.chance(4), w.chance(2), w.chance(2)
	for i := range n {
		w.servers = append(w.servers, w.newServer(i))
	}
	for i := range 1 + w.rng.IntN(3) + w.crowd {
		w.clients = append(w.clients, w.newClient(i, kinds[i%len(kinds)]))
	}
	if w.quiet {
		w.settle()
		w.crashes = false
	}
	for _, c := range w.clients {
		for range 1 + w.rng.IntN(3) {
			w.after(w.below(trouble/2), c.enter)
			if w.crowd > 0 {
				w.after(trouble+time.Second+w.below(time.Second), c.enter)
			}
		}
	}
	w.after(trouble, w.settle)
	w.run(trouble + w.servedWithin())
	w.judgeServed()
	w.run(trouble + w.servedWithin() + w.cleanWithin())
	w.judgeLeftovers(!w.repeats)
	w.run(trouble + w.servedWithin() + w.cleanWithin() + nodescript.QueueKept)
	w.judgeLeftovers(true)
	return w, w.broken
}

// isDead reports whether a node never answers.
func (w *World) isDead(i int) bool { return w.dead && len(w.servers) > 1 && i == len(w.servers)-1 }

// cutOff begins the outage of node 0, if its time has come. Its callers have just won a lease: what they send from now
// on does not reach the node, perhaps for longer than a TTL.
func (w *World) cutOff() { w.cut = w.cut || w.outage != 0 && w.now >= w.outage }

// isCut reports whether no request reaches a node now.
func (w *World) isCut(i int) bool { return i == 0 && w.cut && !w.calm }

// settle ends the faults.
func (w *World) settle() {
	w.calm = true
	w.after(timeout+time.Second, func() { w.watch(time.Duration(w.now)) }) // a message that was lost is sent again
	for _, c := range w.clients {
		for i := range w.servers {
			c.hear(i, !w.isDead(i))
		}
	}
}

// run handles all events until an instant, or until a promise is broken.
func (w *World) run(until time.Duration) {
	for w.broken == "" && len(w.agenda) > 0 && w.agenda[0].at <= clock.Instant(until) {
		e := heap.Pop(&w.agenda).(event)
		w.now = e.at
		e.do()
	}
	w.now = max(w.now, clock.Instant(until))
}

// after calls do after d.
func (w *World) after(d time.Duration, do func()) {
	heap.Push(&w.agenda, event{at: w.now.Add(d), order: w.rng.Uint32(), do: do})
}

// chance returns true in one of n cases, at random.
func (w *World) chance(n int) bool { return w.rng.IntN(n) == 0 }

func (w *World) below(d time.Duration) time.Duration { return time.Duration(w.rng.Int64N(int64(d))) }

// event is something that happens at an instant. Events of one instant happen in a random order.
type event struct {
	at    clock.Instant
	order uint32
	do    func()
}

type agenda []event

func (a agenda) Len() int      { return len(a) }
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a agenda) Less(i, j int) bool {
	if a[i].at != a[j].at {
		return a[i].at < a[j].at
	}
	return a[i].order < a[j].order
}
func (a *agenda) Push(e any) { *a = append(*a, e.(event)) }
func (a *agenda) Pop() any {
	last := (*a)[len(*a)-1]
	(*a)[len(*a)-1] = event{}
	*a = (*a)[:len(*a)-1]
	return last
}
