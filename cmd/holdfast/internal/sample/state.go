package sample

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/core/printable"
	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/verdict"
)

// State is one reading of the node set. Times are in ms since 1970 by the nodes' clocks, durations in ms. A time of 0
// is unknown, but in Holder.Until it means never. All texts are valid UTF-8 and have no control characters, except line
// breaks in the output of a run. Nobody may change a State after [Reader.Read] has returned it.
type State struct {
	At           int64      `json:"at"`
	Took         float64    `json:"took"`    // time that the reading took
	Early        bool       `json:"early"`   // the reading goes on: only Nodes are new, and Names if NamesAt is At
	Cluster      string     `json:"cluster"` // the name of the node set; "" if it has none
	Pattern      string     `json:"pattern"` // the names that are read; "" means all
	Error        string     `json:"error"`   // why Names are not complete, "" if they are
	Quorum       int        `json:"quorum"`
	Nodes        []Node     `json:"nodes"`    // nodes that do not vote come first
	Names        []Name     `json:"names"`    // at most MostNames; those that need attention come first
	NamesAt      int64      `json:"names_at"` // the last complete list; 0: there was none
	Total        int        `json:"total"`    // number of names, those beyond MostNames included
	Locks        int        `json:"locks"`    // among them: without slots and the locks of elections and jobs
	Semaphores   int        `json:"semaphores"`
	Jobs         []Job      `json:"jobs"`    // at most MostNames; those that need attention come first
	JobsAt       int64      `json:"jobs_at"` // the last complete list; 0: there was none
	JobsTotal    int        `json:"jobs_total"`
	JobsError    string     `json:"jobs_error"`
	Elections    []Election `json:"elections"` // those without a leader come first
	Point        Point      `json:"point"`
	Problems     []Problem  `json:"problems"`      // the most serious ones first; at most mostProblems of a kind
	MoreProblems int        `json:"more_problems"` // the problems that are left out

	names  []Name                // all of them
	jobs   []Job                 // all of them
	fences map[string]int64      // the token of the holder, by Key
	queues map[string]int        // the number of waiters, by semaphore
	differ map[string]difference // the names about which the nodes differ, by Key
	voted  map[string]bool       // the nodes that have voted in this reading or an earlier one, by Addr
	once   sync.Once
	text   []byte
}

// MostNames is the largest number of names, and of jobs, in a State.
const MostNames = 500

// Name is a lock, or a slot of a semaphore.
type Name struct {
	Key     string   `json:"key"` // different for any two items
	Name    string   `json:"name"`
	Slot    int      `json:"slot"`    // -1 for a lock
	Kind    string   `json:"kind"`    // lock, shared, semaphore, election or job
	Known   bool     `json:"known"`   // false: too few nodes answered, so the holder is unknown
	Old     int64    `json:"old"`     // when it was read, if this reading could not read it; 0: in this reading
	Holders []Holder `json:"holders"` // at most ten
	Readers int      `json:"readers"`
	Waiters int      `json:"waiters"`
	Waiting int64    `json:"waiting"` // the time at which the first waiter came
	Differ  string   `json:"differ"`  // answers of nodes, if the nodes do not decide, or differ for longer than a renewal takes
}

// Holder has a lock, or a claim to it.
type Holder struct {
	Label string `json:"label"`
	Note  string `json:"note"` // "offered", "ended" or ""
	Since int64  `json:"since"`
	Until int64  `json:"until"` // 0: never
	Fence int64  `json:"fence"`
}

// Node is one node of the set.
type Node struct {
	Addr      string   `json:"addr"`
	Label     string   `json:"label"`  // for people: Addr, or the name of a shard of a Redis Cluster and Master
	Master    string   `json:"master"` // the address of the present master of a shard; "" for other nodes
	Votes     bool     `json:"votes"`
	Reachable bool     `json:"reachable"`
	Reason    string   `json:"reason"` // a code; "" if the node has not answered yet
	Said      string   `json:"said"`   // the reason in a clause
	Detail    string   `json:"detail"` // the whole answer, if it has more than Said
	Offset    *float64 `json:"offset"` // null if not known
	RoundTrip *float64 `json:"rtt"`    // the round trip of a PING; null if the node did not answer
	Version   string   `json:"version"`

	full bool // its memory is full: it renews and releases leases, but it grants none
}

