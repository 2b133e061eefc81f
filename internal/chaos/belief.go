//go:build linux

package chaos

import (
	"cmp"
	"slices"
	"time"
)

// belief is the stretch of time in which a client believes that it holds a lock: from the
// return of Lock until it unlocks, is told that it lost the lock, dies, or its deadline is over,
// whichever is first. A process that stands still cannot notice its deadline, nor can one whose timer
// comes late; what it does then is no matter of the lock any more.
type belief struct {
	client, loop int
	lease        int64
	name         string
	token        int64
	wanted       int64
	from, to     int64
	noticed      int64         // when it said that it believes no more; 0: never
	late         time.Duration // by how much it noticed its deadline too late, while it ran
	lost         bool
	element      string
	acked        []string
	refused      []string
}

// wish is a wait for a lock; got is false for one that ended with its process.
type wish struct {
	client   int
	name     string
	from, to int64
	got      bool
}

// beliefs puts together what a process said. ended is when all were told to end.
func (p *process) beliefs(ended int64) (list []belief, wishes []wish) {
	p.mu.Lock()
	defer p.mu.Unlock()
	type lease struct {
		belief
		deadline int64
		wanting  bool
		holding  bool
	}
	loops := map[int]*lease{}
	finish := func(l *lease, at int64) {
		l.to = at
		if l.deadline != 0 {
			l.to = min(at, l.deadline)
		} else { // it does not say until when: at most until it was stopped
			for _, f := range p.frozen {
				if f.from < l.to && (f.to == 0 || f.to > l.from) {
					l.to = max(l.from, f.from)
					break
				}
			}
		}
		list = append(list, l.belief)
		l.holding = false
	}
	for _, e := range p.events {
		l := loops[e.Loop]
		if l == nil {
			l = &lease{}
			loops[e.Loop] = l
		}
		switch e.What {
		case wants:
			if l.wanting && l.wanted < ended { // told to end, or given up
				wishes = append(wishes, wish{p.id, l.name, l.wanted, min(e.At, ended), false})
			}
			*l = lease{belief: belief{client: p.id, loop: e.Loop, lease: e.Lease, name: e.Name, wanted: e.At}, wanting: true}
		case has:
			l.wanting, l.holding = false, true
			l.from, l.token, l.deadline = e.At, e.Token, e.Deadline
			wishes = append(wishes, wish{p.id, l.name, l.wanted, e.At, true})
		case keeps:
			l.deadline = e.Deadline
		case over:
			l.deadline, l.lost, l.noticed = e.Deadline, e.Lost, e.At
			l.element, l.acked, l.refused = e.Element, e.Acked, e.Refused
			if l.deadline != 0 && e.At > l.deadline && !p.stoodStill(l.deadline, e.At) {
				l.late = outside(l.deadline, e.At, p.stood)
			}
			finish(l, e.At)
		}
	}
	end := ended
	if p.killed != 0 {
		end = p.killed
	}
	for _, l := range loops {
		switch {
		case l.holding:
			finish(l, end)
		case l.wanting && end > l.wanted:
			wishes = append(wishes, wish{p.id, l.name, l.wanted, end, false})
		}
	}
	return list, wishes
}

func (p *process) stoodStill(from, to int64) bool { return meets(p.frozen, from, to) }

// meets reports whether any of the spans has a part between two instants.
func meets(spans []span, from, to int64) bool {
	return slices.ContainsFunc(spans, func(s span) bool { return s.from < to && (s.to == 0 || s.to > from) })
}

// byName sorts beliefs by their beginnings. Those that were over before they began are left out: Lock
// returned to a process that had stood still meanwhile.
func byName(all []belief) map[string][]belief {
	names := map[string][]belief{}
	for _, b := range all {
		if b.from < b.to {
			names[b.name] = append(names[b.name], b)
		}
	}
	for _, list := range names {
		slices.SortFunc(list, func(a, b belief) int { return cmp.Compare(a.from, b.from) })
	}
	return names
}

// clash is two beliefs that must not be.
type clash struct {
	first, second belief
	at            int64
}

// overlaps finds each belief that began while another in the same name lasted.
func overlaps(list []belief) (found []clash) {
	var longest belief // of those before, the one that lasts longest
	for _, b := range list {
		if longest.to > b.from {
			found = append(found, clash{longest, b, b.from})
		}
		if b.to > longest.to {
			longest = b
		}
	}
	return found
}

// untold finds each belief that began when the one before was over, but its process, which ran until then, had not
// noticed yet. still are the stretches in which a client's process stood.
func untold(list []belief, still map[int][]span) (found []clash) {
	for i, b := range list {
		for _, next := range list[i+1:] {
			if next.from >= b.noticed {
				break
			}
			if next.from >= b.to { // before, they overlap
				if !meets(still[b.client], b.to, next.from) {
					found = append(found, clash{b, next, next.from})
				}
				break
			}
		}
	}
	return found
}

// inversions finds each belief that came after another and has a token that is not above it. Their
// beginnings tell their order: each was valid then.
func inversions(list []belief) (found []clash) {
	var highest belief
	for _, b := range list {
		if b.token == 0 {
			continue
		}
		if highest.token >= b.token {
			found = append(found, clash{highest, b, b.from})
		} else {
			highest = b
		}
	}
	return found
}
