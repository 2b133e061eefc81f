package driver

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/node"
)

// This file asks the servers of a cluster once.

// round is one question to all servers.
type round struct {
	asked   clock.Instant // before the first question was sent
	seeds   bool          // the seeds are asked, too
	views   []*view       // one for each server that answered
	from    []string      // the address at which each of them was asked
	heard   []string      // the addresses that answered; two may lead to one server
	errs    []error       // of the others
	changed chan struct{} // has room for one: an answer or an error came
}

// ask makes one round. It ends when the answers of a majority agree on every hash slot and each master whose config-epoch
// is new has answered, when no server is left to answer, or when a majority has agreed on something and [askEvery] has passed. Its limit is [node.NamedFor].
func (c *Cluster) ask() {
	r := &round{asked: steady(), changed: make(chan struct{}, 1)}
	c.mu.Lock()
	c.begun++
	c.round, r.seeds = r, c.unheard
	if r.seeds {
		for _, addr := range c.c.Seeds {
			c.summon(addr)
		}
	}
	for _, w := range c.witnesses {
		c.question(w)
	}
	c.mu.Unlock()
	limit, patience := time.NewTimer(node.NamedFor), (<-chan time.Time)(nil)
	defer limit.Stop()
	for over := false; ; {
		c.mu.Lock()
		n := c.record.tally(r.views, steady())
		first := c.now.Load() == nil // then every seed has time to contradict
		if over || !c.asking() || n.complete && n.majority && !first && !c.untold(r, n) || c.ctx.Err() != nil {
			c.finish(r, n)
			c.mu.Unlock()
			return
		}
		n.majority = n.majority && !(first && r.elsewhere(c.pending) != "")
		c.mu.Unlock()
		if n.majority && patience == nil {
			t := time.NewTimer(askEvery)
			defer t.Stop()
			patience = t.C
		}
		select {
		case <-r.changed:
		case <-patience:
			over = true
		case <-limit.C:
			over = true
		case <-c.ctx.Done():
		}
	}
}

// summon makes the server at this address a witness: each round asks it. The caller holds c.mu.
func (c *Cluster) summon(addr string) {
	if c.witnesses[addr] == nil {
		c.witnesses[addr] = &witness{addr: addr}
	}
}

// dismiss removes a witness. Its connection closes when no question runs. The caller holds c.mu.
func (c *Cluster) dismiss(addr string, w *witness) {
	delete(c.witnesses, addr)
	if w.gone = true; !w.busy {
		w.hangUp()
	}
}

// asking reports whether a witness is busy, so that an answer may still come in this round. A witness that is busy with
// a question of an earlier round gets the next one after it. The caller holds c.mu.
func (c *Cluster) asking() bool {
	for _, w := range c.witnesses {
		if w.busy {
			return true
		}
	}
	return false
}

// pending reports whether a question to this address has no answer yet. The caller holds c.mu.
func (c *Cluster) pending(addr string) bool {
	w := c.witnesses[addr]
	return w != nil && w.busy
}

// untold reports whether the config-epoch of a master has grown, and its own answer may still come: it tells whether the
// turn ends. The caller holds c.mu.
func (c *Cluster) untold(r *round, n count) bool {
	return slices.ContainsFunc(c.shards, func(s *Shard) bool {
		return c.pending(s.master.addr) &&
			slices.ContainsFunc(n.spans, func(p span) bool { return p.owner == s.master.id && p.epoch > s.epoch }) &&
			!slices.ContainsFunc(r.views, func(v *view) bool { return v.self == s.master.id })
	})
}

// question asks a witness in the present round if it is not busy. A witness gets one question at a time, so a server
// that hangs has only one open question. The caller holds c.mu.
func (c *Cluster) question(w *witness) {
	if w.busy || w.asked == c.round || c.ctx.Err() != nil {
		return
	}
	w.busy = true
	c.wg.Go(func() {
		for {
			c.mu.Lock()
			r := c.round
			if w.gone || r == nil || w.asked == r || c.ctx.Err() != nil {
				if w.busy = false; w.gone || c.ctx.Err() != nil {
					w.hangUp()
				}
				if r != nil {
					r.changes()
				}
				c.mu.Unlock()
				return
			}
			w.asked = r
			c.mu.Unlock()
			v, err := w.question(c.ctx, &c.c)
			c.mu.Lock()
			w.answers = err == nil
			if c.round == r || c.round != nil && err != nil { // an error does not depend on the time of the question
				c.answered(c.round, w, v, err)
			}
			c.mu.Unlock()
		}
	})
}

