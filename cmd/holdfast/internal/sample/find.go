package sample

import (
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/admin"
)

// This file searches a reading for the items that a State leaves out.

// Found is the answer to a search. At is the time of the reading.
type Found[T any] struct {
	At    int64 `json:"at"`
	Items []T   `json:"items"` // at most MostNames; those that need attention come first
	Fits  int   `json:"fits"`  // the number of items that fit, those beyond MostNames included
}

func (f *Found[T]) add(item T) {
	if f.Fits++; len(f.Items) < MostNames {
		f.Items = append(f.Items, item)
	}
}

// FindLocks returns the locks whose name or holder contains a text, in capital or small letters. With waiting it returns
// only those for which somebody waits. Semaphores and the locks of elections and jobs are no locks here.
func (s *State) FindLocks(part string, waiting bool) Found[Name] {
	part = strings.ToLower(part)
	f := Found[Name]{At: s.At, Items: []Name{}}
	for i := range s.names {
		if n := &s.names[i]; n.isLock() && (!waiting || n.Waiters > 0) && n.fits(part) {
			f.add(*n)
		}
	}
	return f
}

// FindSlots returns the slots of the semaphores whose name or holder contains a text. It returns all slots of such a
// semaphore that somebody has or waits for, as far as there is room. Fits is the number of semaphores.
func (s *State) FindSlots(part string) Found[Name] {
	part = strings.ToLower(part)
	fits := map[string]bool{}
	for i := range s.names {
		if n := &s.names[i]; n.Slot >= 0 && n.fits(part) {
			fits[n.Name] = true
		}
	}
	f := Found[Name]{At: s.At, Items: []Name{}}
	for i := range s.names {
		if n := &s.names[i]; n.Slot >= 0 && fits[n.Name] {
			f.add(*n)
		}
	}
	f.Fits = len(fits)
	return f
}

// Find returns the lock, or the slots of the semaphore, that has exactly this name.
func (s *State) Find(name string) Found[Name] {
	f := Found[Name]{At: s.At, Items: []Name{}}
	for i := range s.names {
		if n := &s.names[i]; n.Name == name {
			f.add(*n)
		}
	}
	return f
}

// FindJobs returns the jobs whose name or host contains a text.
func (s *State) FindJobs(part string) Found[Job] {
	part = strings.ToLower(part)
	f := Found[Job]{At: s.At, Items: []Job{}}
	for i := range s.jobs {
		if j := &s.jobs[i]; has(j.Name, part) || has(j.Host, part) {
			f.add(*j)
		}
	}
	return f
}

// SetNames sets Names to the first of all names, those that need attention first, and Locks and Semaphores to the numbers
// of both.
func (s *State) SetNames(all []Name) {
	slices.SortFunc(all, order)
	s.names, s.Names, s.Locks = all, all[:min(len(all), MostNames)], 0
	seen := map[string]bool{}
	for i := range all {
		switch n := &all[i]; {
		case n.isLock():
			s.Locks++
		case n.Slot >= 0:
			seen[n.Name] = true
		}
	}
	s.Semaphores = len(seen)
}

// All returns all names of the reading, also those that Names leaves out. Nobody may change them.
func (s *State) All() []Name {
	if len(s.names) > len(s.Names) {
		return s.names
	}
	return s.Names
}

// isLock reports whether a name is neither a slot nor the lock of an election or a job.
func (n *Name) isLock() bool {
	return n.Slot < 0 && n.Kind != string(admin.KindElection) && n.Kind != string(admin.KindJob)
}

func (n *Name) fits(part string) bool {
	return has(n.Name, part) || slices.ContainsFunc(n.Holders, func(h Holder) bool { return has(h.Label, part) })
}

func has(text, part string) bool { return strings.Contains(strings.ToLower(text), part) }
