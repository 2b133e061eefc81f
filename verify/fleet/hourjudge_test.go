//go:build linux

package fleet

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// processOf returns the process of a host in a history, nil if it is none of the fleet.
func (f *hourFleet) processOf(host string) *incarnation {
	_, pid, _ := strings.Cut(host, "/")
	for _, in := range slices.Backward(f.all) { // the system may use a pid again
		if fmt.Sprint(in.cmd.Process.Pid) == pid {
			return in
		}
	}
	return nil
}

// clockSlack is how far the nodes' time and that of this machine may differ.
const clockSlack = time.Second

// explains reports whether the test, or a loss that the process itself reported, explains that attempt i did not end
// normally. What the test did must lie between the start of the attempt and that of the next one. The machine may be busy
// with other work, so a lock can be lost without the test.
func (in *incarnation) explains(name string, history []attempt, i int) bool {
	a := history[i]
	for _, c := range in.cuts {
		if c.makes == a.State && a.Started.Before(c.to.Add(clockSlack)) && (i+1 == len(history) || history[i+1].Started.After(c.from.Add(-clockSlack))) {
			return true
		}
	}
	for line := range strings.Lines(in.said()) {
		if a.State == "crashed" && strings.Contains(line, strconv.Quote(name)) && slices.ContainsFunc([]string{"lost", "not stored", "could not be taken"}, func(why string) bool { return strings.Contains(line, why) }) {
			return true
		}
	}
	return false
}

// totals are the numbers of a job: what a history gives, and what the product counts.
type totals struct {
	runs            map[string]int
	retried, missed int
}

// judge compares a job with the test's own book. All is exact, with these exceptions. An attempt that was cut may have no
// line in the book, because its machine ended after it took the tick and before the command began. A command that was
// killed writes no last line. The nodes drop old outputs of a job that prints much. A job that may run a tick again may
// begin although no node stored that.
//
// j is what holdfast jobs shows after the last run has ended.
func (f *hourFleet) judge(name string, j shown) {
	f.t.Helper()
	history, runs := f.attempts(name), f.runsOf(name)
	complain := func(format string, args ...any) { f.t.Errorf("%s: %s", name, fmt.Sprintf(format, args...)) }
	paired := pair(f, history, runs)
	unbegun := 0
	for i, a := range history {
		in, r := f.processOf(a.Host), paired[i]
		switch {
		case in == nil:
			complain("an attempt ran on %s, which is no machine: %s", a.Host, a)
			continue
		case r == nil && (a.State == "done" || a.State == "failed"):
			complain("the book has no run for %s", a)
			continue
		}
		if a.State == "crashed" || a.State == "interrupted" { // it may have been cut before its first line, or before its last
			if !in.explains(name, history, i) {
				complain("nothing explains that this attempt did not end normally: %s; %s said:\n%s", a, in.name, in.said())
			}
			if r == nil {
				unbegun++
			} else if a.State == "interrupted" && r.exit != nil && a.Exit != nil && *r.exit != *a.Exit {
				complain("the command ended with %d: %s", *r.exit, a)
			}
		} else if r.exit == nil || a.Exit == nil || *r.exit != *a.Exit || (a.State == "done") != (*r.exit == 0) {
			complain("the run in the book, %s, has another end than %s", r, a)
		}
		f.judgeOutput(name, a, r)
		f.judgeOrder(name, history, paired, i)
		if name == "partly" && in.machine != 1 {
			complain("a machine without the program ran it: %s", a)
		}
	}
	for _, r := range runs {
		// With on-crash=retry a run may begin although its beginning was not stored. The process says so.
		if in := f.named(r.machine); !r.found && !(name == "again" && strings.Contains(in.said(), "its beginning was not stored")) {
			complain("the history has no attempt for the run at %s on %s, pid %s", time.Unix(r.tick, 0).UTC(), r.machine, r.pid)
		}
	}
	want, got := tally(name, history, j), totals{j.Runs, j.Retried, j.MissedTotal}
	maps.DeleteFunc(got.runs, func(_ string, n int) bool { return n == 0 })
	if !maps.Equal(want.runs, got.runs) || want.retried != got.retried || want.missed != got.missed {
		complain("the nodes count %v, and the book has %v", got, want)
	}
	success, failure, found := lastEnds(history)
	if d := j.LastSuccess.Sub(success); d.Abs() > 2*time.Millisecond { // JSON has the durations of attempts in ms
		complain("the last success is at %s; want %s", j.LastSuccess, success)
	}
	if d := j.LastFailure; d.Before(failure.Add(-2*time.Millisecond)) || d.After(found.Add(clockSlack)) {
		complain("the last failure is at %s; want one from %s to %s", d, failure, found)
	}
	f.t.Logf("%-8s %4d attempts: %v, %d repeated, %d ticks missed; %d attempts were cut before the first line in the book", name, len(history), want.runs, want.retried, want.missed, unbegun)
}

