package rueidisnode

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/internal/driver"
)

// maxLinks bounds the connections of one node, also where a server hangs and every
// call given up costs one. The fan-out has two calls under way.
const maxLinks = 8

// fresh is for how long a link that was used is trusted without a look whether its server
// has closed it: one that breaks within it might as well have broken during the call.
const fresh = time.Millisecond

// pool has the links of one node. A call takes one and puts it back; where none is
// idle, it waits for one that is put back or dialled, as long as its context allows.
// Dialling is a goroutine of its own, so that the link is there for the next call if
// this one gives up. The one used last is taken first: what is surplus stays idle.
type pool struct {
	connect func(context.Context) (*link, error)
	ctx     context.Context // ends with Close

	mu       sync.Mutex
	idle     []*link   // sorted: those not used for longest come first
	waiting  []*waiter // in the order they came
	links    int       // connected: idle, with a call, or being pinged
	dialling int
	attempts uint64 // to dial, so far
	tended   bool   // the goroutine that tends idle links runs
	round    uint64 // of it
	wg       sync.WaitGroup
}

type waiter struct {
	came uint64    // attempts begun before
	got  chan turn // has room for one
}

// turn is how waiting ends.
type turn struct {
	link *link
	err  error
}

// take returns a link for one call, which must be put back. The error says that the
// call was not sent.
func (p *pool) take(ctx context.Context) (*link, error) {
	p.mu.Lock()
	for {
		if p.ctx.Err() != nil {
			p.mu.Unlock()
			return nil, node.ErrClosed
		}
		last := len(p.idle) - 1
		if last < 0 {
			break
		}
		l := p.idle[last]
		p.idle[last] = nil
		p.idle = p.idle[:last]
		p.mu.Unlock()
		if time.Since(l.back) < fresh || !l.wire.gone() {
			return l, nil
		}
		l.drop()
		p.mu.Lock()
		p.links--
	}
	w := &waiter{p.attempts, make(chan turn, 1)}
	p.waiting = append(p.waiting, w)
	p.dial()
	p.mu.Unlock()
	select {
	case t := <-w.got:
		return t.link, t.err
	case <-ctx.Done():
	}
	p.mu.Lock()
	i := slices.Index(p.waiting, w)
	if i >= 0 {
		p.waiting = slices.Delete(p.waiting, i, i+1)
	}
	p.mu.Unlock()
	if i < 0 {
		if t := <-w.got; t.link != nil { // too late
			p.put(t.link)
		}
	}
	return nil, node.NotSent(driver.ContextError(ctx))
}

// put takes a link back after a call.
func (p *pool) put(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l.quiet, l.back = 0, time.Now()
	if !p.kept(l) {
		return
	}
	if !p.hand(turn{link: l}) {
		p.idle = append(p.idle, l)
	}
}

// kept counts out a link that broke, or that nobody needs any more. p.mu is held.
func (p *pool) kept(l *link) bool {
	if !l.broken() && p.ctx.Err() == nil {
		return true
	}
	l.drop()
	p.links--
	p.dial()
	return false
}

// hand ends the wait of the call that waits longest. p.mu is held.
func (p *pool) hand(t turn) bool {
	if len(p.waiting) == 0 {
		return false
	}
	p.waiting[0].got <- t
	p.waiting = slices.Delete(p.waiting, 0, 1)
	return true
}

// dial begins an attempt for each call that waits and has none. p.mu is held.
func (p *pool) dial() {
	for p.dialling < len(p.waiting) && p.links+p.dialling < maxLinks && p.ctx.Err() == nil {
		p.dialling++
		number := p.attempts
		p.attempts++
		p.wg.Go(func() {
			l, err := p.connect(p.ctx)
			p.dialled(number, l, err)
		})
	}
}

// dialled is the end of an attempt.
func (p *pool) dialled(number uint64, l *link, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dialling--
	if err == nil {
		p.links++
		p.tend()
		if p.kept(l) && !p.hand(turn{link: l}) {
			p.idle = append(p.idle, l)
		}
		return
	}
	if p.links > 0 {
		// A server that takes no more connections answers on the ones there are:
		// wait for those, and do not ask again before another call comes.
		return
	}
	// An attempt that began before a call came may have failed for a reason that is
	// over. The next one has not.
	for len(p.waiting) > 0 && p.waiting[0].came <= number {
		p.hand(turn{err: err})
	}
	p.dial()
}

// close ends what waits, is dialled or is connected. cancel ends p.ctx, under the lock
// because nothing is begun after it.
func (p *pool) close(cancel func()) {
	p.mu.Lock()
	cancel()
	for p.hand(turn{err: node.ErrClosed}) {
	}
	for _, l := range p.idle {
		l.drop()
	}
	p.links -= len(p.idle)
	p.idle = nil
	p.mu.Unlock()
	p.wg.Wait()
}
