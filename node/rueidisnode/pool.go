package rueidisnode

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/internal/driver"
)

// maxLinks is the largest number of links (connections) to one node. Each call needs its own link, so this is the
// number of calls that a client makes at the same time. A node reaches this limit if its server hangs, because each
// call that is given up also loses its link.
const maxLinks = node.MaxCalls

// fresh is a time after the last call on a link. In this time the pool does not check whether the server has closed
// the link. The check would not help much: a link can also break during a call.
const fresh = time.Millisecond

// pool contains the links of one node. A call takes a link and later puts it back. If no link is idle, the call waits
// until another call puts one back or a new one is ready. New links are dialled in other goroutines. So if a call has
// given up when its new link is ready, the next call gets this link. A call gets the link that was used last, so that
// links that are not needed stay idle and can be dropped.
type pool struct {
	connect func(context.Context) (*link, error)
	ctx     context.Context // Close ends this context
	watch   func()          // called in each round of the goroutine that tends idle links; may be nil

	mu       sync.Mutex
	idle     []*link   // sorted: the link that was not used for the longest time is first
	waiting  []*waiter // the waiting calls, in the order in which they came
	links    int       // links that are idle, in a call, or being pinged
	dialling int
	attempts uint64 // dials so far
	tended   bool   // the goroutine of tend is running
	round    uint64 // present round of that goroutine
	wg       sync.WaitGroup
}

type waiter struct {
	came uint64    // dials that had begun when the waiter came
	got  chan turn // gets the result; has room for it
}

// turn is the result of a wait for a link.
type turn struct {
	link *link
	err  error
}

// take returns a link for one call. The caller must give it back with put. An error means that the call was not sent.
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
		if t := <-w.got; t.link != nil { // the call had already got its link
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

// kept reports whether the pool keeps l. If l broke, or the node is closed, kept drops l. The caller has locked p.mu.
func (p *pool) kept(l *link) bool {
	if !l.broken() && p.ctx.Err() == nil {
		return true
	}
	l.drop()
	p.links--
	p.dial()
	return false
}

// hand gives t to the call that has waited for the longest time. It returns false if no call waits. The caller has
// locked p.mu.
func (p *pool) hand(t turn) bool {
	if len(p.waiting) == 0 {
		return false
	}
	p.waiting[0].got <- t
	p.waiting = slices.Delete(p.waiting, 0, 1)
	return true
}

// dial starts a dial for each waiting call that has none yet. The caller has locked p.mu.
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

// dialled handles the result of a dial.
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
		// The server may accept no more connections, but still answer on the existing links. So the calls wait for
		// these links. The pool dials again when another call comes.
		return
	}
	// Give the error only to calls that came before this dial began. For a later call the reason of the failure may
	// be over, for example because the server has started.
	for len(p.waiting) > 0 && p.waiting[0].came <= number {
		p.hand(turn{err: err})
	}
	p.dial()
}

// close ends all waits, all dials and all idle links. It calls cancel, which ends p.ctx, while it has the mutex. So
// no dial and no call can begin after it.
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
