//go:build linux

package cluster

import (
	"cmp"
	"slices"
	"time"
)

// overlap is a pair of stays of one name that have an instant in common. The first one began earlier.
type overlap struct{ first, second stay }

// lasted returns the time that the two stays have in common.
func (o overlap) lasted() time.Duration {
	return time.Duration(min(o.first.Leave, o.second.Leave) - o.second.Enter)
}

// byName returns the stays of each name, in the order in which they began.
func byName(stays []stay, names int) [][]stay {
	all := make([][]stay, names)
	for _, s := range stays {
		all[s.Name] = append(all[s.Name], s)
	}
	for _, of := range all {
		slices.SortStableFunc(of, func(a, b stay) int { return cmp.Compare(a.Enter, b.Enter) })
	}
	return all
}

// overlaps returns each overlap of the stays of one name, which are in order.
func overlaps(stays []stay) (found []overlap) {
	var inside []stay // the stays that had not ended when the last one began
	for _, s := range stays {
		inside = slices.DeleteFunc(inside, func(o stay) bool { return o.Leave <= s.Enter })
		if s.Leave <= s.Enter {
			continue // the lock came after its deadline
		}
		for _, o := range inside {
			found = append(found, overlap{o, s})
		}
		inside = append(inside, s)
	}
	return found
}

// inversions returns the number of stays of one name whose token is not above that of every earlier stay. The stays are in
// order. A stay without a token does not count.
func inversions(stays []stay) (n int) {
	highest := int64(0)
	for _, s := range stays {
		if s.Token == 0 {
			continue
		}
		if s.Token <= highest {
			n++
		}
		highest = max(highest, s.Token)
	}
	return n
}

// gap returns the longest time between two instants in which nobody was inside. The stays of one name are in order.
func gap(stays []stay, from, to int64) time.Duration {
	longest, covered := int64(0), from
	for _, s := range stays {
		if s.Enter >= to {
			break
		}
		longest = max(longest, s.Enter-covered)
		covered = max(covered, s.Leave)
	}
	return time.Duration(max(longest, to-covered))
}
