//go:build linux

package fleet

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/parentdeath"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// hourTTL is the TTL of the locks of the fleet, and the quarantine of a node that lost its memory.
const hourTTL = 4 * time.Second

// hourTab is the file of jobs. The program "only" is on one machine, and "nowhere" on none. The jobs keep as many
// attempts as they can, so that the reader of the histories sees each of them. Those with long errors keep fewer: in a full
// book attempts lose their outputs before the test reads them.
const hourTab = `
every 3s  good     [history=200]                           ./work good
every 4s  bad      [history=200]                           ./work bad
every 6s  flaky    [history=40 retries=2 backoff=1s]       ./work flaky
every 5s  hung     [history=40 timeout=2s]                 ./work sleeps
every 4s  partly   [history=200 missed=all]                ./only good
every 4s  again    [history=200 missed=all on-crash=retry] ./work good
every 4s  resting  [history=200]                           ./work good
every 5s  stuck    [history=200]                           ./work stuck
@yearly   asked    [history=200]                           ./work good
every 5s  never                                            ./nowhere good
`

// leavingLine is the line of a job that leaves the file in a deploy.
const leavingLine = "every 4s  leaving  [history=200]                           ./work good\n"

// hourSteps are the seconds between two ticks of each job that runs; 0: only operators run it.
var hourSteps = map[string]int64{
	"good": 3, "bad": 4, "flaky": 6, "hung": 5, "partly": 4, "again": 4, "resting": 4, "stuck": 5, "asked": 0, "leaving": 4,
}

// hourWork is the command of each job. It writes one line to the test's own book when it begins, and one when it ends,
// which has its exit code. A signal cannot come between the last line and the end.
const hourWork = `#!/bin/sh
id="$HOLDFAST_NAME $HOLDFAST_TICK $HOLDFAST_FENCE $MACHINE $$"
end() { trap '' TERM; echo "end $id $1" >>"$BOOK"; exit $1; }
trap 'end 143' TERM
echo "begin $id -" >>"$BOOK"
exec 2>/dev/null # the shell says when a signal ends a command
case $1 in
bad) i=0; while [ $i -lt 60 ]; do echo "line $i of an output that is longer than the part of it that is stored"; i=$((i+1)); done ;;
esac
echo "out $$"
case $1 in
good) sleep 0.3; end 0 ;;
bad) end 3 ;;
flaky) sleep 0.1; if mkdir "$BOOK.$HOLDFAST_TICK"; then end 5; fi; end 0 ;;
sleeps) while :; do sleep 0.2; done ;;
stuck) while [ ! -e "$BOOK.unstick" ]; do sleep 0.2; done; end 7 ;;
esac
`

// cut is what the test did to a machine, and the time that it took, by the clock of this machine.
type cut struct {
	makes    string // the state of an attempt that did not end because of it
	from, to time.Time
}

// incarnation is one process of holdfast cron on a machine.
type incarnation struct {
	name    string // of the machine, and the number of the process: m1.3
	machine int
	cmd     *exec.Cmd
	log     string // the file of its stderr
	cuts    []*cut
}

// change is an attempt that changed in a history.
type change struct {
	name    string
	was, is attempt
}

// hourFleet is three machines of holdfast cron, an operator, and a reader of the histories.
type hourFleet struct {
	t        *testing.T
	dir      string
	binary   string
	env      []string
	servers  []*redistest.Server
	metrics  [3]string // host and port of each machine
	machines [3]*incarnation
	all      []*incarnation
	own      ownBook

	mu      sync.Mutex
	history map[string]map[string]attempt // by job, and by tick and attempt
	wrong   []change
}

