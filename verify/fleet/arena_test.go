package fleet

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/environment"
	"github.com/holdfast-go/holdfast/internal/leasetest"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
	"github.com/holdfast-go/holdfast/verify/selfexec"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 6 && os.Args[1] == "runner" {
		os.Exit(runner(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// skewed is a node whose client has a clock that is ahead. The difference is the same as long as the process lives.
type skewed struct {
	node.Node
	ahead time.Duration
}

func (s skewed) Environment() environment.Sources {
	steady := clock.Steady()
	return environment.Sources{Clock: func() clock.Instant { return steady().Add(s.ahead) }, Random: rand.Uint64}
}

// mortal is a node whose process kills itself by SIGKILL when it has the lock: before it loads the last outcome, or
// before it stores the tick as taken.
type mortal struct {
	node.Node
	dies  func(call string) bool // whether the process dies before this call
	claim bool                   // it dies before it stores that a run begins, and not before its load
}

func (m mortal) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	for _, c := range calls {
		last := c.Args[len(c.Args)-1]
		is := len(c.Args) == 3 && !m.claim || m.claim && strings.Contains(last, string(`"state":"`+job.Running+`"`))
		if is && strings.HasSuffix(c.Keys[len(c.Keys)-1], ":holdfast:value") && m.dies(strings.Join(c.Args, " ")) {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	return m.Node.EvalSHA(ctx, calls)
}

// open returns a client of the nodes. Its clock is ahead of the clock of this machine.
func open(urls []string, ahead time.Duration) (*holdfast.Client, error) {
	nodes, err := rueidisnode.Open(urls...)
	if err != nil {
		return nil, err
	}
	return openNodes(nodes, ahead, shortTTL)
}

const (
	shortTTL = 2 * time.Second
	// mortalTTL is the TTL of a fleet in which a process dies before it takes its tick. The other processes must meet
	// its lease, also on a busy machine.
	mortalTTL = 6 * time.Second
)

func openNodes(nodes []node.Node, ahead, maxTTL time.Duration) (*holdfast.Client, error) {
	nodes[0] = skewed{nodes[0], ahead} // the client asks the first node for its clock
	return holdfast.New(holdfast.Config{
		Nodes: nodes, MaxTTL: maxTTL, Window: 200 * time.Millisecond, NodeTimeout: time.Second, Cluster: "fleet",
		Logger: slog.New(slog.DiscardHandler),
	})
}

// runner is a process of the fleet. Its arguments are the file, OnCrash, the time that a run takes, how far its clock
// is ahead, and the nodes. It ends when TERM comes.
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
	ahead, err := time.ParseDuration(args[3])
	if err != nil {
		return fail(err)
	}
	nodes, err := rueidisnode.Open(args[4:]...)
	if err != nil {
		return fail(err)
	}
	missed, ttl := job.MissedAll, shortTTL
	if at := os.Getenv("FLEET_DIES"); at != "" { // the name of a file of which one process dies
		missed, ttl = job.MissedSkip, mortalTTL
		var deciding sync.Mutex   // the process that dies keeps it: no other node gets the call meanwhile
		seen := map[string]bool{} // the calls that a node got. A later node may get its call after the run has begun.
		for i := range nodes {
			nodes[i] = mortal{nodes[i], func(call string) bool {
				deciding.Lock()
				if seen[call] || os.Remove(at) != nil {
					seen[call] = true
					deciding.Unlock()
					return false
				}
				_, _ = fmt.Fprintf(file, "dies %d %d\n", time.Now().Unix(), os.Getpid())
				return true
			}, strings.HasSuffix(at, "claim")}
		}
	}
	c, err := openNodes(nodes, ahead, ttl)
	if err != nil {
		return fail(err)
	}
	defer c.Close()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	fmt.Println(selfexec.Started)
	write := func(what string, tick job.Tick) { // one write, so that lines of two processes do not mix
		_, _ = fmt.Fprintf(file, "%s %d %d\n", what, tick.Time.Unix(), os.Getpid())
	}
	err = job.Run(ctx, c, job.Spec{
		Name: "x", Schedule: "every 1s", Missed: missed, OnCrash: job.OnCrash(args[1]), Logger: slog.New(slog.DiscardHandler),
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
	dies    string // the file whose process dies; "": none does
	crash   job.OnCrash
	takes   time.Duration
	procs   map[int]*selfexec.Child
	started int
}

func newArena(t *testing.T, crash job.OnCrash, takes time.Duration, offsets ...time.Duration) *arena {
	t.Helper()
	return newArenaFor(t, shortTTL, crash, takes, offsets...)
}

func newArenaFor(t *testing.T, maxTTL time.Duration, crash job.OnCrash, takes time.Duration, offsets ...time.Duration) *arena {
	t.Helper()
	a := &arena{t: t, file: filepath.Join(t.TempDir(), "runs"), crash: crash, takes: takes, procs: map[int]*selfexec.Child{}}
	if err := os.WriteFile(a.file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	a.servers, a.urls = votingNodes(t, maxTTL, offsets...)
	return a
}

// votingNodes starts servers whose clocks have these offsets, and returns when all of them vote.
func votingNodes(t *testing.T, maxTTL time.Duration, offsets ...time.Duration) (servers []*redistest.Server, urls []string) {
	t.Helper()
	servers = redistest.StartN(t, len(offsets), redistest.WithClock())
	for i, s := range servers {
		s.Step(offsets[i])
		urls = append(urls, s.URL())
	}
	nodes, err := rueidisnode.Open(urls...)
	if err != nil {
		t.Fatal(err)
	}
	c, err := openNodes(nodes, 0, maxTTL)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	admin.Trust(t.Context(), c)
	leasetest.AllVote(t, c, 30*time.Second)
	return servers, urls
}

// mostOff is how far the clock of a process is off at most.
const mostOff = 30 * time.Second

// start starts a process. The clocks of twenty processes in a row are spread from mostOff behind to mostOff ahead.
func (a *arena) start() {
	a.t.Helper()
	ahead := 2*mostOff*time.Duration(a.started%20)/19 - mostOff
	a.started++
	cmd := selfexec.Command([]string{"FLEET_DIES=" + a.dies}, append([]string{"runner", a.file, string(a.crash), a.takes.String(), ahead.String()}, a.urls...)...)
	p := selfexec.RunStoppable(a.t, cmd)
	a.procs[cmd.Process.Pid] = p
}

// kill kills a process with SIGKILL. It reports false if the process is not one of the fleet any more.
func (a *arena) kill(pid int) bool {
	p := a.procs[pid]
	if p == nil {
		return false
	}
	p.Kill()
	delete(a.procs, pid)
	return true
}

// finish ends all processes and returns what they wrote.
func (a *arena) finish() []line {
	a.t.Helper()
	for _, p := range a.procs {
		p.Stop()
	}
	for _, p := range a.procs {
		if <-p.Gone; p.Err != nil {
			a.t.Errorf("a process ended with %v", p.Err)
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
