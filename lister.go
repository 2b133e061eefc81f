package holdfast

import (
	"context"
	"errors"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/ending"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// lister reads the names of the nodes, one node after the other. Most names are on several nodes, but each name must
// be listed once. A set of all listed names would need too much memory. So this rule decides: among the nodes that
// have the record of a name, the last one lists the name.
//
// While the lister reads a node, it leaves a name out if a later node has the record. When the lister comes to that
// later node, the record is still there: nodes keep a record for at least two hours after its last use. Only a loss
// of memory deletes it earlier. If a node loses its memory, the lister reads all nodes again and leaves no name to
// that node.
//
// The rule "the first node with the record lists the name" would miss names. A renewal can store the record on an
// earlier node after the lister has read that node. The lister would then leave the name to a node that it never
// reads again.
//
// A renewal can also store the record on a later node after an earlier node has listed the name. The name would come
// twice. So the lister remembers the names that it listed last.
type lister struct {
	client  *Client
	options ListOptions
	matches func(name string) bool
	yield   func(*NameStatus, error) bool

	alive  []bool   // nodes that answer
	kept   []bool   // nodes that have not lost their memory; the lister leaves names to these nodes only
	memory []string // an id of each node's memory, which changes when the memory is lost
	errs   []error  // by node: why it does not answer, or nil
	listed *recent
	over   error // why the list ends before all nodes are read
	asked  bool  // the nodes were asked for their votes

	pacing sync.Mutex
	free   []time.Time // by node: the time from which the next request may be sent
}

const (
	pageKeys   = 200 // number of keys that one SCAN should return
	lookNames  = 32  // number of names in one request: a node answers so many in less than a millisecond
	haveKeys   = 200
	mostRecent = 1 << 16
	mostTries  = 3 // number of tries of a request to a node
)

func newLister(c *Client, o ListOptions, matches func(string) bool) *lister {
	n := c.fan.N()
	return &lister{
		client: c, options: o, matches: matches, alive: make([]bool, n), kept: make([]bool, n), memory: make([]string, n),
		errs: make([]error, n), listed: newRecent(mostRecent), free: make([]time.Time, n),
	}
}

// errStopped means that the caller wants no more items.
var errStopped = errors.New("stopped")

func (l *lister) run(ctx context.Context) error {
	for i := range l.alive {
		_, _, l.memory[i], l.errs[i] = l.look(ctx, i, nil)
		l.alive[i] = l.errs[i] == nil
		l.kept[i] = l.alive[i]
	}
	for {
		again := false
		for i := range l.alive {
			if err := l.enough(ctx); err != nil {
				return err
			}
			if !l.alive[i] {
				continue
			}
			err := l.node(ctx, i)
			if l.over != nil {
				return l.over
			}
			memory := ""
			if err == nil {
				_, _, memory, err = l.look(ctx, i, nil)
			}
			if err != nil {
				l.alive[i], l.errs[i] = false, err
			}
			// Names that were left to this node are lost with its memory. So read all nodes again.
			if l.kept[i] && memory != l.memory[i] {
				l.kept[i], again = false, true
			}
		}
		if err := l.enough(ctx); err != nil || !again {
			return err
		}
	}
}

// enough returns an error if ctx has ended, if the client is closed, or if less than a majority of the nodes answers.
func (l *lister) enough(ctx context.Context) error { return l.majority(ctx, l.errs) }

func (l *lister) majority(ctx context.Context, errs []error) error {
	switch {
	case ctx.Err() != nil:
		return ending.Cause(ctx)
	case l.client.closed.Load():
		return ErrClosed
	}
	return l.client.enough(ctx, "", errs)
}

// node lists those names of node i that no later node has.
func (l *lister) node(ctx context.Context, i int) error {
	for cursor := "0"; ; {
		var keys []string
		at := cursor
		err := l.try(ctx, i, pageKeys, func() (err error) {
			keys, cursor, err = l.client.fan.Scan(ctx, i, at, nodescript.RecordPattern, pageKeys)
			return err
		})
		if err != nil {
			return err
		}
		if extra := len(keys) - pageKeys; extra > 0 {
			l.pace(ctx, i, extra)
		}
		list := l.mine(keys)
		for j := len(l.alive) - 1; j > i && len(list) > 0; j-- {
			if l.alive[j] && l.kept[j] {
				list = l.without(ctx, j, list)
			}
		}
		for some := range slices.Chunk(list, lookNames) {
			if l.over = l.list(ctx, some); l.over != nil {
				return l.over
			}
		}
		if cursor == "0" {
			return nil
		}
	}
}

// mine returns the locks and slots that belong to these records, if their names match the options and the client's
// Prefix.
func (l *lister) mine(keys []string) (list []nodescript.Listed) {
	for _, key := range keys {
		one, ok := nodescript.ListedOf(key)
		if !ok {
			continue
		}
		name, ok := strings.CutPrefix(one.Name, l.client.config.Prefix)
		slot := one.Slot >= 0
		if !ok || name == "" || !l.matches(name) || l.options.Kind != "" && slot != (l.options.Kind == KindSemaphore) {
			continue
		}
		list = append(list, one)
	}
	return list
}

// without returns the items that node j does not have. The lister leaves the other items to node j.
func (l *lister) without(ctx context.Context, j int, list []nodescript.Listed) []nodescript.Listed {
	var left []nodescript.Listed
	for some := range slices.Chunk(list, haveKeys) {
		keys := make([]string, len(some))
		for k, one := range some {
			keys[k] = one.Record()
		}
		var has []bool
		err := l.try(ctx, j, len(keys), func() (err error) {
			has, err = l.client.fan.Have(ctx, j, keys)
			return err
		})
		for k, one := range some {
			if err != nil || !has[k] { // after an error, leave nothing to node j
				left = append(left, one)
			}
		}
	}
	return left
}

// list asks all nodes about some items, and yields the items that match the options. If nodes give different answers
// about an item, or too few answers, list asks about it a second time. It returns an error if less than a majority of
// the nodes answers then: a name about which nobody answered may be held.
func (l *lister) list(ctx context.Context, some []nodescript.Listed) error {
	items, errs := l.ask(ctx, some)
	var again []nodescript.Listed
	for k, s := range items {
		if s.Differ || !s.Known {
			again = append(again, some[k])
		}
	}
	if len(again) > 0 {
		if !l.asked { // the guard of an idle node has expired, and the node votes again if somebody asks
			l.asked = true
			l.client.fan.AskVotes(ctx)
		}
		var second []*NameStatus
		second, errs = l.ask(ctx, again)
		for k := range items {
			if len(again) > 0 && some[k] == again[0] {
				items[k], again, second = second[0], again[1:], second[1:]
			}
		}
	}
	if err := l.majority(ctx, errs); err != nil {
		return err
	}
	for k, s := range items {
		if !l.options.selects(s) || !l.listed.add(some[k].Record()) {
			continue
		}
		if ctx.Err() != nil {
			return ending.Cause(ctx)
		}
		if !l.yield(s, nil) {
			return errStopped
		}
	}
	return nil
}

// ask asks all nodes about some items at the same time. errs has the error of each node that did not answer.
func (l *lister) ask(ctx context.Context, some []nodescript.Listed) (items []*NameStatus, errs []error) {
	n := len(l.alive)
	views, corrupt := make([][]nodescript.Glance, n), make([][]error, n)
	errs = make([]error, n)
	var wait sync.WaitGroup
	for i := range n {
		if errs[i] = l.errs[i]; errs[i] != nil {
			continue
		}
		wait.Go(func() { views[i], corrupt[i], _, errs[i] = l.look(ctx, i, some) })
	}
	wait.Wait()
	items = make([]*NameStatus, len(some))
	for k, one := range some {
		s := &NameStatus{Status: Status{Name: l.client.unprefixed(one.Name)}, Slot: one.Slot}
		seen, failed := make([]*nodescript.Glance, n), slices.Clone(errs)
		for i := range n {
			if errs[i] != nil {
				continue
			}
			if failed[i] = corrupt[i][k]; failed[i] == nil {
				seen[i] = &views[i][k]
			}
		}
		s.merge(seen, failed, l.client.fan.Addr, one.Record())
		items[k] = s
	}
	return items, errs
}

func (l *lister) look(ctx context.Context, i int, some []nodescript.Listed) (views []nodescript.Glance, corrupt []error, memory string, err error) {
	err = l.try(ctx, i, len(some), func() (err error) {
		views, corrupt, memory, err = l.client.fan.Look(ctx, i, some)
		return err
	})
	return views, corrupt, memory, err
}

// try sends a request about this number of keys to node i, after the pause that the rate requires. After an error it
// sends the request again.
func (l *lister) try(ctx context.Context, i, keys int, request func() error) (err error) {
	for range mostTries {
		l.pace(ctx, i, keys)
		if ctx.Err() != nil {
			return ending.Cause(ctx)
		}
		if err = request(); err == nil {
			return nil
		}
	}
	return err
}

// pace waits until a request about this number of keys may be sent to node i, or until ctx ends. The mean rate stays
// below the option Rate.
func (l *lister) pace(ctx context.Context, i, keys int) {
	l.pacing.Lock()
	now := time.Now()
	at := l.free[i]
	if at.Before(now) {
		at = now
	}
	l.free[i] = at.Add(time.Duration(keys) * time.Second / time.Duration(l.options.Rate))
	l.pacing.Unlock()
	wait := at.Sub(now)
	if wait <= 0 {
		return
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// recent remembers the last texts that were added to it, as digests of 128 bits. Two texts with the same digest
// practically never occur.
type recent struct {
	seeds [2]maphash.Seed
	has   map[[2]uint64]struct{}
	order [][2]uint64 // ring of the digests: a new one replaces the oldest
	next  int
}

func newRecent(most int) *recent {
	return &recent{
		seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, has: map[[2]uint64]struct{}{}, order: make([][2]uint64, 0, most),
	}
}

// add returns false if recent still remembers text. Otherwise it remembers text and returns true.
func (r *recent) add(text string) bool {
	sum := [2]uint64{maphash.String(r.seeds[0], text), maphash.String(r.seeds[1], text)}
	if _, is := r.has[sum]; is {
		return false
	}
	r.has[sum] = struct{}{}
	if len(r.order) < cap(r.order) {
		r.order = append(r.order, sum)
		return true
	}
	delete(r.has, r.order[r.next])
	r.order[r.next] = sum
	r.next = (r.next + 1) % len(r.order)
	return true
}
