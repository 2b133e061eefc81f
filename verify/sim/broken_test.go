package sim

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
)

// small returns a world without faults.
func small(seed uint64) *Plan {
	p := &Plan{
		Seed: seed, N: 3, Window: 20 * time.Millisecond, MaxTTL: 300 * time.Millisecond, Timeout: 50 * time.Millisecond,
		Slow: 2 * time.Millisecond, Names: []string{"name0"}, Heal: 5 * time.Second,
	}
	d := dice(luck(seed, 'b'))
	for i := range 6 {
		p.Clients = append(p.Clients, ClientPlan{TTL: 250 * time.Millisecond, Retry: 50 * time.Millisecond, Fair: true})
		a := Actor{ID: i, Client: i, Wish: []int{0}}
		for range 20 {
			a.Ops = append(a.Ops, Op{Pause: 1 + d.below(300*time.Millisecond), Wait: true, Patience: time.Second, Hold: 1 + d.below(80*time.Millisecond)})
		}
		p.Actors = append(p.Actors, a)
	}
	return p
}

// long makes every actor hold its locks longer than a lease lasts without renewal.
func long(p *Plan) {
	for i := range p.Actors {
		for j := range p.Actors[i].Ops {
			p.Actors[i].Ops[j].Hold = 2 * p.MaxTTL
		}
	}
}

// A judge that finds nothing may be blind. So each of these worlds is broken in a way that a judge must report. The
// report must contain the words of the broken promise.
func TestBrokenWorldsAreNoticed(t *testing.T) {
	if raced && testing.Short() {
		t.Skip("make test runs it without the race detector, ten times as fast")
	}
	alone(t)
	for _, c := range []struct {
		name   string
		broken Broken
		says   string
		shape  func(*Plan)
	}{
		{"nodes that forget and go on", Broken{Vouches: true}, "two holders", func(p *Plan) {
			for i := range 20 {
				p.Faults = append(p.Faults, Fault{ID: 100 + i, Kind: Flush, At: p.Heal * time.Duration(i+1) / 25, Nodes: 1<<p.N - 1})
			}
		}},
		{"clients whose clocks are slow", Broken{Slow: true}, "two holders", func(p *Plan) {
			long(p)
			for i := range p.Actors { // without a limit the actors would wait forever
				p.Actors[i].Ops, p.Actors[i].Wish = p.Actors[i].Ops[:4], nil
			}
		}},
		{"clocks that leap", Broken{}, "two holders", func(p *Plan) {
			long(p)
			for i := range 6 {
				at := p.Heal * time.Duration(i+1) / 8
				p.Faults = append(p.Faults,
					Fault{ID: 100 + i, Kind: Step, At: at, Nodes: 1<<p.N - 1, By: 4 * p.MaxTTL},
					Fault{ID: 200 + i, Kind: Crash, At: at + 1, For: 1, Clients: 1<<len(p.Clients) - 2})
			}
		}},
		{"clocks that go back, and memories with them", Broken{Vouches: true}, "is not above", func(p *Plan) {
			for i := range 6 {
				at := p.Heal * time.Duration(i+1) / 8
				p.Faults = append(p.Faults,
					Fault{ID: 100 + i, Kind: Step, At: at, Nodes: 1<<p.N - 1, By: -4 * p.MaxTTL},
					Fault{ID: 200 + i, Kind: Flush, At: at, Nodes: 1<<p.N - 1},
					Fault{ID: 300 + i, Kind: Crash, At: at + 1, For: 1, Clients: 1<<len(p.Clients) - 1})
			}
		}},
		{"nodes that do not hear releases", Broken{Sticky: true}, "ghost", nil},
		{"a key of nobody in the way", Broken{Taken: true}, "while somebody waited", nil},
		{"a driver that is slow to come back", Broken{Backoff: 10 * time.Second}, "while somebody waited", nil},
		{"a quarantine that is twice as long", Broken{Long: true}, "while somebody waited", func(p *Plan) {
			p.MaxTTL = 3 * time.Second
			p.Faults = []Fault{{ID: 100, Kind: Flush, At: p.Heal - time.Second, Nodes: 1<<p.N - 1}}
		}},
		{"memory lost that nobody finds out", Broken{Backoff: 10 * time.Second}, "nobody found out", func(p *Plan) {
			p.Faults = []Fault{{ID: 100, Kind: Forget, At: p.Heal - time.Second, For: time.Second - time.Millisecond, Nodes: 1<<p.N - 1}}
		}},
		{"nodes that serve the last first", Broken{Unfair: true}, "who came", nil},
		{"drivers that load scripts behind a refusal", Broken{Hasty: true}, "two holders", func(p *Plan) {
			broken := p.Broken
			*p = *drawLatecomers(p.Seed)
			p.Broken = broken
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var garbage collector
			for seed := uint64(1); seed <= 100; seed++ {
				p := small(seed)
				p.Broken = c.broken
				if c.shape != nil {
					c.shape(p)
				}
				r := run(t, p, nil)
				garbage.after(r)
				if strings.Contains(strings.Join(r.Violations, "\n"), c.says) {
					t.Logf("seed %d: %s", seed, r.Violations[0])
					return
				}
			}
			t.Errorf("no checker said %q", c.says)
		})
	}
}

// said is a fake lease that returns fixed answers.
type said struct {
	ctx      context.Context
	deadline time.Time
	token    int64
	reader   bool
}

func (s said) Context() context.Context { return s.ctx }
func (s said) Deadline() time.Time      { return s.deadline }
func (s said) Fence() int64             { return s.token }
func (s said) Owner() string {
	if s.reader {
		return "a~b~c~r"
	}
	return "a~b~c"
}

