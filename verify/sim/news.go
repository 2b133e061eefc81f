package sim

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/node"
)

// tcpPatience is the time for which a connection outlives a partition. A driver pings within that time.
const tcpPatience = 3 * time.Second

// hungAfter is the time for which a driver waits for the answer to a subscription.
const hungAfter = 2 * time.Second

// subscription is one connection on which a client listens.
type subscription struct {
	l     *link
	s     *server
	stop  func()
	heard chan string
	broke chan struct{}
	seed  uint64

	mu   sync.Mutex
	sent uint64
	last time.Duration // the time at which the last message arrives

	// The world's lock protects this field.
	over bool
}

// Listen implements [node.Node].
func (l *link) Listen(ctx context.Context, channel string, on func(string)) error {
	w := l.w
	n := l.sent.Add(1)
	d := dice(luck(w.plan.Seed, 's', uint64(l.h.slot), uint64(l.h.life), uint64(l.index), n))
	s := l.server()
	f := w.fate(l, s, 0, w.now(), &d)
	f.again, f.by = 0, slices.DeleteFunc(f.by, func(k Kind) bool { return k != Delay })
	w.countFate(f, 1<<Listen)
	if 2*f.there > hungAfter && !f.lost {
		if !l.rest(ctx, hungAfter+d.below(20*time.Microsecond)) {
			return ctx.Err()
		}
		return errBroke
	}
	if !l.rest(ctx, f.there) {
		return ctx.Err()
	}
	w.mu.Lock()
	up, dead := s.up && s.hung < w.now(), l.h.dead
	w.mu.Unlock()
	switch {
	case l.closed.Load():
		return node.ErrClosed
	case f.lost:
		if !l.rest(ctx, tcpPatience+d.below(20*time.Microsecond)) {
			return ctx.Err()
		}
		return errBroke
	case dead || !up:
		if !l.rest(ctx, l.way) {
			return ctx.Err()
		}
		return errRefused
	}
	sub := &subscription{l: l, s: s, heard: make(chan string, 4096), broke: make(chan struct{}), seed: uint64(d)}
	sub.stop = s.model.Subscribe(channel, sub.push)
	w.mu.Lock()
	s.subs[sub] = true
	s.order = append(s.order, sub)
	w.mu.Unlock()
	defer w.hangUp(sub)
	if !l.rest(ctx, f.there) {
		return ctx.Err()
	}
	on("")
	for {
		select {
		case m := <-sub.heard:
			on(m)
		case <-sub.broke:
			if !l.rest(ctx, d.between(1, 50*time.Microsecond)) {
				return ctx.Err()
			}
			return errBroke
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// push sends a message to the client, after the earlier messages.
func (sub *subscription) push(m string) {
	w := sub.l.w
	sub.mu.Lock()
	defer sub.mu.Unlock()
	sub.sent++
	d := dice(luck(sub.seed, sub.sent))
	now := w.now()
	w.handed(sub.l.h, m)
	if w.strikes(News, sub.l, true, 0, &d) != nil {
		w.countFault(News)
		w.treatedNews(Missed)
		return
	}
	at := max(now+sub.l.home+d.below(50*time.Microsecond)+1, sub.last+1)
	if open := w.openAgain(sub.l, sub.s, true, now); open > now {
		if open-now > tcpPatience {
			time.AfterFunc(tcpPatience+d.below(50*time.Microsecond), func() { w.hangUp(sub) })
			return
		}
		at = max(at, open+d.below(time.Millisecond))
	}
	if w.strikes(Duplicate, sub.l, false, 0, &d) != nil {
		w.treatedNews(Repeated)
		sub.arrive(m, at-now+1+w.long(&d))
	}
	if w.strikes(Delay, sub.l, true, 0, &d) != nil {
		w.countFault(Delay)
		w.treatedNews(Late)
		at += d.below(4 * w.plan.Window)
	}
	sub.last = at
	sub.arrive(m, at-now)
}

// treatedNews counts a treatment of a hand-off message.
func (w *world) treatedNews(how Treatment) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.treatedLocked(1<<Handoff, how)
}

// arrive gives a message to the client after a delay. While the client is paused, the message waits.
func (sub *subscription) arrive(m string, in time.Duration) {
	time.AfterFunc(in, func() {
		w := sub.l.w
		w.mu.Lock()
		held, over := sub.l.h.held-w.now(), sub.over
		w.mu.Unlock()
		switch {
		case over:
		case held > 0:
			sub.arrive(m, held+time.Duration(w.serial()))
		default:
			sub.heard <- m
		}
	})
}

// hangUp ends a subscription on both sides.
func (w *world) hangUp(sub *subscription) {
	sub.stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	if !sub.over {
		sub.over = true
		delete(sub.s.subs, sub)
		sub.s.order = slices.DeleteFunc(sub.s.order, func(o *subscription) bool { return o == sub })
		close(sub.broke)
	}
}

// hangUpAll ends the subscriptions for which the function which returns true.
func (w *world) hangUpAll(s *server, which func(*subscription) bool) (n int) {
	w.mu.Lock()
	all := slices.Clone(s.order)
	w.mu.Unlock()
	for _, sub := range all {
		if which(sub) {
			w.hangUp(sub)
			n++
		}
	}
	return n
}
