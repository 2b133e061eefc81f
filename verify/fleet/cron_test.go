package fleet

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/parentdeath"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// cronSlack is how far the token of a run may be off the nodes' time.
const cronSlack = 200 * time.Millisecond

// crontab has a job for each policy. The last one runs a tick again if its machine dies.
const crontab = `
every %[1]s  skip   [missed=skip grace=%[2]s]    ./work
every %[1]s  once   [missed=once]                ./work
every %[1]s  all    [missed=all]                 ./work
every %[1]s  retry  [missed=all on-crash=retry]  ./work
`

var cronJobs = []string{"skip", "once", "all", "retry"}

// work is the command of each job.
const work = `#!/bin/sh
echo "begin $HOLDFAST_NAME $HOLDFAST_TICK $HOLDFAST_FENCE $MACHINE" >>runs
sleep 0.1
echo "end $HOLDFAST_NAME $HOLDFAST_TICK $HOLDFAST_FENCE $MACHINE" >>runs
`

// cronLine is one line that a command wrote.
type cronLine struct {
	what, job, machine string
	tick               int64
	fence              time.Time // by the nodes' clocks: when the lock was taken
}

// outage is a time in which no machine runs.
type outage struct{ down, up time.Time }

// ending is the end of a machine by a signal.
type ending struct {
	machine string
	at      time.Time
}

// cronFleet is three machines that run holdfast cron with one file.
type cronFleet struct {
	t        *testing.T
	every    time.Duration // the interval of each job. Half of it is the grace of the one that skips
	dir      string
	binary   string
	env      []string
	machines [3]*exec.Cmd
	started  [3]time.Time // by machine
	ended    int          // machines that were killed or asked to end
	endings  []ending
	outages  []outage

	mu     sync.Mutex
	stalls []ending // the times at which this computer went on after it stood still: all machines may lose their locks
}

// watch notes when this computer stands still.
func (f *cronFleet) watch() {
	const beat = 50 * time.Millisecond
	for last := time.Now(); f.t.Context().Err() == nil; time.Sleep(beat) {
		now := time.Now()
		if now.Sub(last) > shortTTL/4 {
			f.mu.Lock()
			f.stalls = append(f.stalls, ending{"", now})
			f.mu.Unlock()
		}
		last = now
	}
}

