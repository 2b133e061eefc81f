package cli

import (
	"context"
	"math/bits"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/node"
)

// These are the phases of bench, in their order.
const (
	phaseOne = iota
	phaseMany
	phaseHandOff
	phases

	noPhase = -1 // before, between and after the phases, when nothing is counted
)

// meter is a node that reports its traffic to a gauge. It does not change the traffic.
type meter struct {
	node.Node
	index int
	gauge *gauge
}

// EvalSHA implements [node.Node]. It sends one pipeline.
func (m *meter) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	r := m.gauge.sent(m.index, operations(calls))
	began := time.Now()
	replies := m.Node.EvalSHA(ctx, calls)
	m.gauge.answered(m.index, r, time.Since(began), calls, replies)
	return replies
}

// operations returns the number of locks and unlocks in calls. One call may have several operations. Each operation
// names a record and the lock itself.
func operations(calls []node.Call) (n int) {
	for _, c := range calls {
		n += max(1, len(c.Keys)/2)
	}
	return n
}

// Eval implements [node.Node]. A node that is down gets only greetings, so Eval also counts failures.
func (m *meter) Eval(ctx context.Context, text string, call node.Call, load ...string) node.Reply {
	r := m.gauge.sent(m.index, 0)
	reply := m.Node.Eval(ctx, text, call, load...)
	m.gauge.failed(r, reply.Err)
	return reply
}

// reading is the measurement of one node in one phase.
type reading struct {
	calls     int             // operations sent
	pipelines int             // pipelines that contained these operations
	failed    int             // calls and greetings without an answer, or with an error
	said      string          // the last error
	trips     []time.Duration // one per pipeline that was answered completely
}

// gauge counts the traffic of all nodes, for all clients of a bench. It is safe for concurrent use.
type gauge struct {
	quorum int

	mu       sync.Mutex
	phase    int
	readings [phases][]reading // by node
	ballots  map[string]ballot // by arguments, which are the same on all nodes for one operation
	decided  int               // operations that a majority of the nodes answered in phaseOne
	among    []int             // by node: decided operations in which the node was among the first to answer
}

// ballot is the set of nodes that have answered one operation.
type ballot struct {
	nodes   uint32 // one bit per node; a node set has up to 31
	decided bool   // a majority has answered; later answers do not count
}

// mostBallots limits the memory of operations that some node never answers.
const mostBallots = 4096

func newGauge(nodes int) *gauge {
	g := &gauge{quorum: nodes/2 + 1, phase: noPhase, ballots: map[string]ballot{}, among: make([]int, nodes)}
	for p := range g.readings {
		g.readings[p] = make([]reading, nodes)
	}
	return g
}

// wrap replaces each node by a meter in front of it.
func (g *gauge) wrap(nodes []node.Node) {
	for i, n := range nodes {
		nodes[i] = &meter{Node: n, index: i, gauge: g}
	}
}

// begin sets the phase of all calls from now on.
func (g *gauge) begin(phase int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.phase = phase
}

// sent counts a pipeline. It returns the reading for the answer, or nil if the answer does not count. An answer belongs
// to the phase in which its call was sent.
func (g *gauge) sent(index, calls int) *reading {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.phase == noPhase {
		return nil
	}
	r := &g.readings[g.phase][index]
	if calls > 0 {
		r.calls += calls
		r.pipelines++
	}
	return r
}

func (g *gauge) answered(index int, r *reading, took time.Duration, calls []node.Call, replies []node.Reply) {
	if r == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	whole := true
	for i, reply := range replies {
		if reply.Err != nil {
			r.fail(reply.Err)
			whole = false
			continue
		}
		// Only the phase with one operation at a time counts. With many at once, the first answer only shows which
		// queue is shorter. Counting would also take time from the measurement.
		if r == &g.readings[phaseOne][index] {
			g.vote(index, calls[i])
		}
	}
	if whole {
		r.trips = append(r.trips, took)
	}
}

func (g *gauge) failed(r *reading, err error) {
	if r == nil || err == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	r.fail(err)
}

// fail counts a failure. The caller holds the gauge's lock.
func (r *reading) fail(err error) {
	r.failed++
	r.said = reason(err)
}

// vote notes that a node has answered an operation. The caller holds g.mu.
func (g *gauge) vote(index int, call node.Call) {
	if len(g.ballots) >= mostBallots {
		// Operations come one at a time, so all except the last one are decided. A late answer cannot decide a cleared
		// operation again, because its missing answers are a minority at most.
		clear(g.ballots)
	}
	key := strings.Join(call.Args, "\x00")
	b := g.ballots[key]
	if b.decided {
		return
	}
	b.nodes |= 1 << index
	if bits.OnesCount32(b.nodes) == g.quorum {
		b.decided = true
		g.decided++
		for i := range g.among {
			g.among[i] += int(b.nodes >> i & 1)
		}
	}
	g.ballots[key] = b
}

// nodeFigures is the result of the gauge for one node.
type nodeFigures struct {
	phases     [phases]reading
	failed     int
	calls      int
	said       string  // the last error
	inMajority float64 // share of the decided operations: see gauge.among
	known      bool    // at least one operation was decided
}

// figures returns a copy of the results, because more answers may arrive.
func (g *gauge) figures() []nodeFigures {
	g.mu.Lock()
	defer g.mu.Unlock()
	list := make([]nodeFigures, len(g.among))
	for i := range list {
		f := &list[i]
		for p := range g.readings {
			r := g.readings[p][i]
			r.trips = append([]time.Duration(nil), r.trips...)
			f.phases[p] = r
			f.calls += r.calls
			f.failed += r.failed
			f.said = or(r.said, f.said)
		}
		if g.decided > 0 {
			f.inMajority, f.known = float64(g.among[i])/float64(g.decided), true
		}
	}
	return list
}
