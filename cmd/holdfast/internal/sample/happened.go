package sample

import (
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/internal/core/printable"
	"github.com/holdfast-go/holdfast/job"
)

// Event is something that happened between two readings, or an action of an operator.
type Event struct {
	Seq   uint64 `json:"seq"` // grows from event to event
	At    int64  `json:"at"`
	Kind  string `json:"kind"`  // node, lock, semaphore, election, job, or "" for the node set
	Name  string `json:"name"`  // the node's address or the name
	Level string `json:"level"` // good, warn or bad
	Text  string `json:"text"`

	// Times is how often it happened, one after the other, without another event of this kind and name. The event takes
	// the place of the event Replaces.
	Times    int    `json:"times"`
	Replaces uint64 `json:"replaces"` // 0: of none
}

const (
	// MostEvents is the number of events of each kind that a Sampler keeps.
	MostEvents = 200
	// mostText is the length of the longest text of an event and of the longest value of an election, in bytes.
	mostText = 500
)

// diary keeps the last events of each kind, so that many events of locks leave the events of nodes in it.
type diary struct {
	seq  uint64
	kept map[string][]Event
}

func (d *diary) add(all ...Event) {
	if d.kept == nil {
		d.kept = map[string][]Event{}
	}
	for _, e := range all {
		d.seq++
		e.Seq, e.Times, e.Replaces, e.Text = d.seq, 1, 0, cut(e.Text)
		list := d.kept[e.Kind]
		for i := len(list) - 1; i >= max(0, len(list)-MostEvents); i-- {
			if last := list[i]; last.Name == e.Name {
				if last.Text == e.Text {
					e.Times, e.Replaces = last.Times+1, last.Seq
					list = slices.Delete(list, i, i+1)
				}
				break
			}
		}
		list = append(list, e)
		if len(list) > 2*MostEvents {
			list = slices.Clone(list[len(list)-MostEvents:])
		}
		d.kept[e.Kind] = list
	}
}

// cut returns the beginning of a text that is longer than mostText.
func cut(text string) string {
	if len(text) <= mostText {
		return text
	}
	return strings.ToValidUTF8(text[:mostText-len("…")], "") + "…"
}

// after returns the events after seq, the oldest first.
func (d *diary) after(seq uint64) []Event {
	found := []Event{}
	if d.seq == seq {
		return found
	}
	for _, list := range d.kept {
		for _, e := range list[max(0, len(list)-MostEvents):] {
			if e.Seq > seq {
				found = append(found, e)
			}
		}
	}
	slices.SortFunc(found, func(a, b Event) int { return int(a.Seq) - int(b.Seq) })
	return found
}

// happened returns what happened between two readings. before is nil for the first one.
func happened(before, now *State) []Event {
	if before == nil {
		return nil
	}
	all := nodeEvents(before, now)
	if now.Error == "" {
		all = append(append(all, jobEvents(before, now)...), electionEvents(before, now)...)
		all = append(all, waitEvents(before, now)...)
	}
	for i := range all {
		all[i].At = now.At
	}
	return all
}

func nodeEvents(before, now *State) (all []Event) {
	was := map[string]Node{}
	for _, n := range before.Nodes {
		was[n.Addr] = n
	}
	for _, n := range now.Nodes {
		b, known := was[n.Addr]
		what := "node " + short(n.Label)
		e := Event{Kind: "node", Name: n.Addr}
		switch {
		case !known || b.Reason == "":
			continue
		case b.Votes && !n.Votes:
			e.Level, e.Text = "bad", what+" stopped voting: "+n.Said
		case !b.Votes && n.Votes && before.voted[n.Addr]:
			e.Level, e.Text = "good", what+" votes again"
		case !b.Votes && n.Votes: // a new server votes after its quarantine
			e.Level, e.Text = "good", what+" votes"
		case b.Reason != n.Reason:
			e.Level, e.Text = "warn", what+": "+n.Said
		case b.Master != n.Master:
			e.Level, e.Text = "warn", what+" has a new master: "+n.Master
		case b.Version != n.Version && b.Version != "" && n.Version != "":
			e.Level, e.Text = "warn", what+" is now "+n.Version
		default:
			continue
		}
		all = append(all, e)
	}
	switch had, has := before.Point.Voting >= before.Quorum, now.Point.Voting >= now.Quorum; {
	case had && !has:
		all = append(all, Event{Level: "bad", Text: fmt.Sprintf("too few nodes vote: %d of %d", now.Point.Voting, len(now.Nodes))})
	case !had && has:
		all = append(all, Event{Level: "good", Text: fmt.Sprintf("enough nodes vote: %d of %d", now.Point.Voting, len(now.Nodes))})
	}
	return all
}

