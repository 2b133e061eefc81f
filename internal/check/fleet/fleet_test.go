package fleet

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/check/redistest"
	"github.com/holdfast-go/holdfast/internal/command/parentdeath"
	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 5 && os.Args[1] == "runner" {
		os.Exit(runner(os.Args[2:]))
	}
	os.Exit(m.Run())
}

func open(urls []string) (*holdfast.Client, error) {
	nodes, err := rueidisnode.Open(urls...)
	if err != nil {
		return nil, err
	}
	return holdfast.New(holdfast.Config{
		Nodes: nodes, MaxTTL: 2 * time.Second, Window: 200 * time.Millisecond, NodeTimeout: time.Second, Cluster: "fleet",
		Logger: slog.New(slog.DiscardHandler),
	})
}

// runner is a process of the fleet. Its arguments are the file, OnCrash, the time that a run takes, and the nodes. It
// ends when TERM comes.
func runner(args []string) int {
	fail := func(err error) int { fmt.Fprintln(os.Stderr, "runner:", err); return 1 }
	file, err := os.OpenFile(args[0], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return fail(err)
	}
	takes, err := time.ParseDuration(args[2])
	if err != nil {
		return fail(err)
	}
	c, err := open(args[3:])
	if err != nil {
		return fail(err)
	}
	defer c.Close()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	write := func(what string, tick job.Tick) { // one write, so that lines of two processes do not mix
		_, _ = fmt.Fprintf(file, "%s %d %d\n", what, tick.Time.Unix(), os.Getpid())
	}
	err = job.Run(ctx, c, job.Spec{
		Name: "x", Schedule: "every 1s", Missed: job.MissedAll, OnCrash: job.OnCrash(args[1]), Logger: slog.New(slog.DiscardHandler),
	}, func(_ context.Context, tick job.Tick) error {
		write("begin", tick)
		time.Sleep(takes)
		write("end", tick)
		return nil
	})
	if ctx.Err() == nil {
		return fail(err)
	}
	return 0
}

// line is one line of the file.
type line struct {
	what string
	tick int64
	pid  int
}

// arena is a node set, and processes that run a job on it.
type arena struct {
	t       *testing.T
	servers []*redistest.Server
	file    string
	urls    []string
	crash   job.OnCrash
	takes   time.Duration
	procs   map[int]*exec.Cmd
}

func newArena(t *testing.T, crash job.OnCrash, takes time.Duration, offsets ...time.Duration) *arena {
	t.Helper()
	a := &arena{t: t, file: filepath.Join(t.TempDir(), "runs"), crash: crash, takes: takes, procs: map[int]*exec.Cmd{}}
	if err := os.WriteFile(a.file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	a.servers = redistest.StartN(t, len(offsets), redistest.WithClock())
	for i, s := range a.servers {
		s.Step(offsets[i])
		a.urls = append(a.urls, s.URL())
	}
	c, err := open(a.urls)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.Admin().Trust(t.Context())
	redistest.Eventually(t, 30*time.Second, "all nodes to vote", func() bool {
		n := 0
		for _, s := range c.Admin().Nodes(t.Context()) {
			if s.Votes() {
				n++
			}
		}
		return n == len(offsets)
	})
	return a
}

// start starts a process.
func (a *arena) start() {
	a.t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"runner", a.file, string(a.crash), a.takes.String()}, a.urls...)...)
	cmd.Stderr = os.Stderr
	if err := parentdeath.Start(cmd); err != nil {
		a.t.Fatal(err)
	}
	a.procs[cmd.Process.Pid] = cmd
	a.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
}

