package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/environment"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// link is a client's view of a node: a driver, its connections, and the network between client and node. Each call uses
// its own connection, as the calls of a real client's workers do.
type link struct {
	h     *host
	w     *world
	index int           // the index of the node in the client's list
	to    int           // the server to which the link leads
	way   time.Duration // the usual time to the node
	home  time.Duration // the usual time back; if it differs from way, the client misreads clocks by half of the difference
	addr  string

	sent   atomic.Uint64 // the number of calls so far
	latest uint64        // the last call that reached its server; under the world's lock
	closed atomic.Bool
	calls  atomic.Int32 // the number of calls under way
	twin   atomic.Int32 // a twin fault: the other server to which the link leads for now; -1: none
	heard  atomic.Int64 // the time of the last answer, since the world began
	led    atomic.Bool  // a twin fault has happened; messages during it reached the other server
}

var _ node.Local = (*link)(nil)

func newLink(h *host, index, to int) *link {
	d := dice(luck(h.w.plan.Seed, 'l', uint64(h.slot), uint64(h.life), uint64(index)))
	l := &link{h: h, w: h.w, index: index, to: to, way: d.between(20*time.Microsecond, h.w.plan.Slow), addr: fmt.Sprintf("sim://node%d", index)}
	l.home = pick(&d, l.way, d.between(20*time.Microsecond, h.w.plan.Slow))
	if f := dice(luck(h.w.plan.Seed, 'f', uint64(h.slot), uint64(h.life))); h.w.plan.Far && to == 0 && f.hit(0.5) {
		l.way, l.home = f.below(h.w.plan.Window/4), f.below(h.w.plan.Window*9/10)
	}
	if h.w.plan.OneWay && to == 0 && !h.visitor && has(h.w.plan.Spare, h.slot) {
		// A message takes up to 1.5 times l.way, because fate adds a random delay.
		l.way, l.home = d.between(h.w.plan.Window, h.w.plan.Window*23/20), d.below(h.w.plan.Window/10)
	}
	l.twin.Store(-1)
	return l
}

// isFar reports whether an answer of the node takes so long that a client cannot renew a lease of this validity with
// it: the answer to the grant and the answer to the renewal must both come in time.
func (l *link) isFar(valid time.Duration) bool {
	roundTrip := 3 * (l.way + l.home) / 2 // see fate and wayBack
	return 3*roundTrip > valid
}

// Addr implements [node.Node].
func (l *link) Addr() string { return l.addr }

// Local implements [node.Local]. In the world all addresses are local, except those that may lead to other servers.
func (l *link) Local(ctx context.Context) string {
	l.w.mu.Lock()
	s := l.server()
	up, run := s.up, s.run()
	l.w.mu.Unlock()
	if !up || l.w.plan.Spare != 0 || l.led.Load() || l.twin.Load() >= 0 || !l.rest(ctx, l.way+l.home) {
		return ""
	}
	return run
}

// Environment gives the client the time of the world and the chance of the seed.
func (l *link) Environment() environment.Sources { return l.h.environment() }

// Close implements [node.Node].
func (l *link) Close() { l.closed.Store(true) }

func (l *link) server() *server {
	if t := l.twin.Load(); t >= 0 {
		return l.w.servers[t]
	}
	return l.w.servers[l.to]
}

// begins counts a call until the returned function is called. A driver has room for a fixed number of calls.
func (l *link) begins() (ends func()) {
	if l.calls.Add(1) > node.MaxCalls {
		l.w.mu.Lock()
		defer l.w.mu.Unlock()
		l.w.violated(tooManyCalls, -1, "client%d has more than %d calls under way at node%d", l.h.slot, node.MaxCalls, l.index)
	}
	return func() { l.calls.Add(-1) }
}

