package cli

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/node"
)

func TestPercentilesAreSamples(t *testing.T) {
	upTo := func(n int) (samples []time.Duration) {
		for i := n; i > 0; i-- {
			samples = append(samples, time.Duration(i))
		}
		return samples
	}
	for _, c := range []struct {
		samples []time.Duration
		want    summary
	}{
		{nil, summary{}},
		{upTo(1), summary{1, 1, 1, 1, 1}},
		{upTo(2), summary{2, 1, 2, 2, 2}},
		{upTo(10), summary{10, 5, 9, 10, 10}},
		{upTo(100), summary{100, 50, 90, 99, 100}},
		{upTo(101), summary{101, 51, 91, 100, 101}},
		{upTo(1000), summary{1000, 500, 900, 990, 1000}},
		{[]time.Duration{7, 7, 1, 7}, summary{4, 7, 7, 7, 7}},
	} {
		if got := summarize(c.samples); got != c.want {
			t.Errorf("%d samples: %+v, want %+v", len(c.samples), got, c.want)
		}
	}
}

func TestFiguresAreShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0µs", 999 * time.Nanosecond: "0µs", 213400: "213µs", 999999: "999µs", time.Millisecond: "1.00ms",
		4114 * time.Microsecond: "4.11ms", 41140 * time.Microsecond: "41.1ms", 411 * time.Millisecond: "411ms",
		1234 * time.Millisecond: "1.23s", 90 * time.Second: "90.00s",
	} {
		if got := figure(d); got != want {
			t.Errorf("%d ns: %s, want %s", d, got, want)
		}
	}
}

func TestRatesOfNothingAreZero(t *testing.T) {
	if rate(0, time.Second) != 0 || rate(5, 0) != 0 || rate(5, 2*time.Second) != 2.5 {
		t.Error(rate(0, time.Second), rate(5, 0), rate(5, 2*time.Second))
	}
}

// answer makes a node answer one operation in the present phase.
func answer(g *gauge, node1 int, operation string, err error) {
	calls := []node.Call{{SHA: strconv.Itoa(node1), Args: []string{operation}}}
	g.answered(node1, g.sent(node1, 1), time.Millisecond, calls, []node.Reply{{Err: err}})
}

func TestTheFirstToAnswerMakeTheMajority(t *testing.T) {
	g := newGauge(5)
	g.begin(phaseOne)
	for i := range 10 {
		op := strconv.Itoa(i)
		answer(g, 3, op, errors.New("refused")) // the node did not answer
		answer(g, 4, op, nil)
		answer(g, 4, op, nil) // the command was sent again, but it is still one vote
		answer(g, i%2, op, nil)
		answer(g, 2, op, nil)
		answer(g, 1-i%2, op, nil) // this answer is late
		answer(g, 3, op, nil)
	}
	answer(g, 0, "undecided", nil)
	answer(g, 1, "undecided", nil)
	g.begin(phaseMany)
	answer(g, 3, "undecided", nil) // in a phase without this figure
	list := g.figures()
	for i, want := range []float64{.5, .5, 1, 0, 1} {
		if !list[i].known || list[i].inMajority != want {
			t.Errorf("node %d: %+v, want %g", i, list[i].inMajority, want)
		}
	}
	if f := list[3]; f.failed != 10 || f.said != "refused" || f.calls != 21 || len(f.phases[phaseOne].trips) != 10 {
		t.Errorf("node 3: %d failed (%s), %d calls, %d trips", f.failed, f.said, f.calls, len(f.phases[phaseOne].trips))
	}
}