// kill kills a process with SIGKILL. It reports false if the process is not one of the fleet any more.
func (a *arena) kill(pid int) bool {
	cmd := a.procs[pid]
	if cmd == nil {
		return false
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	delete(a.procs, pid)
	return true
}

// finish ends all processes and returns what they wrote.
func (a *arena) finish() []line {
	a.t.Helper()
	for _, cmd := range a.procs {
		_ = cmd.Process.Signal(syscall.SIGTERM)
	}
	for _, cmd := range a.procs {
		if err := cmd.Wait(); err != nil {
			a.t.Errorf("a process ended with %v", err)
		}
	}
	clear(a.procs)
	return a.lines()
}

func (a *arena) lines() (all []line) {
	a.t.Helper()
	text, err := os.ReadFile(a.file)
	if err != nil {
		a.t.Fatal(err)
	}
	for row := range bytes.Lines(text) {
		f := strings.Fields(string(row))
		if len(f) != 3 {
			a.t.Fatalf("a process wrote %q", row)
		}
		tick, _ := strconv.ParseInt(f[1], 10, 64)
		pid, _ := strconv.Atoi(f[2])
		all = append(all, line{f[0], tick, pid})
	}
	return all
}

// awaits waits until the file has n lines.
func (a *arena) awaits(n int) {
	a.t.Helper()
	redistest.Eventually(a.t, 90*time.Second, fmt.Sprint(n, " lines of runs"), func() bool { return len(a.lines()) >= n })
}

// Twenty processes, or eight with -short, run a job of 5 ms at every second. The clocks of the servers are hours behind those of the
// processes, and one of them leaps two hours ahead. Each tick runs once, and by the servers' time.
func TestManyProcessesRunEachTickOnce(t *testing.T) {
	t.Parallel()
	const behind = -5 * time.Hour
	a := newArena(t, job.CrashSkip, 5*time.Millisecond, behind, behind, behind+50*time.Millisecond)
	processes := 20
	if testing.Short() {
		processes = 8
	}
	for range processes {
		a.start()
	}
	a.awaits(1) // the first load of a new node set needs all nodes
	a.servers[1].Step(2 * time.Hour)
	a.awaits(2 * 12)
	began := map[int64]int{}
	var ticks []int64
	for _, l := range a.finish() {
		if l.what == "begin" {
			began[l.tick]++
			ticks = append(ticks, l.tick)
		}
	}
	for i, tick := range ticks {
		if began[tick] != 1 || i > 0 && tick != ticks[i-1]+1 {
			t.Errorf("the tick %d ran %d times, after %v", tick, began[tick], ticks[:i])
		}
	}
	if off := time.Since(time.Unix(ticks[len(ticks)-1], 0)) + behind; off.Abs() > time.Minute {
		t.Errorf("the last tick is %s off the servers' time", off)
	}
}

// The process that runs the job is killed in the middle of the run, again and again. With skip no tick begins twice; with
// retry each tick is done.
func TestKilledProcesses(t *testing.T) {
	t.Parallel()
	for _, crash := range []job.OnCrash{job.CrashSkip, job.CrashRetry} {
		t.Run(string(crash), func(t *testing.T) {
			t.Parallel()
			a := newArena(t, crash, 100*time.Millisecond, 0, 100*time.Millisecond, -100*time.Millisecond)
			for range 4 {
				a.start()
			}
			killed := 0
			for killed < 6 {
				seen := len(a.lines())
				a.awaits(seen + 1 + rand.IntN(3))
				all := a.lines()
				if last := all[len(all)-1]; last.what == "begin" && a.kill(last.pid) {
					killed++
					a.start()
				}
			}
			a.awaits(len(a.lines()) + 4)
			began, done := map[int64]int{}, map[int64]int{}
			all := a.finish()
			for _, l := range all {
				if l.what == "begin" {
					began[l.tick]++
				} else {
					done[l.tick]++
				}
			}
			repeated, unwritten := 0, 0
			for tick := all[0].tick; tick < all[len(all)-1].tick; tick++ {
				switch {
				case crash == job.CrashSkip && began[tick] > 1:
					t.Errorf("the tick %d began %d times", tick, began[tick])
				case crash == job.CrashSkip && began[tick] == 0: // killed after the tick was taken and before the line
					unwritten++
					continue
				case crash == job.CrashRetry && done[tick] == 0:
					t.Errorf("the tick %d began %d times and was never done", tick, began[tick])
				}
				repeated += began[tick] - 1
			}
			if unwritten > killed {
				t.Errorf("%d ticks did not begin, and %d processes were killed", unwritten, killed)
			}
			if crash == job.CrashRetry && repeated == 0 {
				t.Error("no run was repeated")
			}
			t.Logf("%d ticks, %d processes killed, %d runs repeated", len(began), killed, repeated)
		})
	}
}
