package sim

import (
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// dawn is the time of right clocks at the start of a world. It has sixteen digits, as today's time has.
const dawn = int64(1_790_000_000_000_000)

// server is one node: the model, its clock, and whether it runs.
type server struct {
	w     *world
	index int
	model *nodemodel.Node

	mu    sync.Mutex
	at    time.Duration // when the clock was last set
	said  int64         // the time that the clock then showed, in ns
	speed float64       // the speed of the clock since then
	own   float64       // the usual speed of the clock, because no clock is perfect
	true0 int64         // the time that the clock would show at the start of the world, in ns

	liar atomic.Bool // the clock was wrong once

	vouched bool // the node votes from the start

	// The world's lock protects these fields.
	up       bool
	hung     time.Duration // the node is frozen until this time
	stopped  *Fault        // the fault that froze the node
	epoch    int           // the number of incarnations
	forgot   bool          // the node has lost data
	starts   int
	known    string // the id in the node's last answer to a report
	subs     map[*subscription]bool
	order    []*subscription  // the subscriptions in the order of their arrival
	back     map[string]int64 // the records and owners that gave back a lock here, with the highest stamp that the release covered
	gave     map[string]int64 // the records and owners that had a lock here when they gave it back, with the same stamp
	twice    map[string]bool  // those whose release came once more; its answer, not the first one, may have reached the client
	requests []request        // requests of admission
	capped   map[string]bool  // owners whose tombstone does not stop a late acquire: see took
}

func newServer(w *world, i int) *server {
	d := dice(luck(w.plan.Seed, 'n', uint64(i)))
	s := &server{w: w, index: i, up: true, subs: map[*subscription]bool{}, back: map[string]int64{}, gave: map[string]int64{}, twice: map[string]bool{}, capped: map[string]bool{}}
	s.own = 1 + (float64(d.n(2001))-1000)/1e8*w.plan.steady() // the speed is off by at most 10 µs a second
	s.speed = s.own
	half := rightClocks(w.plan.Window)
	s.said = dawn*1000 + int64(pick(&d, -half, half, d.between(-half, half)))
	if w.plan.Clocks != nil {
		s.said = dawn*1000 + int64(w.plan.Clocks[i])
	}
	if w.plan.Far && i == 0 { // a node whose clock refuses a client's stamps cannot warn it of another list
		s.said = dawn*1000 + int64(d.between(-half/4, half/4))
	}
	s.true0 = s.said
	s.model = nodemodel.New(fmt.Sprintf("sim://node%d", i), s.clock, nodemodel.Info{
		Run: s.run(), Role: "master", Policy: "noeviction", ReplID: s.run(), AOF: true, Version: "Redis 7.0.15 (simulated)",
	}, w.configs()...)
	if s.vouched = d.hit(0.9) || w.plan.Clocks != nil; s.vouched { // no client has ever locked a name on this node
		s.model.Serve()
	}
	if w.plan.Young {
		s.model.ServeSince(s.said / 1000)
	}
	return s
}

// rightClocks returns the largest distance of a right clock from the middle. Two right clocks are within W of each
// other even at the end of a world, when they drift apart by 20 µs a second.
func rightClocks(window time.Duration) time.Duration { return window/2 - window/50 }

// steady returns a factor for the drift of right clocks. It is 1, or less in long worlds and with short windows.
// Otherwise right clocks would leave the distance that [rightClocks] allows.
func (p *Plan) steady() float64 {
	const apart = 2000 // the time, in windows, after which right clocks are W apart
	long := max(p.Heal+6*p.MaxTTL, 40*time.Second)
	return min(1, float64(apart*p.Window)/float64(long))
}

// run returns the run id of this incarnation. No other incarnation has it, on any server.
func (s *server) run() string { return fmt.Sprintf("%020x%020x", s.index, s.starts) }

// clock returns the time of the node's clock, in µs.
func (s *server) clock() int64 {
	now := s.w.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reads(now) / 1000
}

func (s *server) reads(now time.Duration) int64 {
	return s.said + int64(float64(now-s.at)*s.speed)
}

// set moves the clock and changes its speed.
func (s *server) set(by time.Duration, speed float64) {
	now := s.w.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said, s.at, s.speed = s.reads(now)+int64(by), now, speed
	s.liar.Store(true)
}

// leap moves the clock permanently.
func (s *server) leap(by time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said, s.true0 = s.said+int64(by), s.true0+int64(by)
}

// frozenFor returns for how long the node stays frozen from now on. The caller holds the world's lock.
func (s *server) frozenFor(now time.Duration) time.Duration {
	left := s.hung - now
	if left > 0 {
		s.w.countHit(s.stopped)
	}
	return left
}

// right sets the clock to the time that it would show without any fault.
func (s *server) right() {
	now := s.w.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said, s.at, s.speed = s.true0+int64(float64(now)*s.own), now, s.own
}

// parcel is one piece that goes to a node: calls by digest, a script's text, or scripts to load.
type parcel struct {
	calls []node.Call
	text  string
	then  []string // scripts to load after the answer
	load  []string
	from  *link
	seq   uint64  // the parcel's number on the link
	epoch int     // the number of the server's incarnation when the parcel was sent
	kept  bool    // a proxy keeps the parcel until a server runs
	over  *answer // the connection that the parcel uses; nil: a new one
}

// answer is the source of a reply. Parcels that follow on the same connection reach the same incarnation, or no node.
type answer struct {
	server *server
	epoch  int
}

// copied returns a copy of the parcel. The copy may live longer than the call that made the parcel.
func (p parcel) copied() parcel {
	calls := make([]node.Call, len(p.calls))
	for i, c := range p.calls {
		calls[i] = node.Call{SHA: c.SHA, Keys: append([]string(nil), c.Keys...), Args: append([]string(nil), c.Args...)}
	}
	p.calls = calls
	return p
}

// take runs a parcel on the node.
func (s *server) take(p parcel) []node.Reply {
	s.w.delivered()
	s.w.arrived(s, p)
	if len(p.load) > 0 {
		return []node.Reply{{Err: s.model.Load(s.w.ctx, p.load...)}}
	}
	if p.text != "" {
		if forces(p.text, p.calls[0]) {
			return []node.Reply{s.force(p)}
		}
		reply := s.model.Eval(s.w.ctx, p.text, p.calls[0])
		if p.text != nodescript.HelloText() && p.text != nodescript.TrustText() {
			s.w.admits(s, reply.Value)
			s.w.skips(p.calls[0], reply.Value)
		}
		if p.text == nodescript.PeersText() {
			s.w.reported(s, reply)
		}
		return []node.Reply{reply}
	}
	if b := s.w.plan.Broken; b.Sticky || b.Unfair {
		p = s.spoil(p)
	}
	replies := s.model.EvalSHA(s.w.ctx, p.calls)
	s.w.took(s, p.calls, replies)
	return replies
}

// keptFor is the delay between a proxy's attempts to reach a server that is down.
const keptFor = 5 * time.Millisecond

// deliver runs a parcel, or a copy of one. The sender no longer waits for the answer.
func (s *server) deliver(p parcel) {
	s.w.mu.Lock()
	left, gone := s.frozenFor(s.w.now()), !s.up || s.epoch != p.epoch
	if p.kept && gone {
		if gone = false; !s.up {
			left = max(left, keptFor)
		}
	}
	s.w.mu.Unlock()
	switch {
	case gone:
	case left > 0:
		time.AfterFunc(left+time.Duration(s.w.serial()), func() { s.deliver(p) })
	default:
		replies := s.take(p)
		if s.w.trace != nil && p.from != nil {
			s.w.traced(p.from, p, replies)
		}
	}
}

// spoil changes the calls to a node that is broken on purpose.
func (s *server) spoil(p parcel) parcel {
	p = p.copied()
	for _, c := range p.calls {
		n, width := several(c)
		for i := range n {
			switch a := c.Args[i*width:]; {
			case acquires(c) && s.w.plan.Broken.Unfair && width == 4 && len(a[2]) == 16:
				ticket, _ := strconv.ParseInt(a[2], 10, 64)
				a[2] = nodescript.Micros(2*dawn - ticket)
			case releases(c) && s.w.plan.Broken.Sticky:
				a[0] += "?"
			}
		}
	}
	return p
}

// restart ends the present incarnation and begins another. The new incarnation has the keys for which keeps returns
// true.
func (s *server) restart(keeps func(key string) bool) {
	s.w.mu.Lock()
	s.starts++
	run := s.run()
	s.w.mu.Unlock()
	s.model.Restart(run, run, true)
	for _, k := range s.model.Keys() {
		if !keeps(k.Name) {
			s.model.Del(k.Name)
		}
	}
}