// EvalSHA implements [node.Node].
func (l *link) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	defer l.begins()()
	l.w.asked(l.h, calls)
	n := l.sent.Add(1)
	d := dice(luck(l.w.plan.Seed, 'm', uint64(l.h.slot), uint64(l.h.life), uint64(l.index), n))
	if len(calls) > 1 && l.w.strikes(Tear, l, false, 0, &d) != nil {
		l.w.countFault(Tear)
		return l.torn(ctx, calls, n, d)
	}
	replies, _, err := l.exchange(ctx, parcel{calls: calls, seq: n}, d)
	if l.h.woken(); err == nil && l.h.misses(ctx) {
		err = context.DeadlineExceeded
	}
	if err != nil {
		return nodemodel.Failed(calls, err)
	}
	l.heard.Store(int64(l.w.now()))
	l.w.answered(l, calls, replies)
	return replies
}

// torn sends each call on its own connection.
func (l *link) torn(ctx context.Context, calls []node.Call, n uint64, d dice) []node.Reply {
	replies := make([]node.Reply, len(calls))
	var wait sync.WaitGroup
	for i := range calls {
		own := dice(luck(uint64(d), uint64(i)))
		wait.Go(func() {
			one, _, err := l.exchange(ctx, parcel{calls: calls[i : i+1], seq: n}, own)
			if replies[i].Err = err; err == nil {
				replies[i] = one[0]
				l.heard.Store(int64(l.w.now()))
				l.w.answered(l, calls[i:i+1], one)
			}
		})
	}
	wait.Wait()
	return replies
}

// Eval implements [node.Node].
func (l *link) Eval(ctx context.Context, text string, call node.Call, load ...string) node.Reply {
	defer l.begins()()
	ask := func(p parcel) (node.Reply, *answer) {
		p.seq = l.sent.Add(1)
		d := dice(luck(l.w.plan.Seed, 'm', uint64(l.h.slot), uint64(l.h.life), uint64(l.index), p.seq))
		replies, from, err := l.exchange(ctx, p, d)
		if err != nil {
			return node.Reply{Err: err}, nil
		}
		l.heard.Store(int64(l.w.now()))
		return replies[0], from
	}
	r, from := ask(parcel{calls: []node.Call{call}, text: text, then: load})
	if len(load) == 0 || !l.w.follows(r) {
		return r
	}
	if loaded, _ := ask(parcel{load: load, over: from}); loaded.Err != nil {
		return loaded
	}
	return r
}

// follows reports whether the client sends the scripts after this reply. A hasty driver sends them even after an error.
func (w *world) follows(r node.Reply) bool { return r.Err == nil || w.plan.Broken.Hasty }

var (
	errRefused = node.NotSent(fmt.Errorf("connect: %w", syscall.ECONNREFUSED))
	errBroke   = fmt.Errorf("connection lost: %w", io.EOF)
	errDead    = node.NotSent(errors.New("the process is dead"))
)

// noteOff notes when the node refuses the client because the client's clock is off.
func (l *link) noteOff(p parcel, replies []node.Reply) {
	if len(p.load) > 0 {
		return
	}
	heard := func(_ int, answer string) {
		if len(answer) == 17 && answer[0] == 'O' {
			l.w.mu.Lock()
			l.h.off = l.w.now()
			l.w.mu.Unlock()
		}
	}
	for i, r := range replies {
		if p.text == "" {
			each(p.calls[i], r.Value, heard)
		} else {
			heard(0, r.Value)
		}
	}
}

