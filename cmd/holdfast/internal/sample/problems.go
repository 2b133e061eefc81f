package sample

import (
	"fmt"
	"slices"

	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/core/printable"
)

// Problem is something that needs attention.
type Problem struct {
	Level string `json:"level"` // "bad" or "warn"
	Kind  string `json:"kind"`  // node, lock, semaphore, election, job, or "" for the node set
	Name  string `json:"name"`  // the node's address or the name; "" if the problem is about several
	Text  string `json:"text"`
}

const (
	mostProblems = 8         // of one kind
	longWait     = 30 * 1000 // ms; a wait of this length is a problem
	tooLongWait  = 10 * 60 * 1000
)

// problems sets Problems from the rest of the State. There are none only if all of the State is known.
func (s *State) problems() {
	s.Problems, s.MoreProblems = []Problem{}, 0
	s.setProblems()
	s.jobProblems()
	s.electionProblems()
	s.lockProblems()
	slices.SortStableFunc(s.Problems, func(a, b Problem) int {
		switch {
		case a.Level == b.Level:
			return 0
		case a.Level == "bad":
			return -1
		}
		return 1
	})
}

// addProblems adds problems of one kind, up to mostProblems. MoreProblems counts the others.
func (s *State) addProblems(all []Problem) {
	s.Problems = append(s.Problems, all[:min(len(all), mostProblems)]...)
	s.MoreProblems += max(0, len(all)-mostProblems)
}

// setProblems adds the problems of the nodes, and of the reading itself.
func (s *State) setProblems() {
	what := "node"
	if s.sharded() {
		what = "shard"
	}
	waiting := slices.ContainsFunc(s.Nodes, func(n Node) bool { return n.Reason == "" })
	voting, full := 0, 0
	var silent []Problem
	for _, n := range s.Nodes {
		if n.full {
			full++
		}
		if n.Votes {
			voting++
		} else if n.Reason != "" {
			silent = append(silent, Problem{"warn", "node", n.Addr, fmt.Sprintf("%s %s does not vote: %s", what, short(n.Label), n.Said)})
		}
	}
	switch {
	case waiting:
		s.addProblems([]Problem{{"warn", "", "", "waiting for the nodes"}})
	case voting < s.Quorum:
		after := ": no lock can be taken or renewed"
		switch {
		case s.sharded():
			after = ": the names of the others cannot be locked"
		case voting+full >= s.Quorum: // a full node does what needs no memory
			after = ": no lock can be taken; renewals and releases still work"
		}
		s.addProblems([]Problem{{"bad", "", "", voteText(voting, len(s.Nodes), what) + after}})
	case voting == s.Quorum && voting < len(s.Nodes):
		s.addProblems([]Problem{{"bad", "", "", voteText(voting, len(s.Nodes), what) + ": if one more fails, no lock can be taken"}})
	case voting < len(s.Nodes):
		s.addProblems([]Problem{{"warn", "", "", voteText(voting, len(s.Nodes), what)}})
	}
	if voting <= s.Quorum {
		for i := range silent {
			silent[i].Level = "bad"
		}
	}
	if !waiting {
		s.addProblems(silent)
	}
	switch {
	case s.Error != "" && s.NamesAt > 0:
		s.addProblems([]Problem{{"bad", "", "", fmt.Sprintf("the locks are not known since %s: %s", Span(s.At-s.NamesAt), s.Error)}})
	case s.Error != "":
		s.addProblems([]Problem{{"bad", "", "", "the locks are not known: " + s.Error}})
	case s.NamesAt == 0 && !waiting:
		s.addProblems([]Problem{{"warn", "", "", "the locks are not known yet"}})
	}
	switch {
	case waiting:
	case s.JobsError != "" && s.JobsAt > 0:
		s.addProblems([]Problem{{"bad", "", "", fmt.Sprintf("the jobs are not known since %s: %s", Span(s.At-s.JobsAt), s.JobsError)}})
	case s.JobsError != "":
		s.addProblems([]Problem{{"bad", "", "", "the jobs are not known: " + s.JobsError}})
	case s.JobsAt == 0:
		s.addProblems([]Problem{{"warn", "", "", "the jobs are not known yet"}})
	}
}

func voteText(voting, all int, what string) string {
	verb := "vote"
	if voting == 1 {
		verb = "votes"
	}
	return fmt.Sprintf("%d of %s %s", voting, printable.Count(all, what), verb)
}

