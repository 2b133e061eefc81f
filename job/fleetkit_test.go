package job_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/environment"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/node"
)

const (
	window = 200 * time.Millisecond
	ttl    = 2 * time.Second
)

// fleet is a node set and processes that run a job, in virtual time. Every time of the test is one of the nodes.
type fleet struct {
	t      *testing.T
	models []*nodemodel.Node
	ahead  []*atomic.Int64 // by node: how far its clock is wrong
	set    nodescript.Config
	ends   sync.WaitGroup

	storeless atomic.Bool  // no store reaches a node
	loadless  atomic.Bool  // no load reaches a node
	slow      atomic.Bool  // a release takes 800 ms
	outage    atomic.Bool  // no message reaches a node
	stores    atomic.Int64 // the stores that reached a node
	deadly    atomic.Bool  // a store takes longer than the lease, and then its process reaches no node

	mu     sync.Mutex
	claims map[time.Time]time.Time // by tick: when a node stored it as taken

	death atomic.Pointer[death] // of the next process that comes to its point; nil: no process dies there
}

// death is the death of a process at a point between its lock and its run.
type death struct {
	point string    // "load": before it loads the outcome; "claim": before it stores the tick as taken; "claimed": after that
	at    time.Time // set when the process has died
	done  chan struct{}
}

// dies makes the next process that comes to the point die there. It returns the death, whose done is closed then.
func (f *fleet) dies(point string) *death {
	d := &death{point: point, done: make(chan struct{})}
	f.death.Store(d)
	return d
}

// claimOf returns the tick that a call stores as taken, or a zero Time.
func claimOf(calls []node.Call) time.Time {
	for _, c := range calls {
		var o job.Outcome
		if _, text, is := strings.Cut(c.Args[len(c.Args)-1], "{"); is && json.Unmarshal([]byte("{"+text), &o) == nil && o.State == job.Running {
			return o.Tick
		}
	}
	return time.Time{}
}

// takes notes that a tick was taken.
func (f *fleet) takes(tick time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.claims == nil {
		f.claims = map[time.Time]time.Time{}
	}
	if f.claims[tick].IsZero() {
		f.claims[tick] = f.now()
	}
}

// takenBy reports whether a node had stored the tick as taken at that time.
func (f *fleet) takenBy(tick, at time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	taken := f.claims[tick]
	return !taken.IsZero() && !taken.After(at)
}

// kill ends the process of w as SIGKILL does, if the death of w.f is at this point and no other process died there.
func (w *wire) kill(point string) {
	if d := w.f.death.Load(); d != nil && d.point == point && w.f.death.CompareAndSwap(d, nil) {
		w.dead.Store(true)
		d.at = w.f.now()
		close(d.done)
	}
}

func newFleet(t *testing.T, n int) *fleet {
	f := &fleet{t: t, set: nodescript.Config{N: n, MaxTTL: ttl, Window: window, Cluster: "jobs"}}
	for i := range n {
		ahead := &atomic.Int64{}
		now := func() int64 { return nodemodel.Now() + time.Duration(ahead.Load()).Microseconds() }
		m := nodemodel.Master(fmt.Sprint("run", i), now, f.set)
		m.Serve()
		f.models, f.ahead = append(f.models, m), append(f.ahead, ahead)
	}
	return f
}

// now is the time of the nodes' right clocks.
func (f *fleet) now() time.Time { return time.UnixMicro(nodemodel.Now()).UTC() }

// wire is a process's view of a node.
type wire struct {
	*nodemodel.Node
	f    *fleet
	dead *atomic.Bool // of the process
	base time.Duration
}

var errDead = errors.New("the process is dead")

func (w *wire) Environment() environment.Sources {
	mono := clock.Monotonic()
	return environment.Sources{Clock: func() clock.Instant { return mono().Add(w.base) }, Random: rand.Uint64}
}

func (w *wire) Close() {}