func (r *round) changes() {
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// answered notes an answer, and asks the servers that it lists. The caller holds c.mu.
func (c *Cluster) answered(r *round, w *witness, v *view, err error) {
	defer r.changes()
	if err != nil {
		r.errs = append(r.errs, err)
		return
	}
	r.heard = append(r.heard, w.addr)
	if !slices.ContainsFunc(r.views, func(other *view) bool { return other.self == v.self }) {
		r.views, r.from = append(r.views, v), append(r.from, w.addr)
	}
	if !r.seeds {
		return // the servers of the last majority are asked
	}
	asked, _ := sample(v.members, len(v.members))
	for _, m := range asked {
		c.summon(m.addr)
		c.question(c.witnesses[m.addr])
	}
}

// finish ends a round. The caller holds c.mu.
func (c *Cluster) finish(r *round, n count) {
	c.round, c.ended, c.err = nil, c.begun, nil
	if c.now.Load() == nil {
		c.err = r.refusal(c.pending)
	}
	if c.err == nil && !n.majority {
		c.err = r.failure(n)
	}
	c.unheard = c.err != nil
	switch {
	case c.ctx.Err() != nil:
	case c.err != nil:
		c.unsettle()
	default:
		c.record = n.record
		c.settle(r, n)
		for addr, w := range c.witnesses {
			if !slices.ContainsFunc(n.asked, func(m member) bool { return m.addr == addr }) {
				c.dismiss(addr, w)
			}
		}
		for _, m := range n.asked {
			c.summon(m.addr)
		}
	}
	close(c.done)
	c.done = make(chan struct{})
}

// refusal returns an error if the list of seeds cannot be used, else nil. pending reports whether a question to an
// address has no answer yet.
func (r *round) refusal(pending func(addr string) bool) error {
	for _, err := range r.errs {
		if errors.Is(err, errNoCluster) {
			return err
		}
	}
	for i, v := range r.views {
		for j, w := range r.views[:i] {
			if !slices.ContainsFunc(v.members, func(m member) bool { return w.lists(m.id) }) {
				return &listError{node.ErrTwoClusters, fmt.Sprintf("%s and %s belong to two clusters; a list has servers of one cluster", r.from[j], r.from[i])}
			}
		}
	}
	if hint := r.elsewhere(pending); hint != "" {
		return &listError{node.ErrAnnounced, hint}
	}
	return nil
}

// failure returns the error of a round without a majority.
func (r *round) failure(n count) error {
	var first error
	for _, err := range r.errs {
		var d *dialError
		if first == nil || errors.As(first, &d) {
			first = err // an error that a server sends explains more than a failed connection
		}
	}
	switch {
	case len(r.views) == 0 && first == nil:
		return fmt.Errorf("no server of the cluster answers within %s", node.NamedFor)
	case len(r.views) == 0:
		return fmt.Errorf("no server of the cluster answers: %w", first)
	}
	hint := ""
	if text := r.elsewhere(nil); text != "" {
		hint = "; " + text
	}
	switch {
	case n.answered >= n.need:
		return fmt.Errorf("the %d servers that answer do not agree on the owner of any hash slot%s", n.answered, hint)
	case first != nil:
		return fmt.Errorf("no majority of the cluster answers: %d of %d servers, and %d are needed: %w%s", n.answered, len(n.asked), n.need, first, hint)
	}
	return fmt.Errorf("no majority of the cluster answers: %d of %d servers, and %d are needed%s", n.answered, len(n.asked), n.need, hint)
}

// elsewhere returns a hint if a server answers, but announces another address, which cannot be reached or is pending.
// This happens behind NAT, and with containers. Otherwise it returns "".
func (r *round) elsewhere(pending func(addr string) bool) string {
	for i, v := range r.views {
		for _, m := range v.members {
			if m.id != v.self || slices.Contains(r.heard, m.addr) {
				continue
			}
			if pending != nil && pending(m.addr) || slices.ContainsFunc(r.errs, func(err error) bool {
				var d *dialError
				return errors.As(err, &d) && d.addr == m.addr
			}) {
				return fmt.Sprintf("the server at %s announces the address %s, which cannot be reached from here: set "+
					"cluster-announce-ip and cluster-announce-port", r.from[i], m.addr)
			}
		}
	}
	return ""
}
