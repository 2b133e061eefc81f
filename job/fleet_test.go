package job_test

import (
	"context"
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
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/check/nodemodel"
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/environment"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
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

	storeless atomic.Bool // no store reaches a node
	loadless  atomic.Bool // no load reaches a node
}

// epoch is the time of the nodes' right clocks when the bubble began.
const epoch = 30 * 365 * 24 * time.Hour

func newFleet(t *testing.T, n int) *fleet {
	f := &fleet{t: t, set: nodescript.Config{N: n, MaxTTL: ttl, Window: window, Cluster: "jobs"}}
	for i := range n {
		ahead := &atomic.Int64{}
		now := func() int64 { return time.Now().Add(epoch + time.Duration(ahead.Load())).UnixMicro() }
		run := fmt.Sprint("run", i)
		m := nodemodel.New(fmt.Sprint("node", i), now, nodemodel.Info{Run: run, Role: "master", Policy: "noeviction", Version: "model"}, f.set)
		m.Serve()
		f.models, f.ahead = append(f.models, m), append(f.ahead, ahead)
	}
	return f
}

func (f *fleet) now() time.Time { return time.Now().Add(epoch).UTC() }

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
	if time.Sleep(time.Millisecond); !w.dead.Load() && !(stores && w.f.storeless.Load()) && !(loads && w.f.loadless.Load()) {
		return w.Node.EvalSHA(ctx, calls)
	}
	replies := make([]node.Reply, len(calls))
	for i := range replies {
		replies[i].Err = node.NotSent(errDead)
	}
	return replies
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
		if !errors.Is(err, context.Canceled) {
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

// A fleet of twenty runs a short job at every second exactly once, although one clock of three is wrong.
func TestEveryTickRunsOnce(t *testing.T) {
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, l := newFleet(t, n), newLedger()
				if n > 1 {
					f.ahead[1].Store(int64(50 * time.Millisecond))
					f.ahead[2].Store(int64(2 * time.Hour))
				}
				var all []*process
				for range 20 {
					all = append(all, f.start(job.Spec{Name: "x", Schedule: "every 1s"}, func(_ *process, _ context.Context, tick job.Tick) error {
						if late := f.now().Sub(tick.Time); late < -2*window || late > time.Second {
							t.Errorf("the tick %s begins %s late", tick.Time, late)
						}
						l.begins(tick)
						time.Sleep(5 * time.Millisecond)
						return nil
					}))
				}
				time.Sleep(60*time.Second + 500*time.Millisecond)
				for _, p := range all {
					p.stop()
				}
				f.ends.Wait()
				if len(l.began) < 58 {
					t.Errorf("%d ticks ran in 60 s", len(l.began))
				}
				for i, tick := range l.order {
					if i > 0 && tick.Sub(l.order[i-1]) != time.Second {
						t.Errorf("the tick %s follows %s", tick, l.order[i-1])
					}
				}
			})
		})
	}
}

