package sample

import (
	"cmp"
	"math"
)

// This file sorts what needs attention to the front.

// orLast puts an unknown time behind all others.
func orLast(at int64) int64 {
	if at == 0 {
		return math.MaxInt64
	}
	return at
}

// since returns the time at which the first holder came, 0 if that is unknown.
func (n *Name) since() (first int64) {
	for _, h := range n.Holders {
		if h.Since > 0 && (first == 0 || h.Since < first) {
			first = h.Since
		}
	}
	return first
}

// order compares items by attention: names about which the nodes differ, names with waiters by their time, and the
// other ones by the time for which they are held.
func order(a, b Name) int {
	rank := func(n *Name) int {
		switch {
		case n.Differ != "" || !n.Known:
			return 0
		case n.Waiters > 0:
			return 1
		}
		return 2
	}
	c := cmp.Or(cmp.Compare(rank(&a), rank(&b)), cmp.Compare(orLast(a.Waiting), orLast(b.Waiting)))
	if c == 0 && a.Waiters == 0 { // the slots of a semaphore have the same waiters, and stay together
		c = cmp.Compare(orLast(a.since()), orLast(b.since()))
	}
	return cmp.Or(c, cmp.Compare(a.Name, b.Name), cmp.Compare(a.Slot, b.Slot))
}

// orderJobs compares jobs by attention: overdue and failed ones, the latest failure first, then paused ones, and the
// other ones by their next tick.
func orderJobs(a, b Job) int {
	rank := func(j *Job) int {
		switch {
		case j.Overdue > 0:
			return 0
		case j.Failing:
			return 1
		case j.Paused != "":
			return 2
		case j.Retired:
			return 5
		case j.State == "running":
			return 3
		}
		return 4
	}
	r := rank(&a)
	c := cmp.Compare(r, rank(&b))
	switch {
	case c != 0:
		return c
	case r == 0:
		c = cmp.Compare(a.Overdue, b.Overdue)
	case r == 1:
		c = cmp.Compare(b.Failed, a.Failed)
	}
	return cmp.Or(c, cmp.Compare(orLast(a.Next), orLast(b.Next)), cmp.Compare(a.Name, b.Name))
}

// orderNodes puts nodes that do not vote before the others. The sort must be stable.
func orderNodes(a, b Node) int {
	rank := func(n Node) int {
		switch {
		case !n.Reachable:
			return 0
		case !n.Votes:
			return 1
		}
		return 2
	}
	return cmp.Compare(rank(a), rank(b))
}

// orderElections puts elections without a leader before the others.
func orderElections(a, b Election) int {
	led := func(e Election) int {
		if e.Leader == "" {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(led(a), led(b)), cmp.Compare(a.Name, b.Name))
}
