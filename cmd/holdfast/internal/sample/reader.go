package sample

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/answers"
	"github.com/holdfast-go/holdfast/internal/core/printable"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/verdict"
)

// Reader makes readings. Only one goroutine may use it at a time.
type Reader struct {
	Client *holdfast.Client

	// Nodes are separate connections to the client's nodes, in the same order. The Reader measures round trips with
	// them, so these measurements do not wait for the client's calls. Nodes may be empty.
	Nodes []node.Node

	// Options select the names.
	Options admin.ListOptions

	// Patience limits one reading, so that hung nodes cannot stop the view. Defaults to 10 s.
	Patience time.Duration

	// Cluster is the name of the node set, for the State. It may be empty.
	Cluster string

	// Early receives States of a reading that goes on. Before the first answer there is one with the addresses of the
	// nodes. In the first reading, and in those that take long, one follows with the nodes' answers, and one with the
	// names. It may be nil.
	Early func(*State)

	last      *State
	jobs      jobs
	elections elections
}

// patience is the default of Reader.Patience.
const patience = 10 * time.Second

// longReading is the time after which the nodes' answers are shown before the rest of a reading.
const longReading = 500 * time.Millisecond

// Close ends the list of jobs that goes on beside the readings, and waits for its end. Read must not be called after it.
func (r *Reader) Close() { r.jobs.close() }

// Read makes one reading. It never fails: an error is a field of the State. What it cannot read comes from earlier
// readings, and says so.
func (r *Reader) Read(ctx context.Context) *State {
	began := time.Now()
	bounded, cancel := context.WithTimeout(ctx, cmp.Or(r.Patience, patience))
	defer cancel()
	if r.last == nil && r.Early != nil {
		r.Early(r.waiting())
	}
	s := r.nodes(bounded)
	if r.Early != nil && (r.last == nil || time.Since(began) > longReading) {
		r.Early(r.early(s))
	}
	r.names(bounded, s)
	s.finish(r.last)
	if r.Early != nil && s.Error == "" && (r.last == nil || time.Since(began) > longReading) {
		r.Early(r.named(s))
	}
	var all []Job
	all, s.JobsAt, s.JobsError = r.jobs.read(bounded, r.Client, s)
	s.SetJobs(all)
	s.Elections = r.elections.read(bounded, r.Client, s)
	s.SetNames(s.Names)
	s.problems()
	s.Took = ms(time.Since(began))
	r.last = s
	return s
}

// blank returns a State without any readings.
func (r *Reader) blank() *State {
	return &State{
		At: time.Now().UnixMilli(), Cluster: printable.Text(r.Cluster), Pattern: printable.Text(r.Options.Pattern), Nodes: []Node{}, Names: []Name{}, Jobs: []Job{},
		Elections: []Election{}, fences: map[string]int64{}, queues: map[string]int{}, differ: map[string]difference{}, voted: map[string]bool{},
	}
}

// nodes asks the nodes whether they vote.
func (r *Reader) nodes(ctx context.Context) *State {
	s := r.blank()
	var wait sync.WaitGroup
	var trips map[string]*float64
	wait.Go(func() { trips = r.roundTrips(ctx) })
	list := admin.Nodes(ctx, r.Client)
	wait.Wait()
	if r.last != nil {
		maps.Copy(s.voted, r.last.voted)
	}
	s.Quorum = answers.Needed(list)
	for _, a := range list {
		n := nodeOf(a)
		if n.Reachable {
			n.RoundTrip = trips[cmp.Or(a.Master, a.Node)]
		}
		if s.Nodes = append(s.Nodes, n); n.Votes {
			s.voted[n.Addr] = true
			s.Point.Voting++
		}
	}
	s.othersAnswer()
	slices.SortStableFunc(s.Nodes, orderNodes)
	bounded, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if now, err := r.Client.Now(bounded); err == nil {
		s.At = now.UnixMilli()
	}
	s.Point.At = s.At
	return s
}

// names lists the names. Those that it cannot read are those of the last reading.
func (r *Reader) names(ctx context.Context, s *State) {
	reachable := 0
	for _, n := range s.Nodes {
		if n.Reachable {
			reachable++
		}
	}
	if !s.sharded() && reachable < s.Quorum {
		s.Error = tooFew
	} else {
		for item, err := range admin.List(ctx, r.Client, r.Options) {
			if err != nil {
				s.Error = trimmed(err)
				break
			}
			s.add(nameOf(item), r.last)
		}
	}
	if s.Error == "" {
		s.NamesAt, s.Point.Known = s.At, true
		return
	}
	if r.last == nil {
		return
	}
	s.NamesAt = r.last.NamesAt
	for _, n := range old(r.last) {
		if _, known := s.fences[n.Key]; !known {
			s.Names = append(s.Names, n)
		}
	}
	s.Total = max(len(s.Names), r.last.Total)
	s.fences, s.differ = r.last.fences, r.last.differ // so that the next reading compares with what was known
}

// add adds an item and counts it. last is the reading before, or nil.
func (s *State) add(n Name, last *State) {
	if n.Differ != "" && n.Known && !s.lasting(&n, last) {
		n.Differ = ""
	}
	s.Names = append(s.Names, n)
	s.fences[n.Key] = n.token()
	s.Total++
	s.Point.Holders += n.holders()
	// All slots of a semaphore have the same waiters. The answers about them come one after the other.
	if n.Slot < 0 {
		s.Point.Waiters += n.Waiters
	} else {
		s.queues[n.Name] = max(s.queues[n.Name], n.Waiters)
	}
}

// difference is a name about which the nodes differ.
type difference struct {
	token int64 // of the holder
	since int64
}

// mostUsual is how long nodes may differ about one holder, in ms. A node may miss a grant, and gets it by a renewal.
const mostUsual = 5000

// lasting notes that the nodes differ about n, and reports whether they have done so for longer than usual.
func (s *State) lasting(n *Name, last *State) bool {
	d := difference{n.token(), s.At}
	if last != nil {
		if before, ok := last.differ[n.Key]; ok && before.token == d.token {
			d.since = before.since
		}
	}
	s.differ[n.Key] = d
	return s.At-d.since > mostUsual
}

// finish computes the point of the history. last is the reading before, or nil.
func (s *State) finish(last *State) {
	s.Point.Names = s.Total
	for _, n := range s.queues {
		s.Point.Waiters += n
	}
	if last == nil || s.Error != "" || last.NamesAt == 0 || s.At <= last.NamesAt {
		return
	}
	changed := 0
	for key, fence := range s.fences {
		if before := last.fences[key]; before != 0 && fence != 0 && fence != before {
			changed++
		}
	}
	s.Point.HandOffs = float64(changed) * 1000 / float64(s.At-last.NamesAt)
}

func nodeOf(a verdict.Answer) Node {
	a.Node, a.Master = printable.Text(a.Node), printable.Text(a.Master) // a server of a Redis Cluster announces any host
	n := Node{Addr: a.Node, Label: a.Node, Master: a.Master, Votes: a.Votes(), Reachable: a.Reachable(), Reason: a.Reason.String()}
	n.Said, n.Detail = clause(a)
	if a.Master != "" {
		n.Label = a.Node[strings.LastIndexByte(a.Node, '/')+1:] + " " + a.Master
	}
	if !n.Reachable { // what a node said before its end is not true any more
		return n
	}
	n.Version, n.full = printable.Text(a.Version), a.Reason == verdict.ReasonUnwritable && a.Cause == verdict.CauseMemory
	if a.OffsetKnown {
		offset := ms(a.Offset)
		n.Offset = &offset
	}
	return n
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
