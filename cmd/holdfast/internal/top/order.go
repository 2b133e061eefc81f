package top

import (
	"cmp"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/sample"
)

// column is a column by which names can be sorted.
type column int

const (
	byWaiters column = iota
	byName
	byKind
	byHolder
	byAge
	byEnd
	columns
)

var columnNames = [columns]string{"WAITERS", "NAME", "KIND", "HOLDER", "HELD FOR", "ENDS IN"}

// names returns the names that the filter selects, in the chosen order. Large numbers and long times come first.
func (m model) names() []sample.Name {
	if m.last.state == nil {
		return nil
	}
	part := strings.ToLower(m.filter)
	var list []sample.Name
	for _, n := range m.last.state.All() {
		if m.waiting && n.Waiters == 0 {
			continue
		}
		if part == "" || strings.Contains(strings.ToLower(n.Name), part) || slices.ContainsFunc(n.Holders, func(h sample.Holder) bool {
			return strings.Contains(strings.ToLower(h.Label), part)
		}) {
			list = append(list, n)
		}
	}
	slices.SortStableFunc(list, func(a, b sample.Name) int {
		c := m.by.compare(a, b)
		if m.reverse {
			c = -c
		}
		return cmp.Or(c, cmp.Compare(a.Name, b.Name), cmp.Compare(a.Slot, b.Slot))
	})
	return list
}

func (c column) compare(a, b sample.Name) int {
	x, y := first(a), first(b)
	switch c {
	case byWaiters:
		return cmp.Compare(b.Waiters, a.Waiters)
	case byName:
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Slot, b.Slot))
	case byKind:
		return cmp.Compare(a.Kind, b.Kind)
	case byHolder:
		return cmp.Compare(x.Label, y.Label)
	case byAge:
		return cmp.Compare(orLast(x.Since), orLast(y.Since))
	case byEnd:
		return cmp.Compare(orLast(x.Until), orLast(y.Until))
	}
	return 0
}

// orLast puts an unknown time behind all others.
func orLast(at int64) int64 {
	if at == 0 {
		return 1 << 62
	}
	return at
}

// first returns the first holder, a zero one if there is none.
func first(n sample.Name) sample.Holder {
	if len(n.Holders) == 0 {
		return sample.Holder{}
	}
	return n.Holders[0]
}
