package rueidisnode

import (
	"context"
	"slices"
	"time"
)

const (
	// keptIdle is the number of idle links that stay, however long no call comes. Each further link is dropped after
	// surplusAfter rounds without a use. There is one round every pingAfter.
	keptIdle     = 2
	surplusAfter = 30
)

// tend starts the goroutine that tends idle links. The goroutine ends with the last link. There is one such goroutine
// per node and none per link. The caller holds p.mu.
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
			if p.watch != nil {
				p.watch()
			}
		}
	})
}

// nextRound counts the idle rounds of each link, so that no call has to read a clock. It drops surplus links. It
// returns false if no link is left.
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

// ping sends a ping on each link that brought no answer for pingAfter, because the network may have dropped the
// connection silently. All pings of a round share the time hungAfter. So all hung links of a node are gone after that
// time, even if there are many. ping takes one link at a time out of the pool, so that a call finds the others.
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
		l.run(ctx, b) // any answer shows that the link works, because an ACL may forbid PING
		b.recycle()
		p.rest(l)
	}
}

// silent takes a link that needs a ping in this round out of the pool. It returns nil if there is none.
func (p *pool) silent() *link {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, l := range p.idle {
		// A count of two means that the link was not used for one whole round.
		if l.quiet >= 2 && l.pinged != p.round {
			l.pinged = p.round
			p.idle = slices.Delete(p.idle, i, i+1)
			return l
		}
	}
	return nil
}

// rest puts a link back after its ping. The link gets its old place, after the links that were idle for longer, because
// a ping does not count as a use.
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
