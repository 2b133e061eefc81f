package admin

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/ending"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
	"github.com/holdfast-go/holdfast/internal/inside"
	"github.com/holdfast-go/holdfast/verdict"
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
	client  *inside.Client
	set     inside.Set // the list is about its nodes
	options ListOptions
	matches func(name string) bool
	yield   func(*NameStatus, error) bool

	alive   []bool            // nodes that answer
	kept    []bool            // nodes that have not lost their memory; the lister leaves names to these nodes only
	memory  []string          // an id of each node's memory, which changes when the memory is lost
	errs    []error           // by node: why it does not answer, or nil
	strange []*verdict.Answer // by node: its answer if it has other settings, or nil
	listed  *recent
	again   bool  // names were left to a node that did not list them, so all nodes must be read again
	over    error // why the list ends before all nodes are read
	asking  sync.Once
	pacer   *pacer
}

// A node does nothing else while it answers a request. So the requests are small, and the lister sends one at a time
// to a node, unless the node is far away.
const (
	pageKeys   = 100 // number of keys that one SCAN examines
	haveKeys   = 50  // number of keys in one request about existing keys
	lookNames  = 4   // number of names in one request about holders and waiters
	looksAhead = 8   // number of such requests that are under way at the same time, at most
	mostRecent = 1 << 16
	mostTries  = 3 // number of tries of a request to a node
)

func newLister(c *inside.Client, set inside.Set, o ListOptions, matches func(string) bool) *lister {
	n := set.Fan.N()
	return &lister{
		client: c, set: set, options: o, matches: matches, alive: make([]bool, n), kept: make([]bool, n), memory: make([]string, n),
		errs: make([]error, n), listed: newRecent(mostRecent), pacer: newPacer(n, o.Rate),
	}
}

// errStopped means that the caller wants no more items.
var errStopped = errors.New("stopped")

// errStrange is the error of a node that the list leaves out: see lookAt.
var errStrange = errors.New("the node has other settings than this client")

func (l *lister) run(ctx context.Context) error {
	if l.strange = make([]*verdict.Answer, len(l.alive)); !l.options.AsStored {
		l.strange = l.set.Strange(ctx)
	}
	for i := range l.alive {
		if l.strange[i] != nil {
			l.errs[i] = errStrange
			continue
		}
		l.memory[i], l.errs[i] = l.memoryOf(ctx, i)
		l.alive[i] = l.errs[i] == nil
		l.kept[i] = l.alive[i]
	}
	for {
		l.again = false
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
				memory, err = l.memoryOf(ctx, i)
			}
			if err != nil {
				l.alive[i], l.errs[i] = false, err
			}
			// Earlier nodes left some names to this node: they did not list them. If this node has lost its memory,
			// nobody lists these names. So read all nodes again.
			if l.kept[i] && memory != l.memory[i] {
				l.kept[i], l.again = false, true
			}
		}
		if err := l.enough(ctx); err != nil || !l.again {
			return err
		}
	}
}

// enough returns an error if ctx has ended, if the client is closed, or if too few nodes answer: less than a majority, or
// none with AsStored.
func (l *lister) enough(ctx context.Context) error { return l.majority(ctx, l.errs) }

func (l *lister) majority(ctx context.Context, errs []error) error {
	switch {
	case ctx.Err() != nil:
		return ending.Cause(ctx)
	case l.client.Closed():
		return holdfast.ErrClosed
	case l.options.AsStored && slices.Contains(errs, nil):
		return nil
	}
	return l.set.Enough(ctx, "", errs, l.strange)
}

// lose notes that node i does not answer any more, so that later requests do not wait for it. Names that were left to
// this node are read again. If the other nodes are no majority, the lister goes on to ask the node.
func (l *lister) lose(i int, err error) {
	others := -1
	for _, alive := range l.alive {
		if alive {
			others++
		}
	}
	if !l.alive[i] || others < quorum.Majority(len(l.alive)) {
		return
	}
	l.alive[i], l.errs[i] = false, err
	if l.kept[i] {
		l.kept[i], l.again = false, true
	}
}

