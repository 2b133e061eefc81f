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

	noPhase = -1 // before, between and after the phases; nothing is counted then
)

// meter passes all calls on to a node, and reports them to a gauge.
type meter struct {
	node.Node
	index int
	gauge *gauge
}

// EvalSHA implements [node.Node]. Each call of EvalSHA is one pipeline.
func (m *meter) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	r := m.gauge.sent(m.index, operations(calls))
	began := time.Now()
	replies := m.Node.EvalSHA(ctx, calls)
	m.gauge.answered(m.index, r, time.Since(began), calls, replies)
	return replies
}

// operations returns the number of locks and unlocks in calls. One call may contain several. Each of them has two
// keys: a record and the plain key.
func operations(calls []node.Call) (n int) {
	for _, c := range calls {
		n += max(1, len(c.Keys)/2)
	}
	return n
}

// Eval implements [node.Node]. It counts failures, because a node that is down only gets greetings, and never EvalSHA.
func (m *meter) Eval(ctx context.Context, text string, call node.Call, load ...string) node.Reply {
	r := m.gauge.sent(m.index, 0)
	reply := m.Node.Eval(ctx, text, call, load...)
	m.gauge.failed(r, reply.Err)
	return reply
}

// Identify implements [node.Identified]. Without it, a client would not make the proofs of addresses that it makes in
// production. The result is empty if the node makes none.
func (m *meter) Identify(ctx context.Context) (node.Identity, error) {
	if n, is := m.Node.(node.Identified); is {
		return n.Identify(ctx)
	}
	return node.Identity{}, nil
}

// Met implements [node.Identified].
func (m *meter) Met() node.Identity {
	if n, is := m.Node.(node.Identified); is {
		return n.Met()
	}
	return node.Identity{}
}

// Local implements [node.Local].
func (m *meter) Local(ctx context.Context) string {
	if n, is := m.Node.(node.Local); is {
		return n.Local(ctx)
	}
	return ""
}

// reading contains the measured values of one node in one phase.
type reading struct {
	calls     int             // the number of operations that were sent
	pipelines int             // the number of pipelines that contained these operations
	failed    int             // the number of calls and greetings that failed or got no answer
	said      string          // the last error
	trips     []time.Duration // the round trips of the pipelines that were answered completely
}

// gauge counts the traffic of all clients of a bench to all nodes. It is safe for concurrent use.
type gauge struct {
	quorum int

	mu       sync.Mutex
	phase    int
	readings [phases][]reading // by node
	ballots  map[string]ballot // by the arguments of an operation, which are the same on all nodes
	decided  int               // the number of operations in phaseOne that a majority has answered
	among    []int             // by node: how many of these operations the node was among the first majority for
}

// ballot says which nodes have answered one operation.
type ballot struct {
	nodes   uint32 // one bit per node; a node set has up to 31
	decided bool   // a majority has answered, so later answers do not count
}

// mostBallots limits the memory for operations that some node never answers.
const mostBallots = 4096

func newGauge(nodes int) *gauge {
	g := &gauge{quorum: nodes/2 + 1, phase: noPhase, ballots: map[string]ballot{}, among: make([]int, nodes)}
	for p := range g.readings {
		g.readings[p] = make([]reading, nodes)
	}
	return g
}

// wrap puts a meter in front of each node.
func (g *gauge) wrap(nodes []node.Node) {
	for i, n := range nodes {
		nodes[i] = &meter{Node: n, index: i, gauge: g}
	}
}

// begin starts a phase. Calls that are sent from now on count for it.
func (g *gauge) begin(phase int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.phase = phase
}

// sent counts a pipeline and returns the reading for its answer. An answer belongs to the phase in which its call was
// sent. sent returns nil if that phase does not count.
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
		// Only the phase with one operation at a time counts. With many operations at once, the order of the answers
		// would only show which node has the shorter queue. To count them would also slow the measurement down.
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
		// Operations come one at a time, so a majority has answered all except the last one. If late answers come for
		// an operation that is cleared here, they are a minority. So they cannot decide that operation a second time.
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

// nodeFigures contains a gauge's measured values of one node.
type nodeFigures struct {
	phases     [phases]reading
	failed     int
	calls      int
	said       string  // the last error
	inMajority float64 // the part of the decided operations in which the node was among the first majority
	known      bool    // a majority has answered at least one operation
}

// figures returns a copy of the results, because answers may still come.
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
