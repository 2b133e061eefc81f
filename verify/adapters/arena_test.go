package check

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/verify/selfexec"
)

// line is one line of the file.
type line struct {
	what, name string
	tick       int64
	fence      int64
	label      string
	text       string
}

// process is a process of the fleet, with its own way to each server.
type process struct {
	*selfexec.Child
	proxies []*redistest.Proxy
}

// cut cuts the process off from all servers, or ends that.
func (p *process) cut(on bool) {
	for _, x := range p.proxies {
		x.Cut(on)
	}
}

// arena is servers, and a fleet of processes that use them.
type arena struct {
	t       *testing.T
	kind    string
	every   time.Duration // the interval of each job
	servers []*redistest.Server
	file    string
	procs   map[string]*process // by label
}

func newArena(t *testing.T, kind string, servers []*redistest.Server) *arena {
	t.Helper()
	a := &arena{t: t, kind: kind, every: 2 * time.Second, servers: servers, file: filepath.Join(t.TempDir(), "runs"), procs: map[string]*process{}}
	if err := os.WriteFile(a.file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if kind == "control" {
		return a
	}
	var urls []string
	for _, s := range servers {
		urls = append(urls, s.URL())
	}
	c, err := openFor("test", ttlOf(a.kind), urls)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	t.Cleanup(func() {
		if t.Failed() {
			a.explain(urls)
		}
	})
	admin.Trust(t.Context(), c)
	redistest.Eventually(t, 30*time.Second, "all nodes to vote", func() bool {
		n := 0
		for _, s := range admin.Nodes(t.Context(), c) {
			if s.Votes() {
				n++
			}
		}
		return n == len(servers)
	})
	return a
}

// explain logs what the nodes know about the first job, after a failure.
func (a *arena) explain(urls []string) {
	c, err := openFor("test", ttlOf(a.kind), urls)
	if err != nil {
		return
	}
	defer c.Close()
	ctx := context.Background()
	now, err := c.Now(ctx)
	a.t.Logf("the nodes' time is %s, %v", now, err)
	last, err := job.Last(ctx, c, "job0")
	a.t.Logf("the last outcome is %+v, %v", last, err)
	status, err := c.Status(ctx, "job0")
	a.t.Logf("the status is %+v, %v", status, err)
	for _, n := range admin.Nodes(ctx, c) {
		a.t.Logf("node %s", n)
	}
	for _, l := range a.lines() {
		a.t.Logf("%+v", l)
	}
}

// threeApart returns how far the clocks of three processes are ahead, if each is apart from the next.
func threeApart(apart time.Duration) []time.Duration { return []time.Duration{-apart, 0, apart} }

// start starts processes, p1 and so on. Their clocks are ahead by these times.
func (a *arena) start(clocks []time.Duration, takes time.Duration, jobs int) {
	a.t.Helper()
	for i, ahead := range clocks {
		a.startOne(fmt.Sprint("p", i+1), ahead, takes, jobs)
	}
}

func (a *arena) startOne(label string, ahead, takes time.Duration, jobs int) {
	a.t.Helper()
	p := &process{}
	args := []string{"worker", a.kind, a.file, label, ahead.String(), takes.String(), a.every.String(), strconv.Itoa(jobs)}
	for _, s := range a.servers {
		x := redistest.NewProxy(a.t, s.Addr())
		p.proxies = append(p.proxies, x)
		args = append(args, x.URL())
	}
	p.Child = selfexec.RunStoppable(a.t, selfexec.Command(nil, args...))
	a.procs[label] = p
}

// kill kills a process with SIGKILL.
func (a *arena) kill(label string) {
	a.procs[label].Kill()
	delete(a.procs, label)
}

// finish ends all processes and returns what they wrote.
func (a *arena) finish() []line {
	a.t.Helper()
	for _, p := range a.procs {
		p.Stop()
	}
	for label, p := range a.procs {
		if <-p.Gone; p.Err != nil {
			a.t.Errorf("%s ended with %v", label, p.Err)
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
		f := strings.SplitN(strings.TrimSuffix(string(row), "\n"), " ", 6)
		if len(f) != 6 {
			a.t.Fatalf("a process wrote %q", row)
		}
		tick, _ := strconv.ParseInt(f[2], 10, 64)
		fence, _ := strconv.ParseInt(f[3], 10, 64)
		all = append(all, line{f[0], f[1], tick, fence, f[4], f[5]})
	}
	return all
}

// awaits waits until is is true for n lines. It returns the last of these lines.
func (a *arena) awaits(n int, what string, is func(line) bool) (last line) {
	a.t.Helper()
	redistest.Eventually(a.t, 90*time.Second, fmt.Sprintf("%d × %s", n, what), func() bool {
		found := 0
		for _, l := range a.lines() {
			if is(l) {
				found++
				last = l
			}
		}
		return found >= n
	})
	return last
}

// awaitTicks waits until the first job had n ticks.
func (a *arena) awaitTicks(n int) {
	a.t.Helper()
	within := time.Duration(n)*a.every*2 + time.Minute
	redistest.Eventually(a.t, within, fmt.Sprint(n, " ticks"), func() bool {
		seen := map[int64]bool{}
		for _, l := range a.lines() {
			if l.what == "begin" && l.name == "job0" {
				seen[l.tick] = true
			}
		}
		return len(seen) >= n
	})
}

// runs counts the runs of each job and tick.
type runs struct {
	byJob map[string]map[int64]int
	runs  int
}

func countRuns(all []line) runs {
	r := runs{byJob: map[string]map[int64]int{}}
	for _, l := range all {
		if l.what == "begin" {
			if r.byJob[l.name] == nil {
				r.byJob[l.name] = map[int64]int{}
			}
			r.byJob[l.name][l.tick]++
			r.runs++
		}
	}
	return r
}

// ticks returns the number of ticks that ran.
func (r runs) ticks() (n int) {
	for _, ticks := range r.byJob {
		n += len(ticks)
	}
	return n
}

// judge returns how many runs were too many, and how many ticks between the first and the last of a job had none.
func (r runs) judge(every time.Duration) (doubles, missing int) {
	for _, ticks := range r.byJob {
		first, last := int64(1<<62), int64(0)
		for tick, n := range ticks {
			doubles += n - 1
			first, last = min(first, tick), max(last, tick)
		}
		missing += int((last-first)/int64(every/time.Second)) + 1 - len(ticks)
	}
	return doubles, missing
}
