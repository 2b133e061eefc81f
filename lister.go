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

// A lister reads the names of one node after the other. A name is on several nodes, and must be listed once. A set of all
// names would need memory for each, so the last node in the order of the list that has the name's record lists it. A node
// keeps a record for at least two hours after its last use. So a record that the lister has seen on a later node is still
// there when the lister reads that node, unless the node loses its memory. The lister then reads all nodes again, and no
// name waits for that node.
//
// The first node that has the record is the wrong one: a renewal may store a lease on an earlier node after the lister
// has read that node, and nobody would list its name.
//
// A renewal may also store a lease on a later node after an earlier node has listed it. So the lister remembers the
// last names that it has listed.
type lister struct {
	client  *Client
	options ListOptions
	matches func(name string) bool
	yield   func(*NameStatus, error) bool

	alive  []bool   // nodes that answer
	kept   []bool   // nodes to which a name may be left
	memory []string // the name of each node's memory
	errs   []error  // of nodes that do not answer
	listed *recent

	pacing sync.Mutex
	free   []time.Time // by node: when its next request may be sent
}

const (
	pageKeys   = 200 // the keys of a SCAN
	lookNames  = 32  // the names in one request: a node answers them in less than a millisecond
	haveKeys   = 200
	mostRecent = 1 << 16
	mostTries  = 3 // of a request to a node
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
	l.client.fan.AskVotes(ctx)
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
			if errors.Is(err, errStopped) {
				return err
			}
			memory := ""
			if err == nil {
				_, _, memory, err = l.look(ctx, i, nil)
			}
			if err != nil {
				l.alive[i], l.errs[i] = false, err
			}
			// Names that were left to this node may be lost.
			if l.kept[i] && memory != l.memory[i] {
				l.kept[i], again = false, true
			}
		}
		if err := l.enough(ctx); err != nil || !again {
			return err
		}
	}
}

// enough returns an error if ctx has ended, or unless a majority of the nodes answers.
func (l *lister) enough(ctx context.Context) error {
	if ctx.Err() != nil {
		return ending.Cause(ctx)
	}
	return l.client.enough(ctx, "", l.errs)
}

// node lists the names that no later node will list.
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
			if err := l.list(ctx, some); err != nil {
				return err
			}
		}
		if cursor == "0" {
			return nil
		}
	}
}

// mine returns the locks and slots that the options may select, by the keys of their records.
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

// without returns the items whose record node j does not have. Node j lists the other ones later.
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
			if err != nil || !has[k] { // after an error nothing is left to the node
				left = append(left, one)
			}
		}
	}
	return left
}

// list asks all nodes about some items, and yields those that the options select. It asks again about items of which the
// nodes have different views.
func (l *lister) list(ctx context.Context, some []nodescript.Listed) error {
	items := l.ask(ctx, some)
	var again []nodescript.Listed
	for k, s := range items {
		if s.Differ || !s.Known {
			again = append(again, some[k])
		}
	}
	if len(again) > 0 {
		second := l.ask(ctx, again)
		for k := range items {
			if len(again) > 0 && some[k] == again[0] {
				items[k], again, second = second[0], again[1:], second[1:]
			}
		}
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

// ask asks all nodes about some items at the same time.
func (l *lister) ask(ctx context.Context, some []nodescript.Listed) []*NameStatus {
	n := len(l.alive)
	views, corrupt, errs := make([][]nodescript.Glance, n), make([][]error, n), make([]error, n)
	var wait sync.WaitGroup
	for i := range n {
		if errs[i] = l.errs[i]; errs[i] != nil {
			continue
		}
		wait.Go(func() { views[i], corrupt[i], _, errs[i] = l.look(ctx, i, some) })
	}
	wait.Wait()
	items := make([]*NameStatus, len(some))
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
	return items
}

func (l *lister) look(ctx context.Context, i int, some []nodescript.Listed) (views []nodescript.Glance, corrupt []error, memory string, err error) {
	err = l.try(ctx, i, len(some), func() (err error) {
		views, corrupt, memory, err = l.client.fan.Look(ctx, i, some)
		return err
	})
	return views, corrupt, memory, err
}

// try sends a request about so many keys to a node, when the node may get it. It tries again after an error.
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

// pace waits until a node may get a request about so many keys, or until ctx ends.
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

// recent remembers the last texts, by digests of 128 bits: two texts of one list hardly ever have the same digest.
type recent struct {
	seeds [2]maphash.Seed
	has   map[[2]uint64]struct{}
	order [][2]uint64 // a ring
	next  int
}

func newRecent(most int) *recent {
	return &recent{
		seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, has: map[[2]uint64]struct{}{}, order: make([][2]uint64, 0, most),
	}
}

// add reports whether text is not among the last ones, and remembers it.
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
