//go:build linux

package fleet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/holdfast-go/holdfast/internal/parentdeath"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// run runs the program as an operator, and returns what it printed and its exit code.
func (f *hourFleet) run(args ...string) (out, errs string, code int) {
	c := exec.Command(f.binary, args...)
	var o, e bytes.Buffer
	c.Env, c.Stdout, c.Stderr = f.env, &o, &e
	if err := parentdeath.Start(c); err != nil {
		return "", err.Error(), -1
	}
	_ = c.Wait()
	return o.String(), e.String(), c.ProcessState.ExitCode()
}

// must runs the program as an operator until it exits with 0: a node may be away at first.
func (f *hourFleet) must(args ...string) {
	f.t.Helper()
	redistest.Eventually(f.t, 2*time.Minute, "holdfast "+strings.Join(args, " "), func() bool {
		_, errs, code := f.run(args...)
		if code != 0 {
			f.t.Logf("holdfast %s: %s", strings.Join(args, " "), errs)
		}
		return code == 0
	})
}

// shown is a job as holdfast jobs --json shows it.
type shown struct {
	Name        string
	State       string
	Runs        map[string]int
	Retried     int
	MissedTotal int       `json:"missed_total"`
	LastSuccess time.Time `json:"last_success"`
	LastFailure time.Time `json:"last_failure"`
	Paused      *struct{ What string }
	Retired     *struct{ What string }
	Audit       []struct {
		What string
		At   time.Time
	}
	History []attempt
}

// attempt is an entry of a history.
type attempt struct {
	Tick, Started time.Time
	TookMS        int64 `json:"took_ms"`
	State, Host   string
	Attempt       int
	Manual        bool
	Exit          *int
	Error, Output string
}

// jobs returns what holdfast jobs --json shows of the jobs, by name.
func (f *hourFleet) jobs(args ...string) (map[string]shown, error) {
	out, errs, code := f.run(append([]string{"jobs", "--json"}, args...)...)
	if code != 0 {
		return nil, fmt.Errorf("exit code %d: %s", code, errs)
	}
	var list []shown
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		return nil, fmt.Errorf("%w in %s", err, out)
	}
	jobs := map[string]shown{}
	for _, j := range list {
		jobs[j.Name] = j
	}
	return jobs, nil
}

func (a attempt) String() string {
	exit := "no exit code"
	if a.Exit != nil {
		exit = fmt.Sprint("exit code ", *a.Exit)
	}
	return fmt.Sprintf("attempt %d of %s: %s on %s from %s for %d ms, manual=%t, %s, %q", a.Attempt, a.Tick.Format(time.RFC3339Nano), a.State, a.Host, a.Started.Format(time.RFC3339Nano), a.TookMS, a.Manual, exit, a.Error)
}

// key names an attempt within its job.
func (a attempt) key() string { return fmt.Sprint(a.Tick.UnixMicro(), "/", a.Attempt) }

// read reads the histories of all jobs, and adds what is new. The nodes keep a part of a history only, so the test reads
// them again and again. An attempt that has ended must not change, except that it loses its output and most of its error.
func (f *hourFleet) read() {
	for _, name := range slices.Sorted(maps.Keys(hourSteps)) {
		jobs, err := f.jobs(name, "--history")
		if err != nil {
			continue // too few nodes answered; the next reading has these attempts, too
		}
		f.mu.Lock()
		known := f.history[name]
		if known == nil {
			known = map[string]attempt{}
			f.history[name] = known
		}
		for _, a := range jobs[name].History {
			was, seen := known[a.key()]
			if seen && (was.State != a.State || was.Host != a.Host || was.Manual != a.Manual || was.Started.UnixMicro() != a.Started.UnixMicro()) {
				f.wrong = append(f.wrong, change{name, was, a})
			}
			if !seen || was.Output == "" || was.State != a.State {
				known[a.key()] = a
			}
		}
		f.mu.Unlock()
	}
}

// attempts returns all attempts of a job that were read, in their order.
func (f *hourFleet) attempts(name string) []attempt {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.SortedFunc(maps.Values(f.history[name]), func(a, b attempt) int {
		if c := a.Tick.Compare(b.Tick); c != 0 {
			return c
		}
		return a.Attempt - b.Attempt
	})
}

// requests counts what an operator asked for.
type requests struct {
	accepted int // jobs run said that the nodes have the request
	unknown  int // too few nodes answered
}

// ask makes the fleet run the job asked.
func (f *hourFleet) ask(asked *requests) {
	f.t.Helper()
	_, errs, code := f.run("jobs", "run", "--wait", "30s", "--note", "by hand", "asked")
	switch {
	case code == 0, code == 1, code == 75 && strings.Contains(errs, "no machine began"):
		asked.accepted++
	case code == 75: // an earlier request waits
	default:
		asked.unknown++
	}
	if code != 0 {
		f.t.Logf("jobs run asked: exit code %d: %s", code, errs)
	}
}

// leave deploys a file without the job leaving. The job is then retired: it has no metrics, is not shown, and never runs
// again. Its history is compared now, because the nodes may forget it in their restarts.
func (f *hourFleet) leave() {
	f.t.Helper()
	f.write("jobs", hourTab)
	for _, in := range f.machines {
		before := strings.Count(in.said(), "jobs of ")
		_ = in.cmd.Process.Signal(syscall.SIGHUP)
		redistest.Eventually(f.t, time.Minute, in.name+" to read the file", func() bool { return strings.Count(in.said(), "jobs of ") > before })
	}
	var all map[string]shown
	redistest.Eventually(f.t, 2*time.Minute, "the job to be retired", func() (ok bool) {
		all, _ = f.jobs("--all")
		return all["leaving"].Retired != nil
	})
	f.read()
	f.judge("leaving", all["leaving"])
}
