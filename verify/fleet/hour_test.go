//go:build linux

package fleet

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/leasetest"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// Three machines run holdfast cron for -fleet.hour. Jobs succeed, fail, fail once per tick, hang, lack their program, leave
// the file, are paused, and are asked for. Machines are deployed, killed and frozen, and nodes restart without their data.
// The counts, the histories, the metrics and the alerts agree with a book that the commands themselves write.
func TestAnHourOfCronIsInItsBook(t *testing.T) {
	t.Parallel()
	began := time.Now()
	f := newHourFleet(t)
	w := f.watch(hourRules(t, *hourFlag))
	nodes, err := rueidisnode.Open(f.servers[0].URL(), f.servers[1].URL(), f.servers[2].URL())
	if err != nil {
		t.Fatal(err)
	}
	operator, err := openNodes(nodes, 0, hourTTL)
	if err != nil {
		t.Fatal(err)
	}
	defer operator.Close()
	f.must("jobs", "--reset", "--new", "asked")
	for name, step := range hourSteps {
		redistest.Eventually(t, 2*time.Minute, "a run of "+name, func() bool { return step == 0 || len(f.runsOf(name)) > 0 })
	}
	reading, stop := context.WithCancel(t.Context())
	read := make(chan struct{})
	go func() {
		defer close(read)
		for look := time.NewTicker(8 * time.Second); ; {
			f.read()
			select {
			case <-look.C:
			case <-reading.Done():
				look.Stop()
				return
			}
		}
	}()
	defer func() { stop(); <-read }()

	seed := uint64(began.UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	quiet, between := time.Duration(0), 2 // the rule about hangs needs eleven minutes without a deploy
	if *hourFlag >= wholeHour {
		quiet, between = 14*time.Minute, 8
	}
	var asked requests
	done := map[string]int{}
	for round := 0; round < 4 || time.Since(began) < *hourFlag-quiet; round++ {
		what := []string{"kill", "freeze", "deploy", "node"}[round%4]
		done[what]++
		switch what {
		case "kill":
			i := f.busy(rng)
			f.kill(i)
			f.awaitsRuns("good", 2, "")
			f.start(i)
		case "freeze":
			i := f.busy(rng)
			pids := f.freeze(i)
			f.awaitsRuns("good", 3, f.machines[i].name)
			f.thaw(i, pids)
		case "deploy":
			for i := range f.machines {
				f.end(i)
				f.start(i)
			}
		case "node":
			f.restart(f.servers[rng.IntN(3)], func() bool { return leasetest.Vote(t.Context(), operator) }, &asked)
		}
		switch round {
		case 0:
			f.must("jobs", "pause", "--wait", "30s", "--note", "the archive is full", "resting")
		case 3:
			w.awaits(5*time.Minute, "HoldfastJobPaused", "resting")
			f.must("jobs", "resume", "--wait", "30s", "resting")
		case 2:
			f.leave()
		}
		f.ask(&asked)
		f.awaitsRuns("good", between, "")
	}
	w.awaits(30*time.Minute, "HoldfastJobNeverRan", "never")
	w.awaits(30*time.Minute, "HoldfastJobHung", "stuck")
	for _, name := range []string{"bad", "hung"} {
		w.awaits(5*time.Minute, "HoldfastJobFailed", name)
	}
	for _, name := range []string{"good", "flaky", "partly", "again", "asked"} { // the last crash is over
		redistest.Eventually(t, 5*time.Minute, "no alert about "+name, func() bool { return !w.fires("HoldfastJobFailed", name) })
	}
	for time.Since(began) < *hourFlag { // the rest of the hour is good
		f.awaitsRuns("good", 1, "")
	}
	w.judgeAlerts()
	f.finish(asked)
	t.Logf("%s, %d processes of cron, %v, %d requests", time.Since(began).Round(time.Second), len(f.all), done, asked.accepted)
}

// awaitsRuns waits until a job has begun n more times, on another process than that of this name.
func (f *hourFleet) awaitsRuns(name string, n int, besides string) {
	f.t.Helper()
	seen := len(f.runsOf(name))
	redistest.Eventually(f.t, 3*time.Minute, fmt.Sprint(n, " runs of ", name), func() bool {
		found := 0
		for _, r := range f.runsOf(name)[seen:] {
			if r.machine != besides {
				found++
			}
		}
		return found >= n
	})
}

// busy waits until a machine is in the middle of a run of a job that does not hang for ever, and returns the machine.
func (f *hourFleet) busy(rng *rand.Rand) (machine int) {
	f.t.Helper()
	present := func(r *bookRun) (i int, is bool) {
		i = slices.IndexFunc(f.machines[:], func(in *incarnation) bool { return in.name == r.machine })
		return i, i >= 0
	}
	redistest.Eventually(f.t, time.Minute, "a machine that runs a job", func() bool {
		var open []int
		for _, r := range f.book() {
			if i, is := present(r); is && r.end == 0 && r.job != "stuck" && (r.job != "hung" || rng.IntN(4) == 0) {
				open = append(open, i)
			}
		}
		if len(open) == 0 {
			return false
		}
		machine = open[rng.IntN(len(open))]
		return true
	})
	return machine
}

// restart restarts a node without its data. It returns when the node votes and has the outcome of each job again. A run
// that lasts keeps its outcome from the node, so the stuck job ends. The job that nobody runs is asked for.
func (f *hourFleet) restart(s *redistest.Server, vote func() bool, asked *requests) {
	f.t.Helper()
	s.Restart()
	f.unstick()
	redistest.Eventually(f.t, 3*time.Minute, "a restarted node to vote", vote)
	f.ask(asked)
	redistest.Eventually(f.t, 3*time.Minute, "a restarted node to know all jobs", func() bool {
		for name := range hourSteps {
			if name != "leaving" && s.MustDo(f.t, "EXISTS", "{"+name+"}:holdfast:value") != int64(1) {
				return false
			}
		}
		return true
	})
	f.stick()
}

func (f *hourFleet) unstick() { f.write("book.unstick", "") }

func (f *hourFleet) stick() { _ = os.Remove(filepath.Join(f.dir, "book.unstick")) }

// finish ends all runs by a pause of all jobs, compares what the product shows with the book, and ends the machines.
func (f *hourFleet) finish(asked requests) {
	f.t.Helper()
	f.unstick()
	f.awaitsRuns("stuck", 1, "")
	for name := range hourSteps {
		if name != "leaving" {
			f.must("jobs", "pause", "--wait", "30s", name)
		}
	}
	f.read()
	all, err := f.jobs()
	if err != nil {
		f.t.Fatal(err)
	}
	want := map[string]int{"never_ran never": 1}
	for name, j := range all {
		f.judge(name, j)
		for state, n := range j.Runs {
			want["runs_total "+name+" "+state] = n
		}
		want["retries_total "+name], want["missed_ticks_total "+name], want["paused "+name] = j.Retried, j.MissedTotal, 1
	}
	maps.DeleteFunc(want, func(_ string, n int) bool { return n == 0 })
	if len(all) != len(hourSteps)-1 {
		f.t.Errorf("holdfast jobs shows %v", slices.Sorted(maps.Keys(all)))
	}
	for i, in := range f.machines {
		var got map[string]int
		defer func() {
			if !maps.Equal(got, want) {
				f.t.Logf("%s has the metrics %v; want %v", in.name, got, want)
			}
		}()
		redistest.Eventually(f.t, time.Minute, "the counters at /metrics of "+in.name, func() bool { got = f.counters(i); return maps.Equal(got, want) })
	}
	manual := map[time.Time]bool{}
	for _, a := range f.attempts("asked") {
		if manual[a.Tick] = true; !a.Manual {
			f.t.Errorf("asked: nobody asked for %s", a)
		}
	}
	if n := len(manual); n < asked.accepted || n > asked.accepted+asked.unknown {
		f.t.Errorf("asked: %d runs for %d requests; of %d more it is not known", n, asked.accepted, asked.unknown)
	}
	if n := len(f.runsOf("leaving")); n != len(f.attempts("leaving")) {
		f.t.Errorf("leaving: the job ran after it was retired")
	}
	if n := len(f.runsOf("never")); n > 0 {
		f.t.Errorf("never: it ran %d times", n)
	}
	for _, c := range f.wrong {
		// Only a minority may have stored an outcome. The run counts as crashed until a holder of the lock reads it there.
		in := f.processOf(c.was.Host)
		if c.was.State != "crashed" || in == nil || !strings.Contains(in.said(), fmt.Sprintf("its outcome was not stored job=%q", c.name)) {
			f.t.Errorf("%s: an attempt was %s, and is %s", c.name, c.was, c.is)
		}
	}
	for i := range f.machines {
		f.end(i)
	}
}
