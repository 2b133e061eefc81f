//go:build linux

package cluster

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// report is the result of a run.
type report struct {
	plan         plan
	began, ended int64

	names      []nameResult
	overlaps   []overlap
	strikes    []strike
	gaps       []time.Duration // by strike: the longest time in which nobody got a lock of one name of the shard
	ofStrike   []int           // by strike: the overlaps that began after it and before the next one
	early      int             // overlaps that began before the first strike
	moves      []moved
	moved      int
	movedAgain int
	leftMoves  int
	unsettled  int
	notes      map[string]int
}

// nameResult is the result of one name.
type nameResult struct {
	name                               string
	cycles, overlaps, lost, inversions int
	writes, lostWrites                 int
	blameless                          []stay        // the lost holds whose shard had no fault
	longest                            time.Duration // the longest stay
}

// judge fills in what the stays mean.
func (r *report) judge(stays []stay, names []string, file counters) error {
	all := byName(stays, len(names))
	for i, of := range all {
		n := nameResult{name: names[i], cycles: len(of), inversions: inversions(of)}
		found := overlaps(of)
		n.overlaps = len(found)
		r.overlaps = append(r.overlaps, found...)
		for _, s := range of {
			if s.Lost {
				n.lost++
				if blame(s, r.strikes, r.moves) == nil {
					n.blameless = append(n.blameless, s)
				}
			}
			if s.Wrote {
				n.writes++
			}
			n.longest = max(n.longest, time.Duration(s.Leave-s.Enter))
		}
		value, err := file.read(i)
		if err != nil {
			return err
		}
		n.lostWrites = n.writes - int(value)
		r.names = append(r.names, n)
	}
	slices.SortFunc(r.overlaps, func(a, b overlap) int { return int(a.second.Enter - b.second.Enter) })
	r.ofStrike = make([]int, len(r.strikes))
	for _, o := range r.overlaps {
		if i := r.before(o.second.Enter); i >= 0 {
			r.ofStrike[i]++
		} else {
			r.early++
		}
	}
	for i, k := range r.strikes {
		end := r.ended
		if i+1 < len(r.strikes) {
			end = r.strikes[i+1].at
		}
		longest := time.Duration(0)
		for _, name := range k.names {
			longest = max(longest, gap(all[name], k.at, end))
		}
		r.gaps = append(r.gaps, longest)
	}
	return nil
}

// before returns the last strike that began before a time, -1 if none did.
func (r *report) before(at int64) int {
	for i := len(r.strikes) - 1; i >= 0; i-- {
		if r.strikes[i].at <= at {
			return i
		}
	}
	return -1
}

// sum adds the results of all names.
func (r *report) sum() (s nameResult) {
	for _, n := range r.names {
		s.cycles += n.cycles
		s.overlaps += n.overlaps
		s.lost += n.lost
		s.blameless = append(s.blameless, n.blameless...)
		s.inversions += n.inversions
		s.writes += n.writes
		s.lostWrites += n.lostWrites
		s.longest = max(s.longest, n.longest)
	}
	return s
}

