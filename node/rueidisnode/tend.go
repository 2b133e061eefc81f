package rueidisnode

import (
	"context"
	"slices"
	"time"
)

const (
	// keptIdle is the number of idle links that the pool always keeps. It drops each further link after surplusAfter
	// rounds without a use. A round takes pingAfter.
	keptIdle     = 2
	surplusAfter = 30
)

// tend starts the goroutine that pings and drops idle links. A node has one such goroutine, and none if it has no
// link. The caller has locked p.mu.
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

// nextRound counts for each idle link the rounds without a use. Calls then need not read a clock for this. It drops
// links that are not needed. It returns false if there are no links.
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

// ping sends a ping on each idle link that was not used for pingAfter. The network may have dropped such a connection
// without any sign. All pings of a round together have the time hungAfter, so all hung links are found within this
// time, even if there are many. ping takes one link at a time out of the pool, so that calls can use the others.
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
		l.run(ctx, b) // any answer will do, because an ACL may forbid PING
		b.recycle()
		p.rest(l)
	}
}

// silent takes out of the pool a link that needs a ping in this round. It returns nil if there is none.
func (p *pool) silent() *link {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, l := range p.idle {
		// 2 means that the link was not used for one whole round.
		if l.quiet >= 2 && l.pinged != p.round {
			l.pinged = p.round
			p.idle = slices.Delete(p.idle, i, i+1)
			return l
		}
	}
	return nil
}

// rest puts a link back after its ping. A ping is not a use, so the link gets its old place: behind the links that
// were not used for a longer time.
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
