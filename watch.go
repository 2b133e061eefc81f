package holdfast

import (
	"context"
	"errors"
	"slices"
	"time"
)

// watcher asks the nodes about one election, on behalf of all observers of this election in the client.
type watcher struct {
	election *Election

	// The client's mutex watching guards these fields.
	observers []*observer
	last      *Observation // the last observation that was sent; nil before the first one
	highest   int64        // the highest term that was shown
}

// watch adds an observer of an election. It reports false if the client is closed.
func (c *Client) watch(e *Election, o *observer) bool {
	c.watching.Lock()
	defer c.watching.Unlock()
	if c.closed.Load() {
		return false
	}
	w := c.watchers[e.Name()]
	if w == nil {
		w = &watcher{election: e}
		if c.watchers == nil {
			c.watchers = map[string]*watcher{}
		}
		c.watchers[e.Name()] = w
		go w.run(c)
	}
	w.observers = append(w.observers, o)
	if w.last != nil {
		o.add(*w.last)
	}
	return true
}

// run asks the nodes once a second. It ends if the client is closed, or if no observer is left.
func (w *watcher) run(c *Client) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-c.stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	for {
		next := time.NewTimer(lookEvery)
		if l, err := w.election.look(ctx); !errors.Is(err, errSplit) {
			w.report(c, l, err)
		}
		select {
		case <-next.C:
		case <-c.stop:
			next.Stop()
		}
		if w.stopIfUnused(c) {
			return
		}
	}
}

// stopIfUnused ends the watcher if the client is closed or has no observer left.
func (w *watcher) stopIfUnused(c *Client) bool {
	c.watching.Lock()
	defer c.watching.Unlock()
	w.observers = slices.DeleteFunc(w.observers, (*observer).left)
	if len(w.observers) > 0 && !c.closed.Load() {
		return false
	}
	for _, o := range w.observers {
		o.end()
	}
	delete(c.watchers, w.election.Name())
	return true
}

// report sends the result of a look at the nodes to the observers, if it is new.
func (w *watcher) report(c *Client, l Leader, err error) {
	c.watching.Lock()
	defer c.watching.Unlock()
	if c.closed.Load() {
		return
	}
	for _, o := range w.news(l, err) {
		w.last = &o
		for _, observer := range w.observers {
			observer.add(o)
		}
	}
}

// news returns the observations that a look at the nodes adds. It returns nil if nothing is new.
func (w *watcher) news(l Leader, err error) []Observation {
	now := Observation{Leader: l, Err: err}
	last := w.last
	switch {
	case err != nil:
		if last != nil && last.Err != nil {
			return nil
		}
		return []Observation{now}
	case l.Term != 0 && l.Term < w.highest: // the nodes that answered do not have the latest term yet
		return nil
	case last != nil && last.Err == nil && last.same(l):
		return nil
	}
	before := w.highest
	w.highest = max(w.highest, l.Term)
	if before != 0 && l.Term > before && !last.Vacant() {
		// Report a vacancy first. The former leader must have left before this one came, although no look saw it.
		return []Observation{{}, now}
	}
	return []Observation{now}
}
