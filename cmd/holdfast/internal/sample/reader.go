package sample

import (
	"cmp"
	"context"
	"errors"
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

	last      *State
	jobs      jobs
	elections elections
}

// patience is the default of Reader.Patience.
const patience = 10 * time.Second

// Read makes one reading. It never fails: an error is a field of the State.
func (r *Reader) Read(ctx context.Context) *State {
	began := time.Now()
	bounded, cancel := context.WithTimeout(ctx, cmp.Or(r.Patience, patience))
	defer cancel()
	s := &State{Names: []Name{}, Jobs: []Job{}, Elections: []Election{}, fences: map[string]int64{}, queues: map[string]int{}, differ: map[string]difference{}}
	var wait sync.WaitGroup
	var trips map[string]*float64
	wait.Go(func() { trips = r.roundTrips(bounded) })
	list := admin.Nodes(bounded, r.Client)
	wait.Wait()
	s.Quorum = answers.Needed(list)
	for _, a := range list {
		n := nodeOf(a)
		n.RoundTrip = trips[cmp.Or(a.Master, a.Node)]
		if s.Nodes = append(s.Nodes, n); n.Votes {
			s.Point.Voting++
		}
	}
	s.At = time.Now().UnixMilli()
	if now, err := r.Client.Now(bounded); err == nil {
		s.At = now.UnixMilli()
	}
	for item, err := range admin.List(bounded, r.Client, r.Options) {
		if err != nil {
			s.Error = trimmed(err)
			break
		}
		s.add(nameOf(item), r.last)
	}
	s.finish(r.last)
	s.Jobs, s.JobsError = r.jobs.read(bounded, r.Client, s)
	s.Elections = r.elections.read(bounded, r.Client, s)
	s.Names = shorten(s.Names)
	s.Took = ms(time.Since(began))
	r.last = s
	return s
}

// trimmed returns an error in words.
func trimmed(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "the nodes did not answer within the time of one reading"
	}
	return printable.Text(err.Error())
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
	s.Point.At, s.Point.Names = s.At, s.Total
	for _, n := range s.queues {
		s.Point.Waiters += n
	}
	if last == nil || s.At <= last.At {
		return
	}
	changed := 0
	for key, fence := range s.fences {
		if before := last.fences[key]; before != 0 && fence != 0 && fence != before {
			changed++
		}
	}
	s.Point.HandOffs = float64(changed) * 1000 / float64(s.At-last.At)
}

func nodeOf(a verdict.Answer) Node {
	n := Node{Addr: a.Node, Label: a.Node, Master: a.Master, Votes: a.Votes(), Reachable: a.Reachable(), Reason: a.Reason.String(), Said: a.Said(), Version: printable.Text(a.Version)}
	if a.Master != "" {
		n.Label = a.Node[strings.LastIndexByte(a.Node, '/')+1:] + " " + a.Master
	}
	if a.OffsetKnown {
		offset := ms(a.Offset)
		n.Offset = &offset
	}
	return n
}

// roundTrips returns the round trip to each node, by its address. For a shard of a Redis Cluster this is the address of the
// master: two drivers may have two names for a shard.
func (r *Reader) roundTrips(ctx context.Context) map[string]*float64 {
	to := map[string]node.Node{}
	for _, n := range r.Nodes {
		of, is := n.(node.Cluster)
		if !is {
			to[n.Addr()] = n
		} else if t, err := of.Look(ctx); err == nil {
			for _, s := range t.Shards {
				to[s.Master.Addr] = s.Node
			}
		}
	}
	trips := make(map[string]*float64, len(to))
	var wait sync.WaitGroup
	var mu sync.Mutex
	for addr, n := range to {
		wait.Go(func() {
			took := roundTrip(ctx, n)
			mu.Lock()
			defer mu.Unlock()
			trips[addr] = took
		})
	}
	wait.Wait()
	return trips
}

// roundTrip returns the duration of a PING, nil if no answer came. An answer that is an error counts: a user may have
// no right to PING.
func roundTrip(ctx context.Context, n node.Node) *float64 {
	server, ok := n.(node.Commander)
	if !ok {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	began := time.Now()
	var said *node.Error
	if err := server.Do(bounded, "PING").Err; err != nil && !errors.As(err, &said) {
		return nil
	}
	took := ms(time.Since(began))
	return &took
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// byName sorts items by their names.
func byName[T any](items []T, name func(T) string) {
	slices.SortFunc(items, func(a, b T) int { return cmp.Compare(name(a), name(b)) })
}