// node lists those names of node i that no later node has.
func (l *lister) node(ctx context.Context, i int) error {
	for keys, err := range l.pages(ctx, i) {
		if err != nil {
			return err
		}
		list := l.mine(keys)
		for j := len(l.alive) - 1; j > i && len(list) > 0; j-- {
			if l.alive[j] && l.kept[j] {
				list = l.without(ctx, j, list)
			}
		}
		for some := range slices.Chunk(list, lookNames*looksAhead) {
			if l.over = l.list(ctx, some); l.over != nil {
				return l.over
			}
		}
	}
	return nil
}

// pages returns the keys of node i that may be records. It asks for a page while the caller handles the page before.
func (l *lister) pages(ctx context.Context, i int) iter.Seq2[[]string, error] {
	type page struct {
		keys []string
		err  error
	}
	return func(yield func([]string, error) bool) {
		scanning, stop := context.WithCancel(ctx)
		pages, ended := make(chan page), make(chan struct{})
		defer func() { stop(); <-ended }()
		go func() {
			defer close(ended)
			for cursor := "0"; ; {
				var p page
				p.err = l.try(scanning, i, func() (err error) {
					var next string
					if p.keys, next, err = l.set.Fan.Scan(scanning, i, cursor, nodescript.RecordPattern, pageKeys); err == nil {
						cursor = next
					}
					return err
				})
				select {
				case pages <- p:
				case <-scanning.Done():
					return
				}
				if p.err != nil || cursor == "0" {
					return
				}
			}
		}()
		for {
			select {
			case p := <-pages:
				if !yield(p.keys, p.err) || p.err != nil {
					return
				}
			case <-ended:
				if ctx.Err() != nil {
					yield(nil, ending.Cause(ctx))
				}
				return
			}
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
		name, ok := strings.CutPrefix(one.Name, l.client.Prefix)
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
		if !l.alive[j] { // it did not answer about the items before
			left = append(left, some...)
			continue
		}
		keys := make([]string, len(some))
		for k, one := range some {
			keys[k] = one.Record()
		}
		var has []bool
		err := l.try(ctx, j, func() (err error) {
			has, err = l.set.Fan.Have(ctx, j, keys)
			return err
		})
		for k, one := range some {
			if err != nil || !has[k] { // after an error, leave nothing to node j
				left = append(left, one)
			}
		}
		if err != nil && ctx.Err() == nil {
			l.lose(j, err)
		}
	}
	return left
}

// list asks all nodes about some items, and yields the items that match the options. It asks about a few items at a
// time. Up to looksAhead of these requests are under way, because the answers of a distant node take long.
func (l *lister) list(ctx context.Context, some []nodescript.Listed) error {
	few := slices.Collect(slices.Chunk(some, lookNames))
	items, errs := make([][]*NameStatus, len(few)), make([]error, len(few))
	silent := make([][]error, len(few)) // by node: why it did not answer
	var wait sync.WaitGroup
	for k := range few {
		wait.Go(func() { items[k], silent[k], errs[k] = l.read(ctx, few[k]) })
	}
	wait.Wait()
	for k := range few {
		for i, err := range silent[k] {
			if err != nil && ctx.Err() == nil {
				l.lose(i, err)
			}
		}
	}
	for k := range few {
		if errs[k] != nil {
			return errs[k]
		}
		if err := l.show(ctx, few[k], items[k]); err != nil {
			return err
		}
	}
	return nil
}

// read asks all nodes about a few items. If nodes give different answers about an item, or too few answers, read asks
// about it a second time. It returns an error if less than a majority of the nodes answers then: a name about which
// nobody answered may be held. silent has the error of each node that did not answer.
func (l *lister) read(ctx context.Context, some []nodescript.Listed) (items []*NameStatus, silent []error, err error) {
	items, errs := l.ask(ctx, some)
	var again []nodescript.Listed
	for k, s := range items {
		if s.Differ || !s.Known {
			again = append(again, some[k])
		}
	}
	if len(again) > 0 {
		// The guard of an idle node has expired, and the node votes again if somebody asks.
		l.asking.Do(func() { l.set.Fan.AskVotes(ctx) })
		var second []*NameStatus
		second, errs = l.ask(ctx, again)
		for k := range items {
			if len(again) > 0 && some[k] == again[0] {
				items[k], again, second = second[0], again[1:], second[1:]
			}
		}
	}
	return items, errs, l.majority(ctx, errs)
}

// show yields the items that match the options and were not listed before.
func (l *lister) show(ctx context.Context, some []nodescript.Listed, items []*NameStatus) error {
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