// Runners are killed at random, also in the middle of a run. With skip no tick begins twice. With retry every tick is
// done, and the oldest first.
func TestKilledRunners(t *testing.T) {
	for _, crash := range []job.OnCrash{job.CrashSkip, job.CrashRetry} {
		t.Run(string(crash), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, l, rng := newFleet(t, 3), newLedger(), rand.New(rand.NewPCG(7, 7))
				spec := job.Spec{Name: "x", Schedule: "every 2s", OnCrash: crash, Missed: job.MissedAll}
				var mu sync.Mutex
				var running *process
				work := func(p *process, ctx context.Context, tick job.Tick) error {
					if p.dead.Load() {
						return ctx.Err()
					}
					l.begins(tick)
					mu.Lock()
					running = p
					mu.Unlock()
					for range 10 {
						time.Sleep(40 * time.Millisecond)
						if p.dead.Load() || ctx.Err() != nil {
							return errDead
						}
					}
					mu.Lock()
					running = nil
					mu.Unlock()
					l.ends(tick)
					return nil
				}
				var all []*process
				for range 4 {
					all = append(all, f.start(spec, work))
				}
				killed := 0
				for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); {
					time.Sleep(time.Duration(rng.Int64N(int64(4 * time.Second))))
					mu.Lock()
					victim := running
					mu.Unlock()
					if victim != nil && !victim.dead.Load() {
						victim.kill()
						killed++
						all = append(all, f.start(spec, work))
					}
				}
				time.Sleep(20 * time.Second)
				for _, p := range all {
					p.stop()
				}
				f.ends.Wait()
				unbegun := 0
				first, last := l.order[0], l.order[len(l.order)-1]
				for tick := first; tick.Before(last); tick = tick.Add(2 * time.Second) {
					switch {
					case crash == job.CrashSkip && l.began[tick] > 1:
						t.Errorf("the tick %s began %d times", tick, l.began[tick])
					case crash == job.CrashSkip && l.began[tick] == 0: // killed when the tick was taken, before its run
						unbegun++
					case crash == job.CrashRetry && l.done[tick] == 0:
						t.Errorf("the tick %s was never done", tick)
					case l.done[tick] > 1:
						t.Errorf("the tick %s was done %d times", tick, l.done[tick])
					}
				}
				if unbegun > killed {
					t.Errorf("%d ticks did not begin, and %d runners were killed", unbegun, killed)
				}
				if killed < 10 || crash == job.CrashRetry && l.retries == 0 {
					t.Errorf("%d runners were killed, %d runs were repeated", killed, l.retries)
				}
				t.Logf("%d ticks, %d runs, %d runners killed, %d runs repeated", len(l.began), l.runs, killed, l.retries)
			})
		})
	}
}

// Nodes lose their memory one after the other, and come back after their quarantine. No tick runs twice, and few are
// missed.
func TestNodesThatForgetRepeatNoTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, l := newFleet(t, 3), newLedger()
		var all []*process
		for range 6 {
			all = append(all, f.start(job.Spec{Name: "x", Schedule: "every 1s"}, func(_ *process, ctx context.Context, tick job.Tick) error {
				l.begins(tick)
				time.Sleep(20 * time.Millisecond)
				return ctx.Err()
			}))
		}
		for i := range 30 {
			time.Sleep(20 * time.Second) // longer than a quarantine, and the time in which a server gets its place back
			f.models[i%3].Restart(fmt.Sprintf("run%d.%d", i%3, i), "", false)
		}
		time.Sleep(10 * time.Second)
		for _, p := range all {
			p.stop()
		}
		f.ends.Wait()
		for tick, n := range l.began {
			if n != 1 {
				t.Errorf("the tick %s began %d times", tick, n)
			}
		}
		if len(l.began) < 500 {
			t.Errorf("%d ticks of 610 ran", len(l.began))
		}
		t.Logf("%d ticks of 610 ran", len(l.began))
	})
}

// After an outage, the policy decides which missed ticks run.
func TestMissedTicks(t *testing.T) {
	for missed, want := range map[job.Missed]func(runs int) bool{
		job.MissedSkip: func(runs int) bool { return runs == 1 },
		job.MissedOnce: func(runs int) bool { return runs == 2 },
		job.MissedAll:  func(runs int) bool { return runs == 7 },
	} {
		t.Run(string(missed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, l := newFleet(t, 3), newLedger()
				spec := job.Spec{Name: "x", Schedule: "every 10m", Missed: missed}
				p := f.start(spec, func(_ *process, _ context.Context, tick job.Tick) error { l.begins(tick); return nil })
				time.Sleep(15 * time.Minute)
				p.stop()
				f.ends.Wait()
				before := l.runs
				time.Sleep(60 * time.Minute) // nobody runs the job
				p = f.start(spec, func(_ *process, _ context.Context, tick job.Tick) error { l.begins(tick); return nil })
				time.Sleep(9 * time.Minute)
				p.stop()
				f.ends.Wait()
				if runs := l.runs - before; before < 1 || !want(runs) {
					t.Errorf("%d runs before the outage, %d after it: %v", before, runs, l.order)
				}
			})
		})
	}
}

