package gauges

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

const (
	// All is the group of all names if there is no function for groups.
	All = "all"
	// Other is the group of names that have no group of their own.
	Other = "other"
	// DefaultMost is the number of groups beside Other by default.
	DefaultMost = 20
	// LargestMost is the largest number of groups.
	LargestMost = 1000

	longest = 128 // the largest number of bytes of a group
)

// Groups maps names of locks to a bounded number of groups. It is safe for concurrent use.
type Groups struct {
	of    func(name string) string
	most  int
	began func(group string)

	mu   sync.Mutex
	seen map[string]bool
	own  int // the number of groups in seen beside Other
}

// NewGroups returns groups with the function of: at most most of them, beside Other. A nil function puts all names into
// All. 0 means DefaultMost. began may be nil. It is called once for each group, before its first use.
func NewGroups(of func(name string) string, most int, began func(group string)) (*Groups, error) {
	if most < 0 || most > LargestMost {
		return nil, fmt.Errorf("MaxGroups is %d; it must be from 1 to %d, or 0 for %d", most, LargestMost, DefaultMost)
	}
	if most == 0 {
		most = DefaultMost
	}
	g := &Groups{of: of, most: most, began: began, seen: map[string]bool{}}
	if of == nil {
		g.meet(All)
	}
	return g, nil
}

// Of returns the group of a name. A function that returns "" or panics puts the name into Other.
func (g *Groups) Of(name string) string {
	if g.of == nil {
		return All
	}
	return g.meet(g.ask(name))
}

// ask calls the user's function, and makes its result a valid label.
func (g *Groups) ask(name string) (group string) {
	defer func() {
		if recover() != nil {
			group = Other
		}
	}()
	group = strings.ToValidUTF8(g.of(name), "\uFFFD")
	if len(group) > longest {
		group = strings.ToValidUTF8(group[:longest], "")
	}
	if group == "" {
		group = Other
	}
	return group
}

// meet returns group, or Other if there are too many groups already.
func (g *Groups) meet(group string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.seen[group] && g.own >= g.most {
		group = Other
	}
	if !g.seen[group] {
		if g.seen[group] = true; group != Other {
			g.own++
		}
		if g.began != nil {
			g.began(group)
		}
	}
	return group
}

// Seen returns the groups that were used so far, in sorted order.
func (g *Groups) Seen() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var list []string
	for group := range g.seen {
		list = append(list, group)
	}
	slices.Sort(list)
	return list
}