func (f *hourFleet) named(name string) *incarnation {
	return f.all[slices.IndexFunc(f.all, func(in *incarnation) bool { return in.name == name })]
}

// pair returns the run in the book for each attempt, nil if there is none. The output of an attempt has the pid of its
// command. An attempt without output is the first run of its tick and its process that no other attempt has.
func pair(f *hourFleet, history []attempt, runs []*bookRun) []*bookRun {
	paired := make([]*bookRun, len(history))
	for _, byOutput := range []bool{true, false} {
		for i, a := range history {
			in := f.processOf(a.Host)
			for _, r := range runs {
				if in != nil && paired[i] == nil && !r.found && r.machine == in.name && r.tick == a.Tick.Unix() && (!byOutput || strings.HasSuffix(a.Output, "out "+r.pid+"\n")) {
					paired[i], r.found = r, true
				}
			}
		}
	}
	return paired
}

// judgeOutput compares the stored output. The job bad prints more than is stored: whole lines of the last 2,048 bytes are.
// So the nodes soon drop the outputs of its old attempts, perhaps before the test reads them.
func (f *hourFleet) judgeOutput(name string, a attempt, r *bookRun) {
	f.t.Helper()
	switch {
	case r == nil, a.Output == "" && (name == "bad" || a.State == "crashed" || a.State == "interrupted"):
	case name == "bad" && strings.HasSuffix(a.Output, "\nout "+r.pid+"\n") && len(a.Output) <= 2048 && (len(a.Output) > 1900 || a.State != "failed"):
	case a.Output != "out "+r.pid+"\n":
		f.t.Errorf("%s: the output of pid %s has %d bytes: %.200q", name, r.pid, len(a.Output), a.Output)
	}
}

// judgeOrder compares attempt i with the one before it: a tick runs again only where the job's options say so, and runs
// of a job do not overlap. A run that crashed may overlap with the next one: its machine was frozen.
func (f *hourFleet) judgeOrder(name string, history []attempt, paired []*bookRun, i int) {
	f.t.Helper()
	a := history[i]
	if i == 0 || !history[i-1].Tick.Equal(a.Tick) {
		if a.Attempt != 1 {
			f.t.Errorf("%s: the first attempt of a tick is %s", name, a)
		}
	} else {
		before := history[i-1]
		repeats := name == "flaky" && before.State == "failed" && before.Attempt <= 2 || name == "again" && (before.State == "crashed" || before.State == "interrupted")
		if !repeats || a.Attempt != before.Attempt+1 {
			f.t.Errorf("%s: %s ran again: %s", name, before, a)
		}
	}
	if i > 0 && paired[i] != nil && paired[i-1] != nil && history[i-1].State != "crashed" && paired[i-1].end > paired[i].begin {
		f.t.Errorf("%s: %s began before the end of %s", name, a, history[i-1])
	}
}

// tally returns the totals of a history. A tick between two attempts that nobody ran is a missed one, unless the job was
// paused: its ticks count again from the end of the pause.
func tally(name string, history []attempt, j shown) totals {
	sum := totals{runs: map[string]int{}}
	for i, a := range history {
		if i+1 < len(history) && history[i+1].Tick.Equal(a.Tick) {
			sum.retried++
			continue
		}
		sum.runs[a.State]++
		step := hourSteps[name]
		if step == 0 || i+1 == len(history) {
			continue
		}
		from, until := a.Tick, history[i+1].Tick
		for _, act := range j.Audit {
			if act.What == "resume" && act.At.After(from) && act.At.Before(until) {
				from = act.At
			}
		}
		for tick := from.Unix()/step*step + step; tick < until.Unix(); tick += step {
			sum.missed++
		}
	}
	return sum
}

// lastEnds returns the end of the last attempt that was done, and of the last one that failed or crashed and was not
// repeated. The time of a crash is when a process found it: after the start, and not after that of the next attempt.
func lastEnds(history []attempt) (success, failure, found time.Time) {
	for i, a := range history {
		end := a.Started.Add(time.Duration(a.TookMS) * time.Millisecond)
		switch repeated := i+1 < len(history) && history[i+1].Tick.Equal(a.Tick); {
		case a.State == "done":
			success = end
		case repeated:
		case a.State == "failed":
			failure, found = end, end
		case a.State == "crashed":
			if failure, found = a.Started, time.Now(); i+1 < len(history) {
				found = history[i+1].Started
			}
		}
	}
	return success, failure, found
}