// A run whose context ends because the fleet is shut down is run again with retry, and an overlong run ends.
func TestTimeoutsAndShutdowns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 1)
		outcomes := make(chan job.Outcome, 10)
		spec := job.Spec{Name: "x", Schedule: "every 1m", Timeout: 5 * time.Second, OnOutcome: func(o job.Outcome) { outcomes <- o }}
		p := f.start(spec, func(_ *process, ctx context.Context, _ job.Tick) error {
			<-ctx.Done()
			return context.Cause(ctx)
		})
		if o := <-outcomes; o.State != job.Failed || !strings.Contains(o.Error, "longer than its timeout") || o.Took != 5*time.Second {
			t.Errorf("an overlong run: %+v", o)
		}
		time.Sleep(57 * time.Second) // in the middle of the next run
		p.stop()
		if o := <-outcomes; o.State != job.Interrupted {
			t.Errorf("a run that was shut down: %+v", o)
		}
		spec.OnCrash = job.CrashRetry
		attempts := make(chan int, 1)
		p = f.start(spec, func(_ *process, _ context.Context, tick job.Tick) error { attempts <- tick.Attempt; return nil })
		if n := <-attempts; n != 2 {
			t.Errorf("attempt %d", n)
		}
		p.stop()
		f.ends.Wait()
	})
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

// Two versions of a schedule in one fleet are reported, once in each process.
func TestTwoVersionsOfAScheduleAreReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, log := newFleet(t, 1), &records{}
		logger := slog.New(slog.NewTextHandler(log, nil))
		nothing := func(*process, context.Context, job.Tick) error { return nil }
		a := f.start(job.Spec{Name: "x", Schedule: "every 1m", Logger: logger}, nothing)
		b := f.start(job.Spec{Name: "x", Schedule: "every 90s", Logger: logger}, nothing)
		time.Sleep(20 * time.Minute)
		a.stop()
		b.stop()
		f.ends.Wait()
		if n := log.count("job differs in the fleet"); n != 2 {
			t.Errorf("%d reports", n)
		}
	})
}

// The clocks of a majority were ahead and came back. The job is not run, which is reported, until an operator resets it.
func TestATickInTheFutureIsReportedAndReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, l, log := newFleet(t, 3), newLedger(), &records{}
		spec := job.Spec{Name: "x", Schedule: "every 1m", Logger: slog.New(slog.NewTextHandler(log, nil))}
		begin := func() *process {
			return f.start(spec, func(_ *process, _ context.Context, tick job.Tick) error { l.begins(tick); return nil })
		}
		c := f.client(&atomic.Bool{})
		defer c.Close()
		if err := job.SetTick(context.Background(), c, "x", f.now().Add(48*time.Hour)); err != nil {
			t.Fatal(err)
		}
		ran, err := job.Once(context.Background(), c, "x", f.now(), nil)
		if ran || !errors.Is(err, job.ErrFuture) {
			t.Errorf("Once: %t, %v", ran, err)
		}
		p := begin()
		time.Sleep(5 * time.Minute)
		if l.runs > 0 || log.count("in the future") != 1 {
			t.Errorf("%d runs, %d reports", l.runs, log.count("in the future"))
		}
		if err := job.SetTick(context.Background(), c, "x", f.now()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Minute)
		p.stop()
		f.ends.Wait()
		if l.runs != 5 {
			t.Errorf("%d runs in the 5 minutes after the reset", l.runs)
		}
	})
}

