//go:build linux

package chaos

import (
	"cmp"
	"slices"
	"time"
)

// belief is the time in which a client relies on a lock. It begins when Lock returns. It ends when the client unlocks,
// learns of a loss, dies, or reaches its deadline, whichever is first. A paused process cannot notice its deadline, and
// neither can a process whose timer comes late. No lock can prevent actions of such a process after the deadline.
type belief struct {
	client, loop int
	lease        int64
	name         string
	token        int64
	shared       bool
	wanted       int64
	asked        int64 // when the call began that got the lock, if the client reports that
	from, to     int64
	noticed      int64         // when the client reported that it no longer relies on the lock; 0: never
	late         time.Duration // how much too late the client noticed its deadline, without pauses
	lost         bool
	busy         bool // the client is busy: see holdBusy
	element      string
	acked        []string
	refused      []string
}

// wish is a wait for a lock. got is false if the wait ended with its process.
type wish struct {
	client   int
	name     string
	from, to int64
	got      bool
}

// beliefs returns the beliefs and wishes in a process's events. ended is the time at which all processes were told to
// end.
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
		} else { // the lock gives no deadline, so the belief ends when the process was stopped
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
			if l.wanting && l.wanted < ended { // the client was told to end, or gave up
				wishes = append(wishes, wish{p.id, l.name, l.wanted, min(e.At, ended), false})
			}
			*l = lease{belief: belief{client: p.id, loop: e.Loop, lease: e.Lease, name: e.Name, wanted: e.At, asked: e.At}, wanting: true}
		case asks:
			l.asked = e.At
		case has:
			if l.wanting {
				wishes = append(wishes, wish{p.id, l.name, l.wanted, e.At, true})
			} else { // another name of a set
				*l = lease{belief: belief{client: p.id, loop: e.Loop, lease: e.Lease}}
			}
			l.wanting, l.holding = false, true
			l.name, l.from, l.token, l.shared, l.deadline = e.Name, e.At, e.Token, e.Shared, e.Deadline
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

// meets reports whether any span overlaps the time between two instants.
func meets(spans []span, from, to int64) bool {
	return slices.ContainsFunc(spans, func(s span) bool { return s.from < to && (s.to == 0 || s.to > from) })
}

// byName sorts beliefs by their begin. It drops a belief that ended before it began. Such a belief exists if Lock
// returned to a process that had been paused.
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

// clash is a pair of beliefs that must not both exist.
type clash struct {
	first, second belief
	at            int64
}

// overlaps finds each belief that began while another belief in the same name lasted, unless both are of readers.
func overlaps(list []belief) (found []clash) {
	var longest, writer belief // the earlier belief that lasts longest, of all and of writers
	for _, b := range list {
		other := longest
		if b.shared {
			other = writer
		}
		if other.to > b.from {
			found = append(found, clash{other, b, b.from})
		}
		if b.to > longest.to {
			longest = b
		}
		if !b.shared && b.to > writer.to {
			writer = b
		}
	}
	return found
}

// together counts the readers that began while another reader had the same name.
func together(list []belief) (n int) {
	var last int64
	for _, b := range list {
		if b.shared {
			if last > b.from {
				n++
			}
			last = max(last, b.to)
		}
	}
	return n
}

// untold finds each belief that began after the end of the previous belief, although the previous process ran and had
// not noticed the end. still contains the times in which a client's process was paused.
func untold(list []belief, still map[int][]span) (found []clash) {
	for i, b := range list {
		for _, next := range list[i+1:] {
			if next.from >= b.noticed {
				break
			}
			if b.shared && next.shared {
				continue
			}
			if next.from >= b.to { // an earlier belief overlaps
				if !meets(still[b.client], b.to, next.from) {
					found = append(found, clash{b, next, next.from})
				}
				break
			}
		}
	}
	return found
}

// inversions finds each belief whose token is not above the token of an earlier belief. A reader's token need only be
// above those of writers. The order of the beliefs is the order in which they began, because each belief was valid at
// its begin.
func inversions(list []belief) (found []clash) {
	var highest, writer belief
	for _, b := range list {
		if b.token == 0 {
			continue
		}
		other := highest
		if b.shared {
			other = writer
		}
		if other.token >= b.token {
			found = append(found, clash{other, b, b.from})
			continue
		}
		if b.token > highest.token {
			highest = b
		}
		if !b.shared {
			writer = b
		}
	}
	return found
}