func newHourFleet(t *testing.T) *hourFleet {
	t.Helper()
	f := &hourFleet{t: t, dir: t.TempDir(), history: map[string]map[string]attempt{}, own: ownBook{open: map[string]*bookRun{}}}
	f.binary = filepath.Join(f.dir, "holdfast")
	if out, err := exec.Command("go", "build", "-o", f.binary, "github.com/holdfast-go/holdfast/cmd/holdfast").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	f.write("jobs", hourTab+leavingLine)
	f.write("book", "")
	var urls []string
	f.servers, urls = votingNodes(t, hourTTL, 0, 0, 0)
	f.env = append(os.Environ(), "HOLDFAST_NODES="+strings.Join(urls, ","), "HOLDFAST_TTL=4s", "HOLDFAST_MAX_TTL=4s",
		"HOLDFAST_WINDOW=200ms", "HOLDFAST_CLUSTER=fleet", "BOOK="+filepath.Join(f.dir, "book"))
	for i := range f.machines {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		f.metrics[i] = l.Addr().String()
		_ = l.Close()
		if err := os.Mkdir(filepath.Join(f.dir, fmt.Sprint("m", i)), 0o700); err != nil {
			t.Fatal(err)
		}
		f.write(fmt.Sprintf("m%d/work", i), hourWork)
	}
	f.write("m1/only", hourWork)
	for i := range f.machines {
		f.start(i)
	}
	return f
}

func (f *hourFleet) write(name, text string) {
	f.t.Helper()
	path := filepath.Join(f.dir, name)
	if err := os.WriteFile(path+".new", []byte(text), 0o700); err != nil {
		f.t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		f.t.Fatal(err)
	}
}

// start starts holdfast cron on a machine, and returns when it handles signals.
func (f *hourFleet) start(i int) {
	f.t.Helper()
	in := &incarnation{name: fmt.Sprintf("m%d.%d", i, len(f.all)), machine: i}
	in.log = filepath.Join(f.dir, in.name)
	log, err := os.Create(in.log)
	if err != nil {
		f.t.Fatal(err)
	}
	defer log.Close()
	in.cmd = exec.Command(f.binary, "cron", "--grace", "3s", "--metrics-listen", f.metrics[i], filepath.Join(f.dir, "jobs"))
	in.cmd.Dir = filepath.Join(f.dir, fmt.Sprint("m", i))
	in.cmd.Env, in.cmd.Stderr = append(f.env[:len(f.env):len(f.env)], "MACHINE="+in.name), log
	if err := parentdeath.Start(in.cmd); err != nil {
		f.t.Fatal(err)
	}
	f.machines[i] = in
	f.all = append(f.all, in)
	f.t.Cleanup(func() {
		for _, pid := range family(in.cmd.Process.Pid) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		_ = in.cmd.Wait()
	})
	redistest.Eventually(f.t, time.Minute, in.name+" to start", func() bool { return strings.Contains(in.said(), "jobs of ") })
}

func (in *incarnation) said() string {
	text, err := os.ReadFile(in.log)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// family returns a process and all those that it started. They must be stopped, so that they start no others. It returns
// none if the process has ended and was waited for.
func family(pid int) []int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil || len(text) == 0 {
		return nil
	}
	list := []int{pid}
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, path := range threads {
		text, _ := os.ReadFile(path)
		for word := range strings.FieldsSeq(string(text)) {
			if child, err := strconv.Atoi(word); err == nil {
				list = append(list, family(child)...)
			}
		}
	}
	return list
}

// freeze stops all processes of a machine.
func (f *hourFleet) freeze(i int) (pids []int) {
	in := f.machines[i]
	in.cuts = append(in.cuts, &cut{makes: "crashed", from: time.Now()})
	for seen := -1; seen < len(pids); { // those that were started meanwhile are found in the next look
		seen = len(pids)
		pids = family(in.cmd.Process.Pid)
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGSTOP)
		}
	}
	return pids
}

// thaw lets a machine go on.
func (f *hourFleet) thaw(i int, pids []int) {
	in := f.machines[i]
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGCONT)
	}
	in.cuts[len(in.cuts)-1].to = time.Now()
}

// kill ends all processes of a machine at once, as a loss of power does.
func (f *hourFleet) kill(i int) {
	in := f.machines[i]
	for _, pid := range f.freeze(i) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	_ = in.cmd.Wait()
	in.cuts[len(in.cuts)-1].to = time.Now()
}

// end asks holdfast cron to end, as a deploy does.
func (f *hourFleet) end(i int) {
	f.t.Helper()
	in := f.machines[i]
	c := &cut{makes: "interrupted", from: time.Now()}
	in.cuts = append(in.cuts, c)
	_ = in.cmd.Process.Signal(syscall.SIGTERM)
	if err := in.cmd.Wait(); err != nil {
		f.t.Errorf("after TERM %s ended with %v:\n%s", in.name, err, in.said())
	}
	c.to = time.Now()
}