// Once runs a tick on one process of the fleet. Later calls for it, or for an earlier one, do nothing.
func TestOnceRunsATickOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		tick := f.now().Truncate(time.Second)
		var runs, skips atomic.Int32
		for range 20 {
			f.ends.Go(func() {
				c := f.client(&atomic.Bool{})
				defer c.Close()
				ran, err := job.Once(context.Background(), c, "x", tick, func(ctx context.Context, got job.Tick) error {
					if lease, ok := holdfast.FromContext(ctx); !ok || lease.Fence() != got.Fence || !got.Time.Equal(tick) {
						t.Errorf("the run is told %+v, %v", got, lease)
					}
					time.Sleep(3 * time.Second)
					return nil
				})
				switch {
				case err != nil:
					t.Errorf("Once: %v", err)
				case ran:
					runs.Add(1)
				default:
					skips.Add(1)
				}
			})
		}
		f.ends.Wait()
		if runs.Load() != 1 || skips.Load() != 19 {
			t.Errorf("%d runs, %d skips", runs.Load(), skips.Load())
		}
		c := f.client(&atomic.Bool{})
		defer c.Close()
		fails := errors.New("disk full")
		for _, again := range []struct {
			tick time.Time
			ran  bool
		}{{tick, false}, {tick.Add(-time.Hour), false}, {tick.Add(time.Second), true}} {
			ran, err := job.Once(context.Background(), c, "x", again.tick, func(context.Context, job.Tick) error { return fails })
			if ran != again.ran || ran != errors.Is(err, fails) {
				t.Errorf("%s after %s: %t, %v", again.tick, tick, ran, err)
			}
		}
		if _, err := job.Once(context.Background(), c, "x", tick.Add(time.Hour), nil); err == nil || !strings.Contains(err.Error(), "in the future") {
			t.Errorf("a tick in the future: %v", err)
		}
		last, err := job.Last(context.Background(), c, "x")
		if err != nil || last.State != job.Failed || last.Error != "disk full" || !last.Tick.Equal(tick.Add(time.Second)) {
			t.Errorf("the last outcome is %v, %v", last, err)
		}
	})
}

// A panic is stored as an outcome, and goes on.
func TestAPanicIsAnOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 1)
		c := f.client(&atomic.Bool{})
		defer c.Close()
		func() {
			defer func() {
				if p := recover(); p != "oh" {
					t.Errorf("recovered %v", p)
				}
			}()
			_, _ = job.Once(context.Background(), c, "x", f.now(), func(context.Context, job.Tick) error { panic("oh") })
		}()
		if last, err := job.Last(context.Background(), c, "x"); err != nil || last.State != job.Failed || last.Error != "panic: oh" {
			t.Errorf("%v, %v", last, err)
		}
		if l, err := c.Mutex("x").TryLock(context.Background()); err != nil {
			t.Errorf("the lock is held: %v", err)
		} else {
			_ = l.Unlock(context.Background())
		}
	})
}

// A name whose value belongs to another program ends Run.
func TestAForeignValueIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 1)
		c := f.client(&atomic.Bool{})
		defer c.Close()
		l, err := c.Mutex("x").Lock(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(l.Store(context.Background(), []byte("mine")), l.Unlock(context.Background())); err != nil {
			t.Fatal(err)
		}
		err = job.Run(context.Background(), c, job.Spec{Name: "x", Schedule: "every 1s", Logger: quiet}, nil)
		if !errors.Is(err, job.ErrNoJob) {
			t.Errorf("Run: %v", err)
		}
		if v, err := c.Value(context.Background(), "x"); string(v) != "mine" || err != nil {
			t.Errorf("the value is %q, %v", v, err)
		}
	})
}

// A run whose tick could not be stored does not begin with skip, and begins with retry. No store reaches the node.
func TestARunThatIsNotStoredDoesNotBegin(t *testing.T) {
	for _, crash := range []job.OnCrash{job.CrashSkip, job.CrashRetry} {
		t.Run(string(crash), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, 1)
				f.storeless.Store(true)
				c := f.client(&atomic.Bool{})
				defer c.Close()
				began := false
				ran, err := job.Spec{Name: "x", OnCrash: crash, Logger: quiet}.Once(context.Background(), c, f.now(), func(context.Context, job.Tick) error {
					began = true
					return nil
				})
				switch {
				case crash == job.CrashSkip && (began || ran || !errors.Is(err, holdfast.ErrUnavailable)):
					t.Errorf("the run began: %t, %t, %v", began, ran, err)
				case crash == job.CrashRetry && (!began || !ran || err != nil):
					t.Errorf("the run did not begin: %t, %t, %v", began, ran, err)
				}
			})
		})
	}
}
