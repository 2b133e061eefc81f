package rueidisnode

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/internal/driver"
)

// maxLinks limits the links (connections) to one node. Each call has a link of its own, so the limit is the number of
// calls that a client may have under way. It matters if a server hangs, because each call that is given up costs its
// link.
const maxLinks = node.MaxCalls

// fresh is the time after a use in which the pool does not check whether the server has closed the link. A link that
// breaks within this time could just as well have broken during the call.
const fresh = time.Millisecond

// pool contains the links of one node. A call takes a link and puts it back. If no link is idle, the call waits for a
// link that is put back or dialled, as long as its context allows. A separate goroutine dials. So if a call has given
// up before its link arrives, the link serves the next call. The pool takes the link that was used last, so surplus
// links stay idle.
type pool struct {
	connect func(context.Context) (*link, error)
	ctx     context.Context // Close ends this context
	watch   func()          // called in each round of the goroutine that tends idle links; may be nil

	mu       sync.Mutex
	idle     []*link   // ordered: the least recently used link is first
	waiting  []*waiter // in the order of their calls
	links    int       // the number of links that are idle, in a call, or being pinged
	dialling int
	attempts uint64 // the number of dials so far
	tended   bool   // the goroutine that tends idle links is running
	round    uint64 // the present round of that goroutine
	wg       sync.WaitGroup
}

type waiter struct {
	came uint64    // the number of dials that began before the waiter came
	got  chan turn // receives the result; it has room for one turn
}

// turn is the result of a wait for a link.
type turn struct {
	link *link
	err  error
}

// take returns a link for one call. The caller must put it back. An error means that the call was not sent.
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
		if t := <-w.got; t.link != nil { // the link came too late
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

// kept reports whether the pool keeps l. It drops and no longer counts a link that broke, and every link after Close.
// The caller holds p.mu.
func (p *pool) kept(l *link) bool {
	if !l.broken() && p.ctx.Err() == nil {
		return true
	}
	l.drop()
	p.links--
	p.dial()
	return false
}

// hand gives t to the call that has waited longest. It returns false if no call waits. The caller holds p.mu.
func (p *pool) hand(t turn) bool {
	if len(p.waiting) == 0 {
		return false
	}
	p.waiting[0].got <- t
	p.waiting = slices.Delete(p.waiting, 0, 1)
	return true
}

// dial starts one dial for each waiting call that has no dial yet. The caller holds p.mu.
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

// dialled handles the end of a dial.
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
		// A server that accepts no more connections still answers on the existing connections. So the calls wait for
		// these, and the pool dials again only when another call comes.
		return
	}
	// The error goes only to calls that came before this dial began. For a later call the dial may have failed for a
	// reason that no longer exists.
	for len(p.waiting) > 0 && p.waiting[0].came <= number {
		p.hand(turn{err: err})
	}
	p.dial()
}

// close ends all waits, dials and idle links. It calls cancel, which ends p.ctx, under the mutex, so that no dial or
// call begins after it.
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
