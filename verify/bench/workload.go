package main

import (
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/printable"
)

// workload describes the work of each system in a slice.
type workload struct {
	name       string
	title      string
	kind       string // the subcommand
	state      state
	nodes      int
	processes  int // the number of processes that take part; a team that several workloads share may have more
	goroutines int // per process
	hot        bool
	hold       time.Duration
	warm, long time.Duration // of a slice
	tokens     bool          // only systems with tokens take part
	once       bool          // patience: it takes a minute, so there is one repetition unless -reps is given
}

func (w workload) takes(s *system) bool {
	return !(s.onlyOne && w.nodes > 1) && (s.hot || !w.hot) && (s.tokens || !w.tokens)
}

// in returns w in a state of the machine.
func (w workload) in(s state) workload {
	w.state, w.name, w.title = s, w.name+s.suffix(), w.title+s.title()
	return w
}

// slice returns the next slice of w for a team.
func (w workload) slice(t *team) slice {
	s := slice{
		Processes: w.processes, Goroutines: w.goroutines, Record: w.tokens && !w.once, Once: w.once, Hot: w.hot, Hold: w.hold, Warm: w.warm, For: w.long,
		Name: fmt.Sprintf("bench/%s/%s", t.system.name, w.name),
	}
	if w.hot {
		// Each slice has its own name. With some rivals a wait that is cancelled at the end of a slice leaves a lock
		// until its TTL ends. The next slice must not meet this lock.
		t.slices++
		s.Name += fmt.Sprintf("/%d", t.slices)
	}
	return s
}

// pace has the length of slices and the number of repetitions.
type pace struct {
	repetitions               int
	warm, distinct, hot, fair time.Duration
	ladder, crowd             time.Duration // the workloads of hand-offs: with few processes, and with hundreds
}

var (
	full  = pace{repetitions: 9, warm: 250 * time.Millisecond, distinct: 750 * time.Millisecond, hot: 2500 * time.Millisecond, fair: 3500 * time.Millisecond, ladder: time.Second, crowd: 3 * time.Second}
	quick = pace{repetitions: 3, warm: 100 * time.Millisecond, distinct: 300 * time.Millisecond, hot: time.Second, fair: 1500 * time.Millisecond, ladder: 600 * time.Millisecond, crowd: 2 * time.Second}
)

// workloads returns all workloads in the order of their runs. Workloads that share processes are neighbours.
func workloads(p pace) (all []workload) {
	for _, nodes := range []int{1, 5} {
		for _, g := range []int{1, 64, 256} {
			all = append(all, workload{
				kind: "distinct", name: fmt.Sprintf("distinct-%dn-%dg", nodes, g),
				title: fmt.Sprintf("Distinct names, %s, %s", printable.Count(nodes, "node"), printable.Count(g, "goroutine")),
				nodes: nodes, processes: 1, goroutines: g, warm: p.warm, long: p.distinct,
			})
		}
	}
	for _, nodes := range []int{1, 5} {
		for _, hold := range []time.Duration{0, time.Millisecond} {
			all = append(all, workload{
				kind: "hot", name: fmt.Sprintf("hot-%dn-%v", nodes, hold),
				title: fmt.Sprintf("One hot name, 4 processes × 8 goroutines, %s, held for %v", printable.Count(nodes, "node"), hold),
				nodes: nodes, processes: 4, goroutines: 8, hot: true, hold: hold, warm: p.warm, long: p.hot,
			})
		}
	}
	all = append(all, workload{
		kind: "sixteen", name: "sixteen-5n", title: "One hot name, 16 processes × 1 goroutine, 5 nodes, held for 0s",
		nodes: 5, processes: 16, goroutines: 1, hot: true, warm: p.warm, long: p.fair,
	}, workload{
		kind: "loopers", name: "loopers-5n", title: "16 looping clients of one process each, 5 nodes, held for 1ms",
		nodes: 5, processes: 16, goroutines: 1, hot: true, hold: time.Millisecond, warm: 0, long: p.fair,
	})
	for _, nodes := range []int{1, 5} {
		all = append(append(all, ladder(p, nodes)...), patience(nodes))
	}
	for _, nodes := range []int{1, 5} {
		all = append(all, shared(p, nodes)...)
	}
	return all
}

const (
	// handoffHold is so long that the next waiter is in the queue before the release.
	handoffHold  = 2 * time.Millisecond
	patienceHold = time.Minute
	patient      = 200 // waiters
)

// waiters lists the numbers of waiters beside the holder, each in its own process.
var waiters = []int{2, 20, 200}

// ladder returns the workloads of the kind handoffs. In some of them the processes have one goroutine each. In the
// others each process has several goroutines, which pass the lock on to each other.
func ladder(p pace, nodes int) (all []workload) {
	var crowds []workload
	for _, n := range waiters {
		w := workload{
			kind: "handoffs", name: fmt.Sprintf("handoffs-%dn-%dw", nodes, n), title: fmt.Sprintf("%d processes wait", n),
			nodes: nodes, processes: n + 1, goroutines: 1, hot: true, hold: handoffHold, warm: p.warm, long: p.ladder, tokens: true,
		}
		if n <= many {
			all = append(all, w)
			continue
		}
		// These times are so long that each process gets the lock, and that waiters ask a second time.
		w.warm, w.long = 1500*time.Millisecond, p.crowd
		crowds = append(crowds, w)
	}
	for _, hold := range []time.Duration{0, handoffHold} {
		name := "0s"
		if hold > 0 {
			name = "held" // -hold sets the time
		}
		all = append(all, workload{
			kind: "handoffs", name: fmt.Sprintf("passes-%dn-%s", nodes, name), title: "4 processes × 8 goroutines",
			nodes: nodes, processes: 4, goroutines: 8, hot: true, hold: hold, warm: p.warm, long: p.ladder, tokens: true,
		})
	}
	return append(all, crowds...) // the last ones, beside patience, which has the same number of processes
}

func patience(nodes int) workload {
	return workload{
		kind: "patience", name: fmt.Sprintf("patience-%dn", nodes), title: fmt.Sprintf("%d processes wait for one holder, %s", patient, printable.Count(nodes, "node")),
		nodes: nodes, processes: patient + 1, goroutines: 1, hot: true, hold: patienceHold, tokens: true, once: true,
	}
}

// headline returns the heading under which the report puts w. Workloads of one set have the same heading.
func (w workload) headline() string {
	if w.kind == "handoffs" {
		return "Hand-offs, " + printable.Count(w.nodes, "node") + w.state.title()
	}
	return w.title
}
