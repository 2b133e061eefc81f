package rueidisnode

import (
	"context"
	"slices"
	"time"
)

const (
	// keptIdle links stay however long nobody calls. More go when they were not used
	// for surplusAfter rounds, one every pingAfter.
	keptIdle     = 2
	surplusAfter = 30
)

// tend starts the goroutine that looks after idle links; it ends with the last link.
// One per node, and none of a link's own. p.mu is held.
func (p *pool) tend() {
	if p.tended || p.ctx.Err() != nil {
		return
	}
	p.tended = true
	p.wg.Go(func() {
		t := time.NewTicker(pingAfter)
		defer t.Stop()
		for {
			select {
			case <-t.C:
			case <-p.ctx.Done():
				return
			}
			if !p.nextRound() {
				return
			}
			p.ping()
		}
	})
}

// nextRound counts how long links have been idle, without a look at a clock in every
// call, and drops what is surplus. It returns false if there is nothing to tend.
func (p *pool) nextRound() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.links == 0 {
		p.tended = false
		return false
	}
	p.round++
	for _, l := range p.idle {
		l.quiet++
	}
	for len(p.idle) > keptIdle && p.idle[0].quiet >= surplusAfter {
		p.idle[0].drop()
		p.idle = slices.Delete(p.idle, 0, 1)
		p.links--
	}
	return true
}

// ping asks links for a sign of life that brought no answer for pingAfter: the network
// may have dropped them without a word. They have hungAfter in all, so that a node's
// hung links are gone by then, however many; one at a time, so that a call finds the
// others.
func (p *pool) ping() {
	ctx, cancel := context.WithTimeout(p.ctx, hungAfter)
	defer cancel()
	for {
		l := p.silent()
		if l == nil {
			return
		}
		b := newBatch()
		b.add(builder.Arbitrary("PING").Build())
		l.run(ctx, b) // any answer will do: an ACL may forbid the command
		b.recycle()
		p.rest(l)
	}
}

// silent takes out a link to be pinged in this round.
func (p *pool) silent() *link {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, l := range p.idle {
		// Counted twice: not used for one whole round.
		if l.quiet >= 2 && l.pinged != p.round {
			l.pinged = p.round
			p.idle = slices.Delete(p.idle, i, i+1)
			return l
		}
	}
	return nil
}

// rest takes a link back that was pinged, to its place: behind those that were not
// used for longer. To be pinged is not to be used.
func (p *pool) rest(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.kept(l) || p.hand(turn{link: l}) {
		return
	}
	i := slices.IndexFunc(p.idle, func(other *link) bool { return other.quiet < l.quiet })
	if i < 0 {
		i = len(p.idle)
	}
	p.idle = slices.Insert(p.idle, i, l)
}