// Job is a job and its last run.
type Job struct {
	Name     string `json:"name"`
	State    string `json:"state"`
	Tick     int64  `json:"tick"`
	Host     string `json:"host"`
	Started  int64  `json:"started"`
	Took     int64  `json:"took"` // -1 if it has not ended by itself
	Error    string `json:"error"`
	Exit     *int   `json:"exit"`    // the exit code of its command; null if it has none
	Next     int64  `json:"next"`    // 0 if not known
	Overdue  int64  `json:"overdue"` // since when its next tick is overdue; 0: it is not
	Schedule string `json:"schedule"`
	Done     int64  `json:"done"`    // the end of the last run that was done; 0: not known
	Failed   int64  `json:"failed"`  // the end of the last run that failed or crashed; 0: not known
	Hangs    bool   `json:"hangs"`   // it runs for far too long
	Failing  bool   `json:"failing"` // the last run that ended failed or crashed, or an attempt that is being repeated did
	Paused   string `json:"paused"`  // who paused it; "" if it is not paused
	Retired  bool   `json:"retired"` // no process runs it any more
	Asked    int64  `json:"asked"`   // when an operator asked for a run that no machine has begun; 0: nobody did
	Retry    int64  `json:"retry"`   // when the next attempt of a failed run begins; 0: there is none
	Missed   int    `json:"missed"`
	Read     int64  `json:"read"` // when it was read

	run     runID     // the last attempt
	lastBad runID     // the last attempt that failed or crashed; zero: not known
	ended   job.State // how that attempt ended
	resumed int64     // when a pause ended; 0: not known
	unsure  bool      // the first list has it as a run without a lock, and no look has shown yet whether it crashed
}

// Election is an election whose leader published a value, or announced it.
type Election struct {
	Name   string `json:"name"`
	Leader string `json:"leader"` // "" if nobody leads
	Term   int64  `json:"term"`
	Since  int64  `json:"since"`
	Value  string `json:"value"` // at most 500 bytes of it
	Error  string `json:"error"`

	Changes int `json:"changes"` // of the leader, in the last minutes, as far as readings saw them
}

// Point is the sum of one State, for the history.
type Point struct {
	At       int64   `json:"at"`
	Known    bool    `json:"known"` // false: only Voting is known
	Names    int     `json:"names"`
	Holders  int     `json:"holders"`
	Waiters  int     `json:"waiters"`
	HandOffs float64 `json:"handoffs"` // changes of a holder per second, as far as two readings show them
	Voting   int     `json:"voting"`
}

// JSON returns the State as JSON in one line. It encodes the State once, however many callers there are.
func (s *State) JSON() []byte {
	s.once.Do(func() { s.text, _ = json.Marshal(s) }) // its types have no value that cannot be encoded
	return s.text
}

// nameOf returns an item of a list.
func nameOf(s *admin.NameStatus) Name {
	n := Name{
		Key: strconv.QuoteToASCII(s.Name), Name: printable.Quoted(s.Name), Slot: s.Slot, Kind: string(s.Kind), Known: s.Known,
		Readers: s.Readers, Waiters: s.Waiters, Holders: []Holder{},
	}
	if s.Slot >= 0 {
		n.Key += " " + strconv.Itoa(s.Slot)
	}
	if !s.WaitingSince.IsZero() {
		n.Waiting = s.WaitingSince.UnixMilli()
	}
	if s.Known && s.Held {
		for _, h := range s.Holders {
			n.Holders = append(n.Holders, holderOf(h))
		}
	}
	if s.Differ || !s.Known {
		n.Differ = dissent(s)
	}
	return n
}

// dissent returns the answers that differ from the answer of most nodes. If no answer has a majority, it returns all
// answers.
func dissent(s *admin.NameStatus) string {
	count, most := map[string]int{}, ""
	said := func(a verdict.Answer) string { return fmt.Sprint(a.Reason, a.Owner, a.Fence) }
	for _, a := range s.Nodes {
		if count[said(a)]++; count[said(a)] > count[most] {
			most = said(a)
		}
	}
	var others []string
	for _, a := range s.Nodes {
		if !s.Known || said(a) != most {
			others = append(others, answerOf(a))
		}
	}
	return strings.Join(others, "; ")
}

// foreign is the holder of a foreign key. A reading hides the key's value: in other libraries it releases the lock.
const foreign = "a foreign key"

// answerOf returns the answer of a node for people.
func answerOf(a verdict.Answer) string {
	place := short(printable.Text(a.Node))
	if a.Master != "" {
		place += " (" + printable.Text(a.Master) + ")"
	}
	if a.Foreign {
		return place + ": held by " + foreign
	}
	return place + ": " + a.Said()
}

// holderOf returns an item of a list of holders.
func holderOf(h verdict.Holder) Holder {
	v := Holder{Label: h.String(), Fence: h.Fence}
	if h.Foreign {
		v.Label = foreign
	}
	switch {
	case h.Offered:
		v.Note = "offered"
	case h.Left:
		v.Note = "ended"
	}
	if !h.Since.IsZero() {
		v.Since = h.Since.UnixMilli()
	}
	if !h.Until.IsZero() {
		v.Until = h.Until.UnixMilli()
	}
	return v
}

// token returns the highest token of the holders, 0 if nobody has the name.
func (n *Name) token() (most int64) {
	for _, h := range n.Holders {
		most = max(most, h.Fence)
	}
	return most
}

// holders returns the number of holders. If there are many readers, the list contains only some of them.
func (n *Name) holders() int { return max(len(n.Holders), n.Readers) }
