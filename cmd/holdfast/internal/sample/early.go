package sample

import (
	"slices"

	"github.com/holdfast-go/holdfast/internal/core/printable"
)

// This file makes the States of a reading that goes on.

// waiting returns a State with the addresses of the nodes, before the first answer.
func (r *Reader) waiting() *State {
	s := r.blank()
	s.Early = true
	for _, n := range r.Nodes {
		s.Nodes = append(s.Nodes, Node{Addr: printable.Text(n.Addr()), Label: printable.Text(n.Addr()), Said: NoAnswerYet})
	}
	s.Quorum = len(s.Nodes)/2 + 1
	s.problems()
	return s
}

// early returns a State with the answers of the nodes in s. The rest is that of the last reading.
func (r *Reader) early(s *State) *State {
	e := r.blank()
	if l := r.last; l != nil {
		e.SetNames(old(l))
		e.NamesAt, e.Total, e.Error = l.NamesAt, l.Total, l.Error
	}
	return r.rest(e, s)
}

// named returns a State with the nodes and the names of s. The rest is that of the last reading.
func (r *Reader) named(s *State) *State {
	e := r.blank()
	e.SetNames(slices.Clone(s.Names))
	e.NamesAt, e.Total = s.NamesAt, s.Total
	return r.rest(e, s)
}

// rest sets the nodes of an early State to those of s, and its jobs and elections to those of the last reading.
func (r *Reader) rest(e, s *State) *State {
	e.Early, e.At, e.Nodes, e.Quorum, e.Point = true, s.At, s.Nodes, s.Quorum, s.Point
	if l := r.last; l != nil {
		e.Jobs, e.jobs, e.JobsAt, e.JobsTotal, e.JobsError, e.Elections = l.Jobs, l.jobs, l.JobsAt, l.JobsTotal, l.JobsError, l.Elections
	}
	e.problems()
	return e
}

// old returns all names of a State, with the time of their reading.
func old(last *State) []Name {
	all := slices.Clone(last.names)
	for i := range all {
		if all[i].Old == 0 {
			all[i].Old = last.At
		}
	}
	return all
}
