package e2e

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/election"
	"github.com/holdfast-go/holdfast/verify/selfexec"
)

// reign is a term, as its candidate and the test saw it. Times are in ns by the clock of the machine; 0: it has not
// happened.
type reign struct {
	name               string
	fence              int64
	by                 *selfexec.Child
	began, ended, over int64
	killed             int64 // when its process was killed
	asked              bool  // to resign
}

// end returns the time at which the reign was over for its successor.
func (r *reign) end() int64 {
	switch {
	case r.killed != 0 && (r.over == 0 || r.over > r.killed):
		return r.killed
	case r.asked:
		return r.over
	}
	return r.ended
}

// sight is the news of an observer, with the time at which the test received it.
type sight struct {
	election.News
	at int64
}

// court records all reigns and sights, and judges them at the end.
type court struct {
	mu     sync.Mutex
	reigns map[string][]*reign // by election, in the order in which the test heard of them
	seen   map[string][]sight
	errors []string
}

// hear notes a line of a candidate.
func (c *court) hear(p *selfexec.Child, line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var what, name string
	var fence, at int64
	if _, err := fmt.Sscan(line, &what, &name, &fence, &at); err != nil {
		c.errors = append(c.errors, line)
		return
	}
	if what == "began" {
		c.reigns[name] = append(c.reigns[name], &reign{name: name, fence: fence, by: p, began: at})
		return
	}
	for _, r := range slices.Backward(c.reigns[name]) {
		if r.fence != fence || r.by != p {
			continue
		}
		switch what {
		case "ended":
			r.ended = at
		case "over":
			r.over = at
		}
		return
	}
	c.errors = append(c.errors, "a term that nobody began: "+line)
}

func (c *court) sees(name string, o election.News) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[name] = append(c.seen[name], sight{o, time.Now().UnixNano()})
}

// leads returns the reign of an election that has not ended, nil if there is none.
func (c *court) leads(name string) *reign {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.reigns[name] {
		if r.ended == 0 && r.killed == 0 && !r.asked {
			return r
		}
	}
	return nil
}

// judge checks the promises of an election. slack is the time for which a process may have stood still. It returns the
// numbers of reigns after a kill and after a resignation, and the longest times without a leader after each.
func (c *court) judge(t *testing.T, name string, slack time.Duration) (kills, resigns int, afterKill, afterResign time.Duration) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.errors {
		t.Errorf("a candidate said %q", e)
	}
	all := c.reigns[name]
	slices.SortFunc(all, func(a, b *reign) int { return int(a.began - b.began) })
	for i, r := range all {
		if r.ended != 0 && r.over != 0 && r.over < r.ended {
			t.Errorf("%s: term %d was over before its context ended", name, r.fence)
		}
		if i+1 == len(all) {
			break
		}
		next := all[i+1]
		gap := time.Duration(next.began - r.end())
		lost := r.killed == 0 && !r.asked
		switch {
		case r.end() == 0:
			t.Errorf("%s: term %d began while the context of term %d was alive", name, next.fence, r.fence)
		case gap < 0 && !(lost && -gap <= slack): // the line of a loss is as late as its process was
			t.Errorf("%s: term %d began %s before the end of term %d (killed %v, asked to resign %v)", name, next.fence, -gap, r.fence, r.killed != 0, r.asked)
		}
		if next.fence <= r.fence {
			t.Errorf("%s: term %d comes after term %d", name, next.fence, r.fence)
		}
		switch {
		case r.killed != 0:
			kills++
			afterKill = max(afterKill, gap)
			if limit := electionTTL + window + time.Second + slack; gap > limit {
				t.Errorf("%s: %s without a leader after a kill; at most %s are allowed", name, gap, limit)
			}
		case r.asked:
			resigns++
			afterResign = max(afterResign, gap)
		}
		if gap > time.Second && !c.sawVacancy(name, r.end(), next.began, slack) {
			t.Errorf("%s: the observer did not see the %s between the terms %d and %d", name, gap, r.fence, next.fence)
		}
	}
	c.judgeSights(t, name)
	return kills, resigns, afterKill, afterResign
}

// sawVacancy reports whether the observer knew at any time of a vacancy, or heard of it at most one look later.
func (c *court) sawVacancy(name string, from, to int64, slack time.Duration) bool {
	vacant := false // what the observer last heard before the vacancy
	for _, s := range c.seen[name] {
		switch {
		case s.at < from:
			vacant = s.Vacant()
		case s.at <= to+(2*time.Second+slack).Nanoseconds() && s.Vacant():
			return true
		}
	}
	return vacant
}

// judgeSights checks that terms never go back, and that a value is shown with its own term.
func (c *court) judgeSights(t *testing.T, name string) {
	t.Helper()
	highest := int64(0)
	for _, s := range c.seen[name] {
		if s.Term == 0 {
			continue
		}
		if s.Term < highest {
			t.Errorf("%s: the observer saw term %d after term %d", name, s.Term, highest)
		}
		highest = max(highest, s.Term)
		if v := string(s.Value); v != "" && v != fmt.Sprint(s.Term) {
			t.Errorf("%s: the observer saw the value %q in term %d", name, v, s.Term)
		}
	}
}