func jobEvents(before, now *State) (all []Event) {
	was := make(map[string]Job, len(before.jobs))
	for _, j := range before.jobs {
		was[j.Name] = j
	}
	for _, j := range now.jobs {
		b, known := was[j.Name]
		if !known {
			continue
		}
		add := func(level, text string) {
			all = append(all, Event{Kind: "job", Name: j.Name, Level: level, Text: text})
		}
		switch {
		case j.failedAnew(&b):
			text := "job " + j.Name + " failed"
			if j.crashed() {
				text = "job " + j.Name + " crashed"
			}
			if j.Error != "" && bad(job.State(j.State)) { // otherwise the error is that of another attempt
				text += ": " + j.Error
			}
			add("bad", text)
		case j.doneAgain(&b):
			add("good", "job "+j.Name+" is done again")
		}
		switch {
		case j.Overdue > 0 && b.Overdue == 0:
			add("bad", "job "+j.Name+" is overdue")
		case j.Overdue == 0 && b.Overdue > 0 && j.Paused == "" && !j.Retired: // such a job has no tick to be overdue
			add("good", "job "+j.Name+" is no longer overdue")
		}
		switch {
		case j.Paused != "" && b.Paused == "":
			add("warn", "job "+j.Name+" was paused by "+j.Paused)
		case j.Paused == "" && b.Paused != "" && j.resumed > b.resumed: // a removal ends a pause, too
			add("good", "job "+j.Name+" was resumed")
		}
	}
	return all
}

func electionEvents(before, now *State) (all []Event) {
	was := map[string]Election{}
	for _, e := range before.Elections {
		was[e.Name] = e
	}
	for _, e := range now.Elections {
		b, known := was[e.Name]
		switch {
		case !known || e.Error != "" || b.Error != "" || b.Term == e.Term:
		case e.Leader == "":
			all = append(all, Event{Kind: "election", Name: e.Name, Level: "bad", Text: e.Name + " has no leader"})
		default:
			all = append(all, Event{Kind: "election", Name: e.Name, Level: "good", Text: e.Leader + " leads " + e.Name})
		}
	}
	return all
}

// waitEvents has the waits that became long.
func waitEvents(before, now *State) (all []Event) {
	was := map[string]int64{}
	for i := range before.Names {
		if n := &before.Names[i]; n.waitsLong(before.At) {
			was[n.Name] = n.Waiting
		}
	}
	seen := map[string]bool{}
	for i := range now.Names {
		n := &now.Names[i]
		if !n.waitsLong(now.At) || seen[n.Name] {
			continue
		}
		seen[n.Name] = true
		if was[n.Name] > 0 {
			continue
		}
		kind := "lock"
		if n.Slot >= 0 {
			kind = "semaphore"
		}
		text := fmt.Sprintf("%s for %s since %s", printable.Count(n.Waiters, "waiter"), n.Name, Span(now.At-n.Waiting))
		if len(n.Holders) > 0 {
			text += ", held by " + n.Holders[0].Label
		}
		all = append(all, Event{Kind: kind, Name: n.Name, Level: "warn", Text: text})
	}
	return all
}

// short returns the address of a node without its scheme and database, if it is a usual URL.
func short(label string) string {
	_, rest, found := strings.Cut(label, "://")
	if !found {
		return label
	}
	return strings.TrimSuffix(rest, "/0")
}