// jobProblems adds the jobs that are overdue or failed.
func (s *State) jobProblems() {
	var hanging, overdue, failed, paused []Problem
	for _, j := range s.jobs {
		switch {
		case j.Hangs:
			text := fmt.Sprintf("job %s has run for %s on %s, and may hang", j.Name, Span(s.At-j.Started), j.Host)
			if j.Next > 0 && j.Next < s.At {
				text += fmt.Sprintf("; its next tick was due %s ago", Span(s.At-j.Next))
			}
			hanging = append(hanging, Problem{"bad", "job", j.Name, text})
		case j.Overdue > 0:
			overdue = append(overdue, Problem{"bad", "job", j.Name, fmt.Sprintf("job %s is overdue by %s", j.Name, Span(s.At-j.Overdue))})
		case j.Failing:
			failed = append(failed, Problem{"bad", "job", j.Name, j.failure(s.At)})
		case j.Paused != "":
			paused = append(paused, Problem{"warn", "job", j.Name, fmt.Sprintf("job %s is paused by %s", j.Name, j.Paused)})
		}
	}
	s.addProblems(failed)
	s.addProblems(hanging)
	s.addProblems(overdue)
	s.addProblems(paused)
}

// failure says in words that the last run of a job failed.
func (j Job) failure(now int64) string {
	text := fmt.Sprintf("job %s ", j.Name)
	if text += "failed"; j.crashed() {
		text = fmt.Sprintf("job %s crashed", j.Name)
	}
	if j.Failed > 0 {
		text += " " + Span(now-j.Failed) + " ago"
	}
	switch {
	case j.State == "running":
		text += ", and runs again"
	case j.Retry > 0:
		text += ", and will be repeated: " + j.Error
	case j.Error != "":
		text += ": " + j.Error
	}
	return text
}

func (s *State) electionProblems() {
	var all []Problem
	for _, e := range s.Elections {
		switch {
		case s.Error != "":
		case e.Error != "":
			all = append(all, Problem{"warn", "election", e.Name, fmt.Sprintf("the leader of %s is not known: %s", e.Name, e.Error)})
		case e.Leader == "":
			all = append(all, Problem{"bad", "election", e.Name, fmt.Sprintf("election %s has no leader", e.Name)})
		case e.Changes >= manyChanges:
			all = append(all, Problem{"warn", "election", e.Name, fmt.Sprintf("election %s has changed its leader %d times in %s", e.Name, e.Changes, Span(changesKept.Milliseconds()))})
		}
	}
	s.addProblems(all)
}

// lockProblems adds names with long waits and names about which the nodes differ.
func (s *State) lockProblems() {
	var waits, differ []Problem
	seen := map[string]bool{}
	for i := range s.Names {
		n := &s.Names[i]
		if n.Old > 0 {
			continue
		}
		kind := "lock"
		if n.Slot >= 0 {
			kind = "semaphore"
		}
		if n.waitsLong(s.At) && !seen[n.Name] {
			seen[n.Name] = true
			level := "warn"
			if s.At-n.Waiting > tooLongWait {
				level = "bad"
			}
			waits = append(waits, Problem{level, kind, n.Name, fmt.Sprintf("%s for %s since %s", printable.Count(n.Waiters, "waiter"), n.Name, Span(s.At-n.Waiting))})
		}
		switch {
		case !n.Known:
			differ = append(differ, Problem{"warn", kind, n.Name, fmt.Sprintf("the holder of %s is not known", n.Name)})
		case n.Differ != "":
			differ = append(differ, Problem{"warn", kind, n.Name, fmt.Sprintf("the nodes differ about %s", n.Name)})
		}
	}
	s.addProblems(waits)
	s.addProblems(differ)
}

// waitsLong reports whether the first waiter has waited for long. A candidate of an election may wait for ever, and so may
// the other machines of a job that runs: such a wait is never long.
func (n *Name) waitsLong(now int64) bool {
	return n.Kind != string(admin.KindElection) && n.Kind != string(admin.KindJob) && n.Waiters > 0 && n.Waiting > 0 && now-n.Waiting > longWait
}

func (s *State) sharded() bool { return len(s.Nodes) > 0 && s.Nodes[0].Master != "" }
