package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// step is the shell script that runs under the lock. It adds one to a file by reading, adding and writing, and leaves a
// trace. At its start it checks whether the previous step is still alive and has not noted its end. A zombie does not
// count as alive, because zombies stay where nobody reaps orphans.
//
// The file contains the count and the list of counted increments. A run that was killed may have counted its increment
// before. The run that repeats it must not count twice.
const step = `
before=$(cat inside 2>/dev/null) && [ -n "$before" ] && grep -q ') [^ZX] ' "/proc/$before/stat" 2>/dev/null && echo "$HOLDFAST_FENCE entered beside $before" >> overlaps
echo $$ > inside
echo "$HOLDFAST_FENCE" >> tokens
state=$(cat count)
case "$state " in
*" $1 "*) ;;
*) echo "$((${state%% *} + 1)) ${state#* } $1" > count.next && mv count.next count ;;
esac
: > inside
`

// field is a counter, 16 processes that raise it under the lock, and the traces of their runs.
type field struct {
	t       *testing.T
	dir     string
	binary  string
	servers []*redistest.Server
	env     []string

	mu      sync.Mutex
	running map[int]*exec.Cmd // by worker: the present run
	kills   int64             // number of holders that must be killed before the workers end
	killed  atomic.Int64
	aborted atomic.Int64 // runs that ended by a signal, or with 69 or 76; they may have counted, and are repeated
	done    atomic.Int64
}

func newField(t *testing.T) *field {
	t.Helper()
	f := &field{t: t, dir: t.TempDir(), running: map[int]*exec.Cmd{}, servers: redistest.StartN(t, 5)}
	f.binary = filepath.Join(f.dir, "holdfast")
	// The binary has no race detector, because the test starts thousands of processes.
	if out, err := exec.Command("go", "build", "-o", f.binary, "github.com/holdfast-go/holdfast/cmd/holdfast").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	var urls []string
	for _, s := range f.servers {
		urls = append(urls, s.URL())
	}
	f.env = append(os.Environ(), "HOLDFAST_NODES="+strings.Join(urls, ","), "HOLDFAST_MAX_TTL=2s", "HOLDFAST_WINDOW=200ms", "HOLDFAST_CLUSTER=exclusion")
	f.write("count", "0 none\n")
	f.write("step", step)
	if out, err := f.command("nodes", "trust", "--yes").CombinedOutput(); err != nil {
		t.Fatalf("nodes trust: %v\n%s", err, out)
	}
	return f
}

func (f *field) command(args ...string) *exec.Cmd {
	c := exec.Command(f.binary, args...)
	c.Dir, c.Env = f.dir, f.env
	return c
}

func (f *field) write(name, content string) {
	if err := os.WriteFile(filepath.Join(f.dir, name), []byte(content), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

func (f *field) read(name string) string {
	b, err := os.ReadFile(filepath.Join(f.dir, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		f.t.Fatal(err)
	}
	return strings.TrimSpace(string(b))
}

// work raises the counter n times as one of the workers. It repeats a run that was killed or lost its nodes. After its
// last increment it repeats the last run, which counts only once, until enough holders were killed.
func (f *field) work(worker, n int) {
	for made := 0; made < n || f.killed.Load() < f.kills; {
		c := f.command("run", "counter", "--", "sh", "step", fmt.Sprintf("%d.%d", worker, min(made, n-1)))
		var stderr bytes.Buffer
		c.Stderr = &stderr
		f.mu.Lock()
		err := c.Start()
		f.running[worker] = c
		f.mu.Unlock()
		if err != nil {
			f.t.Error(err)
			return
		}
		err = c.Wait()
		f.mu.Lock()
		delete(f.running, worker)
		f.mu.Unlock()
		var exit *exec.ExitError
		switch {
		case err == nil:
			if made++; made <= n {
				f.done.Add(1)
			}
		case errors.As(err, &exit) && (exit.ExitCode() == -1 || exit.ExitCode() == 69 || exit.ExitCode() == 76):
			f.aborted.Add(1)
		default:
			f.t.Errorf("worker %d: %v\n%s", worker, err, stderr.Bytes())
			return
		}
	}
}

// verdict checks the traces of the workers: every increment happened once.
func (f *field) verdict(want int) {
	f.t.Helper()
	text, _, _ := strings.Cut(f.read("count"), " ")
	count, err := strconv.Atoi(text)
	if err != nil {
		f.t.Fatal(err)
	}
	if count != want {
		f.t.Errorf("%d increments found; want %d, and %d were made", count, want, f.done.Load())
	}
	if o := f.read("overlaps"); o != "" {
		f.t.Errorf("two were inside at a time:\n%s", o)
	}
	tokens := strings.Fields(f.read("tokens"))
	last := int64(0)
	for i, text := range tokens {
		token, err := strconv.ParseInt(text, 10, 64)
		if err != nil || token <= last {
			f.t.Errorf("entry %d has token %q after %d", i, text, last)
		}
		last = token
	}
	f.t.Logf("increments made %d, found %d; entries with rising tokens: %d; holders killed: %d, runs ended: %d", f.done.Load(), count, len(tokens), f.killed.Load(), f.aborted.Load())
}

func TestSixteenProcessesCountTo3200(t *testing.T) {
	t.Parallel()
	f, each := newField(t), 200
	if testing.Short() {
		each = 8 // 128 increments in all
	}
	var wait sync.WaitGroup
	for worker := range 16 {
		wait.Go(func() { f.work(worker, each) })
	}
	wait.Wait()
	f.verdict(16 * each)
}

func TestSixteenProcessesCountWhileHoldersAndNodesAreKilled(t *testing.T) {
	t.Parallel()
	f, each := newField(t), 40
	f.kills = 3
	if testing.Short() {
		each, f.kills = 4, 1
	}
	stop := make(chan struct{})
	var faults, workers sync.WaitGroup
	faults.Go(func() { f.killHolders(stop) })
	faults.Go(func() { f.killNodes(stop) })
	for worker := range 16 {
		workers.Go(func() { f.work(worker, each) })
	}
	workers.Wait()
	close(stop)
	faults.Wait()
	f.verdict(16 * each)
}

// killHolders now and then kills the run that holds the lock, with SIGKILL.
func (f *field) killHolders(stop chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(1500+rand.IntN(2500)) * time.Millisecond):
		}
		// The next run inside is the parent of the step that wrote its id.
		inside := ""
		for until := time.Now().Add(2 * time.Second); inside == "" && time.Now().Before(until); {
			inside = f.read("inside")
		}
		stat, err := os.ReadFile("/proc/" + inside + "/stat")
		if err != nil {
			continue
		}
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		parent, _ := strconv.Atoi(fields[1])
		f.mu.Lock()
		for _, c := range f.running {
			if c.Process.Pid == parent {
				c.Process.Kill()
				f.killed.Add(1)
			}
		}
		f.mu.Unlock()
	}
}

// killNodes kills up to two nodes at a time and restarts them empty.
func (f *field) killNodes(stop chan struct{}) {
	for round := 0; ; round++ {
		a, b := f.servers[round%5], f.servers[(round+2)%5]
		a.Kill()
		if round%2 == 0 {
			b.Kill()
		}
		select {
		case <-stop:
		case <-time.After(time.Duration(300+rand.IntN(700)) * time.Millisecond):
		}
		a.Restart()
		if round%2 == 0 {
			b.Restart()
		}
		select {
		case <-stop:
			return
		case <-time.After(3 * time.Second): // by then their quarantine is over, so at most two nodes are missing
		}
	}
}