func newCronFleet(t *testing.T) *cronFleet {
	t.Helper()
	f := &cronFleet{t: t, every: time.Second, dir: t.TempDir()}
	if *cronFlag > time.Minute {
		f.every = 2 * time.Second // a busy machine then leaves fewer ticks out
	}
	f.binary = filepath.Join(f.dir, "holdfast")
	if out, err := exec.Command("go", "build", "-o", f.binary, "github.com/holdfast-go/holdfast/cmd/holdfast").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	for name, text := range map[string]string{"jobs": fmt.Sprintf(crontab, f.every, f.every/2), "work": work, "runs": ""} {
		if err := os.WriteFile(filepath.Join(f.dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	_, urls := votingNodes(t, shortTTL, 0, 0, 0)
	f.env = append(os.Environ(), "HOLDFAST_NODES="+strings.Join(urls, ","), "HOLDFAST_MAX_TTL=2s", "HOLDFAST_WINDOW=200ms", "HOLDFAST_CLUSTER=fleet")
	go f.watch()
	for i := range f.machines {
		f.start(i)
	}
	return f
}

func (f *cronFleet) start(i int) {
	f.t.Helper()
	cmd := exec.Command(f.binary, "cron", "--quiet", "--grace", "1s", "jobs")
	cmd.Dir, cmd.Env = f.dir, append(slices.Clip(f.env), fmt.Sprint("MACHINE=m", i))
	cmd.Stderr = os.Stderr
	if err := parentdeath.Start(cmd); err != nil {
		f.t.Fatal(err)
	}
	f.machines[i], f.started[i] = cmd, time.Now()
	f.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
}

// end ends a machine by a signal. Its commands end with it.
func (f *cronFleet) end(i int, s syscall.Signal) {
	f.t.Helper()
	starts := time.Since(f.started[i]) < 3*time.Second // it may not handle TERM yet
	f.endings = append(f.endings, ending{fmt.Sprint("m", i), time.Now()})
	_ = f.machines[i].Process.Signal(s)
	if err := f.machines[i].Wait(); s == syscall.SIGTERM && err != nil && !(starts && err.Error() == "signal: terminated") {
		f.t.Errorf("after TERM a machine ended with %v", err)
	}
	f.ended++
}

func (f *cronFleet) lines() (all []cronLine) {
	f.t.Helper()
	text, err := os.ReadFile(filepath.Join(f.dir, "runs"))
	if err != nil {
		f.t.Fatal(err)
	}
	for row := range bytes.Lines(text) {
		w := strings.Fields(string(row))
		if len(w) != 5 {
			f.t.Fatalf("a command wrote %q", row)
		}
		tick, err := time.Parse(time.RFC3339, w[2])
		fence, ferr := strconv.ParseInt(w[3], 10, 64)
		if err != nil || ferr != nil {
			f.t.Fatalf("a command wrote %q", row)
		}
		all = append(all, cronLine{w[0], w[1], w[4], tick.Unix(), time.UnixMicro(fence)})
	}
	return all
}

// awaits waits until is is true for n lines after the first seen lines.
func (f *cronFleet) awaits(seen, n int, what string, is func(cronLine) bool) {
	f.t.Helper()
	redistest.Eventually(f.t, 90*time.Second, what, func() bool {
		found := 0
		for _, l := range f.lines()[seen:] {
			if is(l) {
				found++
			}
		}
		return found >= n
	})
}

// restart ends one machine, while it runs a command or soon after, and starts it again after some runs of the others.
func (f *cronFleet) restart(i int, s syscall.Signal) {
	f.t.Helper()
	machine := fmt.Sprint("m", i)
	others := 0
	for others < 9 {
		seen := len(f.lines())
		f.awaits(seen, 1, "a run", func(l cronLine) bool { return l.what == "begin" })
		if last := f.lines(); last[len(last)-1].what == "begin" && last[len(last)-1].machine == machine {
			break
		}
		others++
	}
	f.end(i, s)
	seen := len(f.lines())
	f.awaits(seen, 2, "runs of other machines", func(l cronLine) bool { return l.what == "begin" && l.job == "all" && l.machine != machine })
	f.start(i)
}

// outage ends all machines for two ticks. They start again in the middle between two ticks, and run the missed ticks.
func (f *cronFleet) outage() {
	f.t.Helper()
	for i := range f.machines {
		f.end(i, syscall.SIGKILL)
	}
	down := time.Now()
	middle := down.Truncate(f.every).Add(2*f.every + f.every*3/4)
	redistest.Eventually(f.t, time.Minute, "the end of the outage", func() bool { return !time.Now().Before(middle) })
	up := time.Now()
	f.outages = append(f.outages, outage{down, up})
	seen := len(f.lines())
	for i := range f.machines {
		f.start(i)
	}
	after := up.Truncate(f.every).Unix()
	for _, job := range cronJobs {
		f.awaits(seen, 1, "a run of "+job+" after the outage", func(l cronLine) bool { return l.what == "end" && l.job == job && l.tick >= after })
	}
}

// Three machines run one cron file. They are killed or ended in turn, and start again. At times all of them are away.
// No tick runs twice, except that retry runs a tick again until one run has ended. The policy of each job decides about
// the ticks that were missed.
func TestMachinesOfCronAreKilledInTurn(t *testing.T) {
	t.Parallel()
	f := newCronFleet(t)
	f.awaits(0, 3, "the first runs", func(l cronLine) bool { return l.what == "end" })
	for end, round := time.Now().Add(*cronFlag), 0; time.Now().Before(end) || round < 1; round++ {
		f.restart(round%3, []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM}[round%2])
		if round%3 == 0 {
			f.outage()
		}
	}
	for i := range f.machines {
		f.end(i, syscall.SIGTERM)
	}
	all := f.lines()
	for _, job := range cronJobs {
		f.judge(job, slices.DeleteFunc(slices.Clone(all), func(l cronLine) bool { return l.job != job }))
	}
}

// endedBetween reports whether the machine of a run ended before the next run of its tick began.
func (f *cronFleet) endedBetween(run, next cronLine) bool {
	return slices.ContainsFunc(f.endings, func(e ending) bool {
		return e.machine == run.machine && e.at.After(run.fence) && e.at.Before(next.fence)
	})
}

// untaken reports whether a machine that ended, or stood still, may have had the lock of this run's job when its tick came,
// and may not have taken the tick. Grace does not count then.
func (f *cronFleet) untaken(l cronLine) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(slices.Concat(f.endings, f.stalls), func(e ending) bool {
		return e.machine != l.machine && l.fence.After(e.at) && l.fence.Sub(e.at) < shortTTL+time.Second && time.Unix(l.tick, 0).Before(e.at.Add(shortTTL))
	})
}

// judge compares the runs of one job with its policy.
func (f *cronFleet) judge(job string, all []cronLine) {
	f.t.Helper()
	step, grace := int64(f.every/time.Second), f.every/2
	began, done, byMachine := map[int64]int{}, map[int64]int{}, map[string]int{}
	ticks, runs, again, missing, undone, late := 0, 0, 0, 0, 0, 0
	last := all[0].tick
	before := map[int64]cronLine{} // the last run of a tick
	for _, l := range all {
		if l.what != "begin" {
			done[l.tick]++
			continue
		}
		if was, again := before[l.tick]; again && job == "retry" && !f.endedBetween(was, l) {
			f.t.Errorf("retry: %s ran the tick %d again, and %s, which ran it before, had not ended", l.machine, l.tick, was.machine)
		}
		before[l.tick] = l
		began[l.tick]++
		byMachine[l.machine]++
		last = max(last, l.tick)
		delay := l.fence.Sub(time.Unix(l.tick, 0))
		if delay > grace {
			late++
		}
		if most := map[string]time.Duration{"skip": grace, "once": f.every}[job]; most > 0 && delay > most+cronSlack && !f.untaken(l) {
			f.t.Errorf("%s: the tick %d began %s late; at most %s is allowed", job, l.tick, delay, most)
		}
	}
	for tick := all[0].tick; tick <= last; tick += step {
		ticks++
		runs += began[tick]
		again += max(0, began[tick]-1)
		if began[tick] == 0 {
			missing++
		} else if done[tick] == 0 && tick < last {
			undone++
		}
	}
	f.t.Logf("%s: %d ticks, %d runs, %d of them again, %d ticks without a run, %d began and did not end, %d runs began more than %s late; %d machines killed or ended, %d outages; by machine %v",
		job, ticks, runs, again, missing, undone, late, grace, f.ended, len(f.outages), byMachine)
	switch retry := job == "retry"; {
	case !retry && again > 0:
		f.t.Errorf("%s: %d runs of a tick that began before", job, again)
	case retry && missing+undone > 0:
		f.t.Errorf("retry: %d ticks did not run, %d did not end", missing, undone)
	}
	// A machine that is killed after it took a tick, and before the command wrote its line, leaves a tick without a
	// run.
	if job == "all" && missing > f.ended {
		f.t.Errorf("all: %d ticks did not run, and %d machines ended", missing, f.ended)
	}
	if undone > f.ended {
		f.t.Errorf("%s: %d runs did not end, and %d machines ended", job, undone, f.ended)
	}
	if len(byMachine) < len(f.machines) && ticks > 100 {
		f.t.Errorf("%s: only these machines ran it: %v", job, byMachine)
	}
	for _, o := range f.outages {
		present := o.up.Truncate(f.every).Unix() // the last tick before the machines came back
		for tick := o.down.Truncate(f.every).Unix() + step; tick < present; tick += step {
			n := began[tick]
			if job == "retry" {
				n = min(n, 1) // see endedBetween
			}
			want := map[string]int{"all": 1, "retry": 1}[job]
			if want == 0 && n == 1 && tick == o.down.Truncate(f.every).Unix()+step {
				continue // a machine that came back met the lock of one that died before it took this tick
			}
			if n != want {
				f.t.Errorf("%s: the tick %d in an outage ran %d times, want %d", job, tick, n, want)
			}
		}
		if n := began[present]; job == "all" && n != 1 || job == "retry" && n == 0 {
			f.t.Errorf("%s: the last tick of an outage, %d, ran %d times", job, present, n)
		}
	}
	if job == "once" && len(f.outages) > 10 && late == 0 {
		f.t.Errorf("once: no run began late, after %d outages", len(f.outages))
	}
}