// markdown returns the report as text for people.
func (r *report) markdown() string {
	var b strings.Builder
	p := r.plan
	fmt.Fprintf(&b, "## %s on a Redis Cluster\n\n%s of faults (%s), one every %s, seed %d; %d masters with a replica each, %d processes × %d, %d names, TTL %s, node timeout %s.\n\n",
		p.system, p.length, strings.Join(p.faults, ", "), p.every, p.seed, masters, p.processes, loops, len(r.names), ttl, nodeTimeout)
	s := r.sum()
	fmt.Fprintf(&b, "| result | |\n|---|---|\n| cycles | %d |\n| **overlaps** | %d |\n| holds that ended before their stay / **without a fault of their shard** | %d / %d |\n| **increments lost** / written | %d / %d |\n| **tokens out of order** | %d |\n| slots moved / at a later try / given up | %d / %d / %d |\n",
		s.cycles, s.overlaps, s.lost, len(s.blameless), s.lostWrites, s.writes, s.inversions, r.moved, r.movedAgain, r.leftMoves)
	b.WriteString("\n| name | cycles | overlaps | holds lost | increments lost | tokens out of order | longest stay |\n|---|---|---|---|---|---|---|\n")
	for _, n := range r.names {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %s |\n", n.name, n.cycles, n.overlaps, n.lost, n.lostWrites, n.inversions, short(n.longest))
	}
	b.WriteString("\n| fault | at | takeover after | settled after | longest gap without a holder of a name of the shard | overlaps until the next fault |\n|---|---|---|---|---|---|\n")
	for i, k := range r.strikes {
		over := "none"
		if k.over != 0 {
			over = short(time.Duration(k.over - k.at))
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %d |\n", k.fault, short(time.Duration(k.at-r.began)), over, short(time.Duration(k.back-k.at)), short(r.gaps[i]), r.ofStrike[i])
	}
	if r.unsettled > 0 {
		fmt.Fprintf(&b, "\nFaults after which the servers did not agree about their roles within a minute: %d.\n", r.unsettled)
	}
	if r.early > 0 {
		fmt.Fprintf(&b, "\nOverlaps before the first fault: %d.\n", r.early)
	}
	if len(r.notes) > 0 {
		b.WriteString("\n| calls that failed | |\n|---|---|\n")
		for _, note := range slices.Sorted(maps.Keys(r.notes)) {
			fmt.Fprintf(&b, "| %s | %d |\n", strings.ReplaceAll(note, "|", "/"), r.notes[note])
		}
	}
	for _, l := range s.blameless {
		fmt.Fprintf(&b, "\nLost without a fault of its shard: %s, by process %d, held from %s to %s.\n", r.names[l.Name].name, l.Process,
			short(time.Duration(l.Enter-r.began)), short(time.Duration(l.Leave-r.began)))
		r.around(&b, l)
	}
	if len(r.overlaps) > 0 {
		b.WriteString("\nThe first overlaps:\n\n")
		for _, o := range r.overlaps[:min(len(r.overlaps), 10)] {
			fmt.Fprintf(&b, "- %s, at %s: process %d had been inside for %s, and process %d was with it for %s\n", r.names[o.first.Name].name,
				short(time.Duration(o.second.Enter-r.began)), o.first.Process, short(time.Duration(o.second.Enter-o.first.Enter)), o.second.Process, short(o.lasted()))
		}
	}
	return b.String()
}

func short(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// publish prints the report. It also appends the report to a file, unless file is "".
func (r *report) publish(t testing.TB, file string) {
	t.Helper()
	fmt.Println(r.markdown())
	if file == "" {
		return
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = f.WriteString(r.markdown() + "\n")
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Error(err)
	}
}

// enoughRestarts is the number of masters without memory after which a lock that lives in one key must have overlapped.
// In two runs of 2026-11-29, of redsync and of redislock, five of eight led to overlaps.
const enoughRestarts = 10

func (r *report) strikesOf(fault string) (n int) {
	for _, k := range r.strikes {
		if k.fault == fault {
			n++
		}
	}
	return n
}

// demand fails the test for a run that proves nothing, and for each promise that did not hold.
func (r *report) demand(t testing.TB) {
	t.Helper()
	s := r.sum()
	if s.cycles == 0 {
		t.Error("nobody got a lock")
	}
	if slices.Contains(r.plan.faults, moving) && r.moved == 0 {
		t.Error("no slot moved")
	}
	for _, f := range r.plan.faults {
		if f != moving && r.strikesOf(f) == 0 && r.plan.length >= time.Duration(len(r.plan.faults))*r.plan.every*2 {
			t.Errorf("the fault %s did not come", f)
		}
	}
	if !systems[r.plan.system].promises {
		if restarts := r.strikesOf("restart"); s.overlaps == 0 && restarts >= enoughRestarts {
			t.Errorf("the harness found no overlap of %s, although masters lost its locks %d times", r.plan.system, restarts)
		}
		return
	}
	if s.overlaps > 0 {
		t.Errorf("%d overlaps", s.overlaps)
	}
	if s.inversions > 0 {
		t.Errorf("%d tokens out of order", s.inversions)
	}
	if len(s.blameless) > 0 {
		t.Errorf("%d holds lost although their shard had no fault", len(s.blameless))
	}
	if s.lostWrites > 0 {
		t.Errorf("%d increments lost", s.lostWrites)
	}
}

// around writes the faults and the moves of the slot in the time before a hold ended.
func (r *report) around(b *strings.Builder, l stay) {
	const before = int64(30 * time.Second)
	at := func(t int64) string { return short(time.Duration(t - r.began)) }
	for _, k := range r.strikes {
		if k.back > l.Leave-before && k.at < l.Leave {
			var servers []string
			for _, s := range k.servers {
				servers = append(servers, s.Addr())
			}
			fmt.Fprintf(b, "- %s from %s to %s, of %s, which had the names %v\n", k.fault, at(k.at), at(k.back), strings.Join(servers, ", "), k.names)
		}
	}
	for _, m := range r.moves {
		if m.name == l.Name && m.ended > l.Leave-before && m.began < l.Leave {
			fmt.Fprintf(b, "- its slot (name %d) moved from %s to %s, from %s to %s\n", m.name, m.from.Addr(), m.to.Addr(), at(m.began), at(m.ended))
		}
	}
}
