package sample

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/election"
	"github.com/holdfast-go/holdfast/internal/core/printable"
)

// elections knows the leaders. An election without a leader stays in the list, as long as the Reader exists.
type elections struct {
	known map[string]Election
	terms map[string]int64 // by name: token of the lock in the reading before
	next  time.Time        // when to read all leaders again: a leader may publish another value

	led     map[string]int64       // by name: the term of the last leader
	changes map[string][]time.Time // by name: when the leader changed
}

const (
	readLeadersEvery = 5 * time.Second
	mostElections    = 1000

	// A leader that changes so often in so long a time is a problem.
	manyChanges = 4
	changesKept = 5 * time.Minute
)

// read returns the elections.
func (e *elections) read(ctx context.Context, client *holdfast.Client, s *State) []Election {
	if s.Error != "" {
		return e.list()
	}
	if e.known == nil {
		e.known = map[string]Election{}
	}
	terms := s.ofKind(admin.KindElection)
	again := changed(e.terms, terms)
	for name, v := range e.known {
		if v.Leader == "" || v.Error != "" {
			again[name] = true // a leader that has published nothing yet is listed as a lock
		}
	}
	if began := time.Now(); !began.Before(e.next) {
		for name := range terms {
			again[name] = true
		}
		e.next = began.Add(readLeadersEvery)
	}
	e.terms = terms
	looks := 0
	for name := range again {
		if len(e.known) >= mostElections && e.known[name].Name == "" {
			continue
		}
		if looks++; looks > mostLooks {
			delete(e.terms, name) // the next reading looks at it
			continue
		}
		e.known[name] = leaderOf(ctx, client, name)
		e.count(name, e.known[name].Term)
	}
	e.forget()
	return e.list()
}

// count notes a change of the leader, if the term is another one than that of the last leader. Two changes between two
// readings are one. term is 0 if there is no leader.
func (e *elections) count(name string, term int64) {
	if e.led == nil {
		e.led, e.changes = map[string]int64{}, map[string][]time.Time{}
	}
	last := e.led[name]
	if term == 0 || term == last {
		return
	}
	if e.led[name] = term; last != 0 {
		e.changes[name] = append(e.changes[name], time.Now())
	}
}

// forget forgets old changes, and counts the others.
func (e *elections) forget() {
	for name, at := range e.changes {
		at = slices.DeleteFunc(at, func(t time.Time) bool { return time.Since(t) > changesKept })
		if e.changes[name] = at; len(at) == 0 {
			delete(e.changes, name)
		}
		v := e.known[name]
		v.Changes = len(at)
		e.known[name] = v
	}
}

func leaderOf(ctx context.Context, client *holdfast.Client, name string) Election {
	v := Election{Name: printable.Quoted(name)}
	l, err := election.New(client, name).Leader(ctx)
	switch {
	case errors.Is(err, election.ErrNoLeader):
	case err != nil:
		v.Error = trimmed(err)
	default:
		v.Leader, v.Term, v.Since, v.Value = l.String(), l.Term, millis(l.Since), cut(printable.Text(string(l.Value)))
	}
	return v
}

func (e *elections) list() []Election {
	list := make([]Election, 0, len(e.known))
	for _, v := range e.known {
		list = append(list, v)
	}
	slices.SortFunc(list, orderElections)
	return list
}