func (w *wire) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	stores := slices.ContainsFunc(calls, func(c node.Call) bool {
		return len(c.Args) == 5 && strings.HasSuffix(c.Keys[len(c.Keys)-1], ":holdfast:value")
	})
	loads := slices.ContainsFunc(calls, func(c node.Call) bool {
		return len(c.Args) == 3 && strings.HasSuffix(c.Keys[len(c.Keys)-1], ":holdfast:value")
	})
	if len(calls[0].Args) == 4 && calls[0].Args[3] == "0" && w.f.slow.Load() {
		time.Sleep(800 * time.Millisecond)
	}
	if stores && w.f.deadly.Load() {
		w.dead.Store(true)
		time.Sleep(2 * ttl)
	}
	switch {
	case loads:
		w.kill("load")
	case stores && !claimOf(calls).IsZero():
		w.kill("claim")
	}
	if time.Sleep(time.Millisecond); !w.dead.Load() && !w.f.outage.Load() && !(stores && w.f.storeless.Load()) && !(loads && w.f.loadless.Load()) {
		if stores {
			w.f.stores.Add(1)
		}
		replies := w.Node.EvalSHA(ctx, calls)
		if tick := claimOf(calls); stores && !tick.IsZero() {
			if w.f.takes(tick); w.f.death.Load() != nil {
				time.Sleep(5 * time.Millisecond) // until all nodes have it
				w.kill("claimed")
			}
		}
		return replies
	}
	return nodemodel.Failed(calls, node.NotSent(errDead))
}

func (w *wire) Eval(ctx context.Context, text string, c node.Call, load ...string) node.Reply {
	if time.Sleep(time.Millisecond); w.dead.Load() {
		return node.Reply{Err: node.NotSent(errDead)}
	}
	return w.Node.Eval(ctx, text, c, load...)
}

func (w *wire) Listen(ctx context.Context, channel string, on func(string)) error {
	if w.dead.Load() {
		return errDead
	}
	return w.Node.Listen(ctx, channel, on)
}

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

func (f *fleet) client(dead *atomic.Bool) *holdfast.Client {
	var nodes []node.Node
	base := time.Duration(rand.Int64N(int64(24 * time.Hour))) // the process's own clock is wrong, which nobody notices
	for _, m := range f.models {
		nodes = append(nodes, &wire{Node: m, f: f, dead: dead, base: base})
	}
	c, err := holdfast.New(holdfast.Config{Nodes: nodes, MaxTTL: ttl, Window: window, Cluster: f.set.Cluster, Logger: quiet, NodeTimeout: time.Second})
	if err != nil {
		f.t.Fatal(err)
	}
	return c
}

// process is one process that runs the job.
type process struct {
	dead atomic.Bool
	stop context.CancelFunc
}

// kill ends the process as SIGKILL does: nothing that it does afterwards counts.
func (p *process) kill() {
	p.dead.Store(true)
	p.stop()
}

func (f *fleet) start(spec job.Spec, fn func(p *process, ctx context.Context, tick job.Tick) error) *process {
	ctx, cancel := context.WithCancel(context.Background())
	p := &process{stop: cancel}
	c := f.client(&p.dead)
	if spec.Logger == nil {
		spec.Logger = quiet
	}
	f.ends.Go(func() {
		defer c.Close()
		err := job.Run(ctx, c, spec, func(ctx context.Context, tick job.Tick) error { return fn(p, ctx, tick) })
		if !errors.Is(err, context.Canceled) && (err != nil || spec.Drain == nil) {
			f.t.Errorf("Run: %v", err)
		}
	})
	return p
}

// ledger counts the runs of each tick.
type ledger struct {
	mu            sync.Mutex
	began, done   map[time.Time]int
	order         []time.Time
	runs, retries int
}

func newLedger() *ledger { return &ledger{began: map[time.Time]int{}, done: map[time.Time]int{}} }

func (l *ledger) begins(tick job.Tick) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.began[tick.Time]++
	l.order = append(l.order, tick.Time)
	if l.runs++; tick.Attempt > 1 {
		l.retries++
	}
}

func (l *ledger) ends(tick job.Tick) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done[tick.Time]++
}

// records keeps the messages of a log.
type records struct {
	mu  sync.Mutex
	all []string
}

func (r *records) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, string(b))
	return len(b), nil
}

func (r *records) logger() *slog.Logger { return slog.New(slog.NewTextHandler(r, nil)) }

func (r *records) count(text string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, line := range r.all {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}
