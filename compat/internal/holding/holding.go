// Package holding is the life of a lock that servers keep for a client: its deadline, its renewals and its end. The
// packages in compat share it. Each of them defines what a renewal sends.
package holding

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/ending"
)

// look is the longest time for which the timer of a deadline sleeps. Go's timers stop while the machine is suspended,
// but the client's clock goes on. With this limit, a holding notices within a second after a suspension that its
// deadline has passed, or that its next renewal is due.
const look = time.Second

// Rules are the parts of a holding that differ between libraries. No function is called under a lock of the holding.
type Rules struct {
	Now     clock.Clock
	Go      func(func())    // runs background work
	First   time.Duration   // the first renewal comes after this time
	Renew   func() error    // sends one renewal, and calls Renewed or Finish with the result
	Expired func() error    // the deadline has passed: calls Finish, and returns the reason of the end
	Ended   func(why error) // Finish calls it once: ends the contexts
}

// Holding is a held lock. Make it with [New], then call Start. It is safe for concurrent use.
type Holding struct {
	rules Rules
	ended chan struct{} // closed when the holding ends
	round chan struct{} // has an element while a renewal runs, so that only one runs at a time
	late  chan struct{} // has an element if keep must look at the clock before its own timer fires

	until    ending.Deadline // the deadline for those who do not have mu
	learning atomic.Bool     // a goroutine looks at the deadline because a context found that it has passed

	mu       sync.Mutex
	hooks    map[*func(error)]struct{} // the functions of OnEnd
	ttl      time.Duration
	deadline clock.Instant
	next     clock.Instant // when the next renewal is due
	timer    *time.Timer
	end      error // why the holding ended; nil while it is valid
}

// New returns a holding, or nil if it is too late to rely on it.
func New(r Rules, ttl time.Duration, deadline clock.Instant) *Holding {
	if r.Now().Sub(deadline) >= 0 {
		return nil
	}
	h := &Holding{
		rules: r, ttl: ttl, deadline: deadline, hooks: map[*func(error)]struct{}{},
		ended: make(chan struct{}), round: make(chan struct{}, 1), late: make(chan struct{}, 1),
	}
	h.until.Set(deadline)
	return h
}

// Start begins the deadline's timer and the renewals. It does nothing after Finish.
func (h *Holding) Start() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.end == nil {
		h.next = h.rules.Now().Add(h.rules.First)
		h.timer = time.AfterFunc(h.sleep(), h.check)
		h.rules.Go(h.keep)
	}
}

// sleep returns the time until check must look at the clock again.
func (h *Holding) sleep() time.Duration { return min(h.deadline.Sub(h.rules.Now()), look) }

// check ends the holding at its deadline. A timer calls it, so a renewal that hangs cannot delay the end. Before the
// deadline it wakes keep if a renewal is due: after a suspension the timer of keep fires too late.
func (h *Holding) check() {
	h.mu.Lock()
	if h.end != nil {
		h.mu.Unlock()
		return
	}
	if now := h.rules.Now(); !h.passed() {
		h.timer.Reset(h.sleep())
		if now.Sub(h.next) >= 0 {
			select {
			case h.late <- struct{}{}:
			default:
			}
		}
		h.mu.Unlock()
		return
	}
	h.mu.Unlock()
	_ = h.rules.Expired() // the reason is stored
}

// keep renews the holding after each third of the TTL. After a failure it tries again sooner.
func (h *Holding) keep() {
	for h.due() {
		err := h.Renew(context.Background())
		h.mu.Lock()
		now, pause := h.rules.Now(), h.ttl/3
		if err != nil {
			pause = min(pause, max(h.deadline.Sub(now)/8, 20*time.Millisecond))
		}
		h.next = now.Add(pause)
		h.mu.Unlock()
	}
}

// due waits until the next renewal is due. It returns false if the holding ends first.
func (h *Holding) due() bool {
	for {
		h.mu.Lock()
		rest, end := h.next.Sub(h.rules.Now()), h.end
		h.mu.Unlock()
		if end != nil || rest <= 0 {
			return end == nil
		}
		t := time.NewTimer(rest)
		select {
		case <-t.C:
		case <-h.late:
		case <-h.ended:
		}
		t.Stop()
	}
}

// Renew sends one renewal. If ctx ends, Renew returns, but the renewal goes on in the background. It still moves the
// deadline if it succeeds in time.
func (h *Holding) Renew(ctx context.Context) error {
	select {
	case h.round <- struct{}{}:
	case <-h.ended:
		return h.End()
	case <-ctx.Done():
		return ending.Cause(ctx)
	}
	result := make(chan error, 1)
	h.rules.Go(func() {
		defer func() { <-h.round }()
		result <- h.rules.Renew()
	})
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		return ending.Cause(ctx)
	}
}

// Renewed moves the deadline to a later time. It never moves it back. If the holding has ended, it returns why.
func (h *Holding) Renewed(deadline clock.Instant) error {
	h.mu.Lock()
	if h.end != nil {
		defer h.mu.Unlock()
		return h.end
	}
	if h.passed() || deadline.Sub(h.deadline) > 0 && !h.until.Move(deadline) { // the answers came after the deadline
		h.mu.Unlock()
		return h.rules.Expired()
	}
	defer h.mu.Unlock()
	if deadline.Sub(h.deadline) > 0 {
		h.deadline = deadline
	}
	return nil
}

// End returns why the holding ended, or nil if it is valid.
func (h *Holding) End() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.end
}

// Finish ends the holding. It returns false if the holding had ended before.
func (h *Holding) Finish(why error) bool {
	h.mu.Lock()
	if h.end != nil {
		h.mu.Unlock()
		return false
	}
	h.until.End()
	h.end = why
	if h.timer != nil {
		h.timer.Stop()
	}
	close(h.ended)
	hooks := h.hooks
	h.hooks = nil
	h.mu.Unlock()
	h.rules.Ended(why)
	for f := range hooks {
		(*f)(why)
	}
	return true
}

// clocked makes a clock's reading a method.
type clocked clock.Clock

// Now reads the clock.
func (c clocked) Now() clock.Instant { return c() }

func (h *Holding) passed() bool { return h.until.Passed(clocked(h.rules.Now)) }

// Err implements [ending.Ender]. It waits for no lock.
func (h *Holding) Err() error {
	if !h.passed() {
		return nil
	}
	if h.learning.CompareAndSwap(false, true) {
		go h.check()
	}
	return context.Canceled
}

// OnEnd implements [ending.Ender].
func (h *Holding) OnEnd(f func(cause error)) (stop func()) {
	h.mu.Lock()
	if why := h.end; why != nil {
		h.mu.Unlock()
		f(why)
		return func() {}
	}
	defer h.mu.Unlock()
	h.hooks[&f] = struct{}{}
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.hooks, &f)
	}
}

// TTL returns the TTL of the next renewal.
func (h *Holding) TTL() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ttl
}

// SetTTL sets the TTL of all later renewals.
func (h *Holding) SetTTL(ttl time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ttl = ttl
}

// Left returns the time until the deadline. After the end it counts from the last deadline.
func (h *Holding) Left() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.deadline.Sub(h.rules.Now())
}