// exchange sends a parcel and waits for the answer until ctx ends. It returns a moment before ctx ends, at an instant
// at which no other event happens.
func (l *link) exchange(ctx context.Context, p parcel, d dice) ([]node.Reply, *answer, error) {
	if l.closed.Load() {
		return nil, nil, node.ErrClosed
	}
	w := l.w
	now := w.now()
	until, ok := ctx.Deadline()
	end := now + time.Hour
	if ok {
		end = until.Sub(w.start) - d.between(1, 50*time.Microsecond)
	}
	s := l.server()
	if p.over != nil {
		s = p.over.server
	}
	f := w.fate(l, s, p.kinds(), now, &d)
	w.mu.Lock()
	up, dead := s.up, l.h.dead
	p.from, p.epoch, p.kept = l, s.epoch, f.kept
	if p.over != nil { // no proxy moves a message from one connection to another
		up, p.epoch, p.kept, f.kept = up && s.epoch == p.over.epoch, p.over.epoch, false, false
	}
	backoff := now >= w.plan.Heal && now < w.plan.Heal+w.plan.Broken.Backoff
	w.mu.Unlock()
	switch {
	case dead:
		return nil, nil, errDead
	case !up && !f.kept, backoff:
		if !l.rest(ctx, min(l.way+d.below(20*time.Microsecond), end-now)) {
			return nil, nil, ctx.Err()
		}
		if p.over != nil {
			return nil, nil, errBroke
		}
		return nil, nil, errRefused
	}
	w.countFate(f, p.kinds())
	arrives := now + f.there
	if f.lost {
		return nil, nil, l.timeout(ctx, end)
	}
	if f.again > 0 {
		copied := p.copied()
		time.AfterFunc(f.there+f.again, func() {
			w.repeats(l.h, copied)
			s.deliver(copied)
		})
	}
	if arrives >= end {
		copied := p.copied()
		time.AfterFunc(f.there, func() { s.deliver(copied) })
		return nil, nil, l.timeout(ctx, end)
	}
	if !l.rest(ctx, f.there) {
		copied := p.copied() // the message is on its way even if the caller has given up
		time.AfterFunc(max(arrives-w.now(), 0)+d.below(20*time.Microsecond), func() { s.deliver(copied) })
		return nil, nil, ctx.Err()
	}
	for {
		w.mu.Lock()
		hung, broke := s.frozenFor(w.now()), !s.up || s.epoch != p.epoch
		if p.kept && broke {
			if broke = false; !s.up {
				hung = max(hung, keptFor)
			}
		}
		w.mu.Unlock()
		if broke {
			w.treated(p, Missed)
			return nil, nil, errBroke
		}
		if hung <= 0 {
			break
		}
		hung += d.below(20 * time.Microsecond)
		if w.now()+hung >= end {
			copied := p.copied()
			time.AfterFunc(hung, func() { s.deliver(copied) })
			return nil, nil, l.timeout(ctx, end)
		}
		if !l.rest(ctx, hung) {
			return nil, nil, ctx.Err()
		}
	}
	w.keepRequest(s, p)
	w.mu.Lock()
	from := &answer{s, s.epoch}
	w.mu.Unlock()
	replies := s.take(p)
	l.noteOff(p, replies)
	if w.trace != nil {
		w.traced(l, p, replies)
	}
	back, lost := w.wayBack(l, s, p, &d)
	if lost || w.now()+back >= end {
		return nil, nil, l.timeout(ctx, end)
	}
	if !l.rest(ctx, back) {
		return nil, nil, ctx.Err()
	}
	for {
		w.mu.Lock()
		held, broke := l.h.held-w.now(), l.h.dead
		w.mu.Unlock()
		switch {
		case broke:
			return nil, nil, errBroke
		case held <= 0:
			return replies, from, nil
		case w.now()+held >= end:
			return nil, nil, l.timeout(ctx, end)
		}
		if !l.rest(ctx, held+d.below(20*time.Microsecond)) {
			return nil, nil, ctx.Err()
		}
	}
}

// rest lets time pass. It reports whether the time passed before ctx ended.
func (l *link) rest(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t, ok := l.w.timers.Get().(*time.Timer)
	if ok {
		t.Reset(d)
	} else {
		t = time.NewTimer(d)
	}
	defer func() {
		t.Stop()
		l.w.timers.Put(t)
	}()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (l *link) timeout(ctx context.Context, end time.Duration) error {
	if l.rest(ctx, end-l.w.now()) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}
