package sample

import (
	"cmp"
	"slices"
)

// Wait is a lock or a semaphore for which somebody has waited for long.
type Wait struct {
	Name string
	For  int64 // ms since the first waiter came
}

// mostWaits is the number of names that LongestWaits returns.
const mostWaits = 10

// LongestWaits returns the names whose first waiter has waited for longer than 30 s, the longest wait first; at most ten.
// It is empty if the names are not known.
func (s *State) LongestWaits() (all []Wait) {
	if s.Error != "" {
		return nil
	}
	seen := map[string]bool{}
	for i := range s.Names {
		n := &s.Names[i]
		if seen[n.Name] || n.Old > 0 || !n.waitsLong(s.At) {
			continue
		}
		seen[n.Name] = true
		all = append(all, Wait{n.Name, s.At - n.Waiting})
	}
	slices.SortStableFunc(all, func(a, b Wait) int { return cmp.Compare(b.For, a.For) })
	return all[:min(len(all), mostWaits)]
}