// No world shows these cases, because only a defect of the lock itself causes them.
func TestTheWitnessBelievesItsEyes(t *testing.T) { synctest.Test(t, witnessed) }

func witnessed(t *testing.T) {
	late, soon := time.Now().Add(time.Hour), time.Now().Add(-2*time.Second)
	ended, end := context.WithCancel(context.Background())
	end()
	bg := context.Background()
	for _, c := range []struct {
		says   string
		leases [2]said
	}{
		{"two holders", [2]said{{ctx: bg, deadline: late, token: 1}, {ctx: bg, deadline: late, token: 2}}},
		{"told of its loss", [2]said{{ctx: bg, deadline: soon, token: 1}, {ctx: bg, deadline: late, token: 2}}},
		{"is not above", [2]said{{ctx: ended, deadline: soon, token: 2}, {ctx: bg, deadline: late, token: 2}}},
		{"", [2]said{{ctx: ended, deadline: soon, token: 1}, {ctx: bg, deadline: late, token: 2}}},
		{"", [2]said{{ctx: bg, deadline: late, token: 2, reader: true}, {ctx: bg, deadline: late, token: 1, reader: true}}},
		{"two holders", [2]said{{ctx: bg, deadline: late, token: 1, reader: true}, {ctx: bg, deadline: late, token: 2}}},
		{"two holders", [2]said{{ctx: bg, deadline: late, token: 1}, {ctx: bg, deadline: late, token: 2, reader: true}}},
		{"is not above", [2]said{{ctx: ended, deadline: soon, token: 2, reader: true}, {ctx: bg, deadline: late, token: 2}}},
		{"is not above", [2]said{{ctx: ended, deadline: soon, token: 2}, {ctx: bg, deadline: late, token: 2, reader: true}}},
	} {
		says, leases := c.says, c.leases
		p := &Plan{Names: []string{"x"}, Clients: make([]ClientPlan, 1)}
		w := &world{plan: p, start: time.Now(), names: []*name{{}}}
		h := &host{w: w, uses: make([]use, 1)}
		for i, l := range leases {
			w.granted(w.asks(h, &Actor{ID: i}, Op{}, 0), l, time.Second)
		}
		all := strings.Join(w.result.Violations, "\n")
		if (all == "") != (says == "") || !strings.Contains(all, says) {
			t.Errorf("%q: %s", says, all)
		}
	}
	// A host that woke a moment ago is excused only for events during its sleep: it cannot know of them yet.
	for _, c := range []struct {
		says     string
		asleep   bool
		cap      time.Duration
		deadline time.Time
	}{
		{says: "two holders", deadline: late},
		{says: "two holders", deadline: late, cap: 1},
		{says: "told of its loss", deadline: soon},
		{says: "", deadline: soon, cap: 1},
		{says: "two holders", deadline: late, asleep: true, cap: time.Hour},
		{says: "", deadline: late, asleep: true, cap: 1},
	} {
		p := &Plan{Names: []string{"x"}, Clients: make([]ClientPlan, 1)}
		w := &world{plan: p, start: time.Now().Add(-time.Minute), names: []*name{{}}}
		h := &host{w: w, uses: make([]use, 1)}
		first := w.granted(w.asks(h, &Actor{ID: 0}, Op{}, 0), said{ctx: context.Background(), deadline: c.deadline, token: 1}, time.Second)
		w.mu.Lock() // the judge of announcements has a timer
		first.cap, h.asleep, h.woke = c.cap, c.asleep, w.now()-noticed/2
		w.mu.Unlock()
		w.granted(w.asks(&host{w: w, uses: make([]use, 1)}, &Actor{ID: 1}, Op{}, 0), said{ctx: context.Background(), deadline: late, token: 2}, time.Second)
		w.mu.Lock()
		all := strings.Join(w.result.Violations, "\n")
		w.mu.Unlock()
		if (all == "") != (c.says == "") || !strings.Contains(all, c.says) {
			t.Errorf("%+v: %q", c, all)
		}
	}
	w := &world{plan: &Plan{Names: []string{"x"}}, start: time.Now(), names: []*name{{}}}
	h := &host{w: w, woke: noticed, uses: make([]use, 1)}
	w.start = time.Now().Add(-noticed)
	h.leases = []*held{
		{h: h, lease: said{ctx: context.Background(), deadline: soon, token: 1}, ctx: context.Background()},
		// The deadline of this lease has passed so recently that the client need not know of the loss yet.
		{h: h, lease: said{ctx: context.Background(), deadline: time.Now().Add(-noticed / 2), token: 1}, ctx: context.Background()},
	}
	if w.noticedSleep(h); len(w.result.Violations) != 0 {
		t.Errorf("a sleeper that has just woken again: %q", w.result.Violations)
	}
	h.woke = 0
	if w.noticedSleep(h); len(w.result.Violations) != 1 {
		t.Errorf("a sleeper that does not know of its loss: %q", w.result.Violations)
	}
	if again := w.announced(h.leases[1]); again <= 0 {
		t.Error("a lease that ended a moment after its host woke is not looked at again")
	}
	h.asleep = true
	if again := w.announced(h.leases[0]); again <= 0 || len(w.result.Violations) != 1 {
		t.Errorf("a host that sleeps was to know something: %q", w.result.Violations)
	}
	h.asleep = false
	if w.announced(h.leases[0]); len(w.result.Violations) != 2 {
		t.Errorf("a lease whose deadline is past, and nobody was told: %q", w.result.Violations)
	}
	w.result.Violations = w.result.Violations[:1]
	w.lost(h.leases[0], holdfast.ErrReleased)
	if len(w.result.Violations) != 2 {
		t.Errorf("a lease that ended without having been given back: %q", w.result.Violations)
	}
}
