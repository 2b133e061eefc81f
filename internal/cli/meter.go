package cli

import (
	"context"
	"math/bits"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/node"
)

// The phases of bench, in their order.
const (
	phaseOne = iota
	phaseMany
	phaseHandOff
	phases

	noPhase = -1 // before, between and after: nothing is counted
)

// meter is a node that tells a gauge what goes through it, and changes nothing of it.
type meter struct {
	node.Node
	index int
	gauge *gauge
}

// EvalSHA implements [node.Node]: one pipeline.
func (m *meter) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	r := m.gauge.sent(m.index, operations(calls))
	began := time.Now()
	replies := m.Node.EvalSHA(ctx, calls)
	m.gauge.answered(m.index, r, time.Since(began), calls, replies)
	return replies
}

// operations is how many locks and unlocks are in calls: one carries several, each of
// which names a record and the lock itself.
func operations(calls []node.Call) (n int) {
	for _, c := range calls {
		n += max(1, len(c.Keys)/2)
	}
	return n
}

// Eval implements [node.Node]. A node that is down gets nothing but greetings, so it is
// here that it fails.
func (m *meter) Eval(ctx context.Context, text string, call node.Call, load ...string) node.Reply {
	r := m.gauge.sent(m.index, 0)
	reply := m.Node.Eval(ctx, text, call, load...)
	m.gauge.failed(r, reply.Err)
	return reply
}

// reading is what was measured of one node in one phase.
type reading struct {
	calls     int             // operations sent
	pipelines int             // they were sent in
	failed    int             // calls and greetings without an answer, or with an error
	said      string          // the last error
	trips     []time.Duration // one per pipeline that was answered whole
}

// gauge reads all nodes, over all clients of a bench. It is safe for concurrent use.
type gauge struct {
	quorum int

	mu       sync.Mutex
	phase    int
	readings [phases][]reading // by node
	ballots  map[string]ballot // by arguments, which one operation has in common on all nodes
	decided  int               // operations that a majority of the nodes answered in phaseOne
	among    []int             // by node: in how many of them it was among the first to answer
}

// ballot is who has answered an operation.
type ballot struct {
	nodes   uint32 // a bit for each; a node set has up to 31
	decided bool   // a majority has: what comes now comes too late to count
}

// mostBallots bounds the memory that operations take which some node never answers.
const mostBallots = 4096

func newGauge(nodes int) *gauge {
	g := &gauge{quorum: nodes/2 + 1, phase: noPhase, ballots: map[string]ballot{}, among: make([]int, nodes)}
	for p := range g.readings {
		g.readings[p] = make([]reading, nodes)
	}
	return g
}

// wrap puts a meter before each node, in place.
func (g *gauge) wrap(nodes []node.Node) {
	for i, n := range nodes {
		nodes[i] = &meter{Node: n, index: i, gauge: g}
	}
}

// begin says to which phase belongs what is sent from now on.
func (g *gauge) begin(phase int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.phase = phase
}

// sent notes a pipeline, and returns where its answer is to be noted; nil: nowhere. An
// answer belongs to the phase in which it was asked for.
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
		// One at a time only: among many, who is first says more about whose queue is
		// shorter, and looking would cost what is being measured.
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

// fail is called with the gauge's lock held.
func (r *reading) fail(err error) {
	r.failed++
	r.said = reason(err)
}

// vote notes that a node has answered an operation. g.mu is held.
func (g *gauge) vote(index int, call node.Call) {
	if len(g.ballots) >= mostBallots {
		// Operations come one at a time: but for the last, all are decided. Those that a
		// node answers yet lack more than a minority now, and cannot be decided twice.
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

// nodeFigures is what the gauge says of one node in the end.
type nodeFigures struct {
	phases     [phases]reading
	failed     int
	calls      int
	said       string  // the last error
	inMajority float64 // the part of the decided operations; see gauge.among
	known      bool    // there were some
}

// figures is a copy: answers may still be coming in.
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
