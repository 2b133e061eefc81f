package sim

import (
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/internal/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// dawn is what the right clocks say when a world begins: sixteen digits, as today.
const dawn = int64(1_790_000_000_000_000)

// server is one node: the model, its clock, and whether it runs.
type server struct {
	w     *world
	index int
	model *nodemodel.Node

	mu    sync.Mutex
	at    time.Duration // the clock was set then,
	said  int64         // to this, in ns,
	speed float64       // and runs at this speed
	own   float64       // its usual speed: clocks are not perfect
	true0 int64         // what it would say at the beginning, ns

	liar atomic.Bool // it was wrong once

	vouched bool // it votes from the beginning

	// Of the world, under its lock.
	up       bool
	hung     time.Duration // it stands still until then,
	stopped  *Fault        // because of this
	epoch    int           // incarnations
	starts   int
	known    string // the id that it answered to a report last
	subs     map[*subscription]bool
	order    []*subscription  // of subs, as they came
	back     map[string]int64 // owners that gave back here, and the highest stamp that covered
	requests []request        // to admit it
	capped   map[string]bool  // those whose tombstone is none for a late acquire: see took
}

func newServer(w *world, i int) *server {
	d := dice(luck(w.plan.Seed, 'n', uint64(i)))
	s := &server{w: w, index: i, up: true, subs: map[*subscription]bool{}, back: map[string]int64{}, capped: map[string]bool{}}
	s.own = 1 + (float64(d.n(2001))-1000)/1e8*w.plan.steady() // ± 10 µs a second
	s.speed = s.own
	half := rightClocks(w.plan.Window)
	s.said = dawn*1000 + int64(pick(&d, -half, half, d.between(-half, half)))
	if w.plan.Clocks != nil {
		s.said = dawn*1000 + int64(w.plan.Clocks[i])
	}
	if w.plan.Far && i == 0 { // a node whose clock refuses a client's stamps cannot tell it of another list
		s.said = dawn*1000 + int64(d.between(-half/4, half/4))
	}
	s.true0 = s.said
	s.model = nodemodel.New(fmt.Sprintf("sim://node%d", i), s.clock, nodemodel.Info{
		Run: s.run(), Role: "master", Policy: "noeviction", ReplID: s.run(), AOF: true, Version: "Redis 7.0.15 (simulated)",
	}, w.configs()...)
	if s.vouched = d.hit(0.9) || w.plan.Clocks != nil; s.vouched { // nothing was ever locked on it
		s.model.Serve()
	}
	return s
}

// rightClocks is how far from the middle a right clock is at most. They are within W of each
// other, also at the end of a world: at 20 µs a second.
func rightClocks(window time.Duration) time.Duration { return window/2 - window/50 }

// steady is 1, and less in worlds so long, or with windows so short, that right clocks would part by more than
// what [rightClocks] leaves them.
func (p *Plan) steady() float64 {
	const apart = 2000 // windows, after which right clocks are W apart
	long := max(p.Heal+6*p.MaxTTL, 40*time.Second)
	return min(1, float64(apart*p.Window)/float64(long))
}

// run is the run id of this incarnation: no two servers share one.
func (s *server) run() string { return fmt.Sprintf("%020x%020x", s.index, s.starts) }

// clock is the node's, in µs.
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

// leap moves the clock for good.
func (s *server) leap(by time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said, s.true0 = s.said+int64(by), s.true0+int64(by)
}

// stands is for how long the node stands still from now on. The world's lock is held.
func (s *server) stands(now time.Duration) time.Duration {
	left := s.hung - now
	if left > 0 {
		s.w.met(s.stopped)
	}
	return left
}

// right sets the clock to what it would say if nothing had happened to it.
func (s *server) right() {
	now := s.w.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said, s.at, s.speed = s.true0+int64(float64(now)*s.own), now, s.own
}

// parcel is what goes to a node in one piece: calls by digest, a script's text, or scripts to load.
type parcel struct {
	calls []node.Call
	text  string
	then  []string // scripts to load when it is answered
	load  []string
	from  *link
	seq   uint64  // of what the link sent
	epoch int     // of the server when it was sent
	kept  bool    // by a proxy, until a server runs
	over  *answer // the connection that it goes over; nil: one that is made for it
}

// answer is where one came from: what follows it over its connection reaches the same incarnation, or none.
type answer struct {
	server *server
	epoch  int
}

// copied is a copy that outlives the call it was made for.
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
		reply := s.model.Eval(s.w.ctx, p.text, p.calls[0])
		if p.text != nodescript.HelloText() && p.text != nodescript.TrustText() {
			s.w.admits(s, reply.Value)
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

// keptFor is how often a proxy tries to reach a server that is down.
const keptFor = 5 * time.Millisecond

// deliver runs a parcel whose sender does not wait for it any more, or for this copy.
func (s *server) deliver(p parcel) {
	s.w.mu.Lock()
	left, gone := s.stands(s.w.now()), !s.up || s.epoch != p.epoch
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
		s.take(p)
	}
}

// spoil changes calls for a node that is broken on purpose.
func (s *server) spoil(p parcel) parcel {
	p = p.copied()
	for _, c := range p.calls {
		for i := 0; i+2 < len(c.Args); i += 3 {
			switch {
			case acquires(c) && s.w.plan.Broken.Unfair && len(c.Args[i+2]) == 16:
				ticket, _ := strconv.ParseInt(c.Args[i+2], 10, 64)
				c.Args[i+2] = nodescript.Micros(2*dawn - ticket)
			case releases(c) && s.w.plan.Broken.Sticky:
				c.Args[i] += "?"
			}
		}
	}
	return p
}

// restart ends the incarnation that runs and begins another, which keeps its keys if keeps
// says so of each.
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