// A node that never answers must not make the bench's memory grow. Late answers of it must not count.
func TestBallotsAreBounded(t *testing.T) {
	g := newGauge(3)
	g.begin(phaseOne)
	const n = 3 * mostBallots
	for i := range n {
		answer(g, 0, strconv.Itoa(i), nil)
		answer(g, 1, strconv.Itoa(i), nil)
		if len(g.ballots) > mostBallots {
			t.Fatalf("%d ballots", len(g.ballots))
		}
	}
	for i := range n {
		answer(g, 2, strconv.Itoa(i), nil)
	}
	list := g.figures()
	// The ballots may be cleared between two answers to one operation. Such an operation is then not decided.
	if g.decided < n-3 || list[0].inMajority != 1 || list[1].inMajority != 1 || list[2].inMajority != 0 {
		t.Errorf("%d of %d decided; %g, %g, %g", g.decided, n, list[0].inMajority, list[1].inMajority, list[2].inMajority)
	}
}

// quiet is a node whose answers the test chooses.
type quiet struct {
	node.Node
	during func()
	err    error
}

func (q *quiet) EvalSHA(_ context.Context, calls []node.Call) []node.Reply {
	if q.during != nil {
		q.during()
	}
	replies := make([]node.Reply, len(calls))
	replies[len(calls)-1].Err = q.err
	return replies
}

func (q *quiet) Eval(context.Context, string, node.Call, ...string) node.Reply {
	return node.Reply{Err: q.err}
}

func TestAMeterCountsWhatGoesThroughIt(t *testing.T) {
	q := &quiet{}
	g := newGauge(1)
	nodes := []node.Node{q}
	g.wrap(nodes)
	m, ctx := nodes[0], t.Context()
	m.EvalSHA(ctx, make([]node.Call, 9)) // before the first phase
	if f := g.figures()[0]; f.calls != 0 || f.known {
		t.Errorf("before: %+v", f)
	}
	g.begin(phaseMany)
	m.EvalSHA(ctx, make([]node.Call, 3))
	q.during = func() { g.begin(phaseHandOff) }
	m.EvalSHA(ctx, make([]node.Call, 2)) // answered in the next phase, but sent before it
	q.during, q.err = nil, &node.Error{Code: node.ReadOnly, Message: "READONLY You can't"}
	m.EvalSHA(ctx, make([]node.Call, 4))
	m.Eval(ctx, "", node.Call{})
	f := g.figures()[0]
	many, handOff := f.phases[phaseMany], f.phases[phaseHandOff]
	if many.calls != 5 || many.pipelines != 2 || len(many.trips) != 2 || many.failed != 0 {
		t.Errorf("many: %+v", many)
	}
	if handOff.calls != 4 || handOff.pipelines != 1 || len(handOff.trips) != 0 || handOff.failed != 2 || handOff.said != "READONLY You can't" {
		t.Errorf("hand-off: %+v", handOff)
	}
	if f.calls != 9 || f.failed != 2 || f.said != "READONLY You can't" {
		t.Errorf("in all: %d calls, %d failed, %q", f.calls, f.failed, f.said)
	}
}

func TestHandOffsAreToWhomStoodInLine(t *testing.T) {
	r := newRelay(3)
	pass := func(from, to int, counts bool) {
		r.noteReleased(from)
		r.noteAcquired(to, time.Now(), counts)
	}
	r.noteAcquired(0, time.Now(), true) // its own turn, so no hand-off from another client
	pass(0, 1, true)                    // it asked too late to be in the queue
	r.noteWaiting(0)
	pass(1, 0, false) // its first turn does not count
	pass(0, 0, true)  // the client got the lock from itself
	r.noteReleased(0)
	r.noteWaiting(1) // after the release
	r.noteAcquired(1, time.Now(), true)
	if len(r.handed) != 0 || r.took != 0 {
		t.Fatalf("%d hand-offs, want none", len(r.handed))
	}
	r.noteWaiting(2)
	pass(1, 2, true)
	r.noteWaiting(0)
	r.noteWaiting(0) // the client asked again
	pass(2, 0, true)
	if len(r.handed) != 2 || r.took < r.handed[0]+r.handed[1] {
		t.Errorf("%v in %s, want two", r.handed, r.took)
	}
	if r.awaited() {
		t.Error("who has the lock stands in line")
	}
}
