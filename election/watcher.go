package election

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/inside"
)

// watchers has the watchers of one client, by the name of the election.
type watchers struct {
	mu     sync.Mutex
	byName map[string]*watcher
}

type watchersKey struct{}

// watchersOf returns the watchers of a client.
func watchersOf(c *inside.Client) *watchers {
	kept, _ := c.Kept.LoadOrStore(watchersKey{}, &watchers{byName: map[string]*watcher{}})
	return kept.(*watchers)
}

// add adds an observer of an election. It reports false if the client is closed.
func (all *watchers) add(e *Election, o *observer) bool {
	all.mu.Lock()
	defer all.mu.Unlock()
	if e.inside.Closed() {
		return false
	}
	w := all.byName[e.Name()]
	if w == nil {
		w = &watcher{election: e, all: all}
		all.byName[e.Name()] = w
		go w.run()
	}
	w.observers = append(w.observers, o)
	if w.last != nil {
		o.add(*w.last)
	}
	return true
}

// watcher asks the nodes about one election, on behalf of all observers of this election in the client.
type watcher struct {
	election *Election
	all      *watchers

	// The mu of all guards these fields.
	observers []*observer
	last      *News // the last news that were sent; nil before the first
	highest   int64 // the highest term that was shown
}

// checkEvery is the time between two questions about an election.
const checkEvery = time.Second

// run asks the nodes once a second. It ends if the client is closed, or if no observer is left.
func (w *watcher) run() {
	stop := w.election.inside.Stop
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	for {
		next := time.NewTimer(checkEvery)
		if l, err := w.election.look(ctx); !errors.Is(err, errSplit) {
			w.report(l, err)
		}
		select {
		case <-next.C:
		case <-stop:
			next.Stop()
		}
		if w.stopIfUnused() {
			return
		}
	}
}

// stopIfUnused ends the watcher if the client is closed or has no observer left.
func (w *watcher) stopIfUnused() bool {
	w.all.mu.Lock()
	defer w.all.mu.Unlock()
	w.observers = slices.DeleteFunc(w.observers, (*observer).left)
	if len(w.observers) > 0 && !w.election.inside.Closed() {
		return false
	}
	for _, o := range w.observers {
		o.end()
	}
	delete(w.all.byName, w.election.Name())
	return true
}

// report sends the result of a look at the nodes to the observers, if it is new.
func (w *watcher) report(l Leader, err error) {
	w.all.mu.Lock()
	defer w.all.mu.Unlock()
	if w.election.inside.Closed() {
		return
	}
	for _, n := range w.news(l, err) {
		w.last = &n
		for _, o := range w.observers {
			o.add(n)
		}
	}
}

// news returns the news that a look at the nodes brings, or nil if nothing is new.
func (w *watcher) news(l Leader, err error) []News {
	now := News{Leader: l, Err: err}
	last := w.last
	switch {
	case err != nil:
		if last != nil && last.Err != nil {
			return nil
		}
		return []News{now}
	case l.Term != 0 && l.Term < w.highest: // the nodes that answered do not have the latest term yet
		return nil
	case last != nil && last.Err == nil && last.same(l):
		return nil
	}
	before := w.highest
	w.highest = max(w.highest, l.Term)
	if before != 0 && l.Term > before && !last.Vacant() {
		// Report a vacancy first. The former leader must have left before this one came, although no look saw it.
		return []News{{}, now}
	}
	return []News{now}
}
