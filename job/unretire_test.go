package job_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/job"
)

// A job was retired while a process has it: a canary has another file, or the job came back. The process undoes this
// soon, also if it is not ready, and the ticks until then are not overdue.
func TestARetiredJobThatAProcessHasComesBack(t *testing.T) {
	for _, ready := range []error{nil, errors.New("no disk")} {
		synctest.Test(t, func(t *testing.T) {
			f, log := newFleet(t, 3), &records{}
			a := newAlerts(f, 24*time.Hour)
			spec := job.Spec{Name: "x", Schedule: "every 24h", OnAlert: a.add, Logger: log.logger()}
			nothing := func(*process, context.Context, job.Tick) error { return nil }
			p := f.start(spec, nothing)
			c, last := f.operator()
			defer c.Close()
			f.until(a.first.Add(time.Minute))
			f.must(job.Retire(t.Context(), c, "x", "a canary"))
			f.until(a.first.Add(time.Minute + 15*time.Second))
			if o := last(); o.Book.Retired != nil || !o.Next.Equal(a.first.Add(24*time.Hour)) {
				t.Errorf("a canary retired it: %+v, next %s", o.Book.Retired, o.Next)
			}
			f.stopAll([]*process{p})
			f.must(job.Retire(t.Context(), c, "x", "the file changed"))
			back := a.first.Add(5*24*time.Hour + time.Hour)
			f.until(back)
			if spec.Ready = nil; ready != nil {
				spec.Ready = func() error { return ready }
			}
			p = f.start(spec, nothing)
			f.until(back.Add(time.Minute))
			if o := last(); o.Book.Retired != nil || !o.Next.Equal(a.first.Add(6*24*time.Hour)) || o.Overdue(f.now()) != 0 {
				t.Errorf("the job came back: %+v, next %s", o.Book.Retired, o.Next)
			}
			a.are()
			if n := log.count("job is not retired any more"); n != 2 {
				t.Errorf("%d lines in the log", n)
			}
			if ready == nil {
				f.stopAll([]*process{p})
			}
			f.until(a.first.Add(6*24*time.Hour + 5*time.Minute))
			if o := last(); o.Overdue(f.now()).Round(time.Minute) != 5*time.Minute {
				t.Errorf("the next tick is overdue by %s", o.Overdue(f.now()))
			}
			if ready == nil {
				p = f.start(spec, nothing)
			}
			f.until(a.first.Add(6*24*time.Hour + 10*time.Minute))
			f.stopAll([]*process{p})
			a.are("overdue 144h0m0s")
		})
	}
}

// A retired job with a jitter comes back at its next tick, and not before the delay of that tick.
func TestARetiredJobKeepsItsJitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		first := f.now().Truncate(time.Hour).Add(time.Hour)
		var delays []time.Duration
		p := f.start(job.Spec{Name: "x", Schedule: "every 1h", Jitter: 50 * time.Second}, func(_ *process, _ context.Context, tick job.Tick) error {
			delays = append(delays, f.now().Sub(tick.Time).Round(time.Second))
			return nil
		})
		c, _ := f.operator()
		defer c.Close()
		f.until(first.Add(time.Minute))
		for i := range 10 {
			f.until(first.Add(time.Duration(i+1)*time.Hour - time.Second))
			f.must(job.Retire(t.Context(), c, "x", ""))
		}
		f.until(first.Add(10*time.Hour + time.Minute))
		f.stopAll([]*process{p})
		other := f.start(job.Spec{Name: "x", Schedule: "every 1h", Jitter: 50 * time.Second}, func(*process, context.Context, job.Tick) error { return nil })
		f.stopAll([]*process{other})
		spread := map[time.Duration]bool{}
		for _, d := range delays {
			spread[d] = true
		}
		if len(delays) != 11 || len(spread) < 6 {
			t.Errorf("the delays are %v", delays)
		}
	})
}

// A job was in no file for a while: a process retired it, or an operator removed it. It comes back between two ticks. No
// tick of its absence runs or counts as missed, and its next tick runs.
func TestAJobThatComesBackRunsNoTickOfItsAbsence(t *testing.T) {
	for _, missed := range []job.Missed{job.MissedSkip, job.MissedOnce, job.MissedAll} {
		for _, how := range []string{"retired", "removed", "retired, and another schedule"} {
			t.Run(string(missed)+" "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f, l := newFleet(t, 3), newLedger()
					a := newAlerts(f, time.Hour)
					f.until(a.first.Add(-time.Minute))
					spec := job.Spec{Name: "x", Schedule: "every 1h", Missed: missed, OnAlert: a.add}
					work := func(_ *process, _ context.Context, tick job.Tick) error { l.begins(tick); return nil }
					p := f.start(spec, work)
					c, last := f.operator()
					defer c.Close()
					f.until(a.first.Add(10 * time.Minute))
					f.stopAll([]*process{p})
					next := 8 * time.Hour
					switch how {
					case "retired":
						f.must(job.Retire(t.Context(), c, "x", "commented out"))
					case "removed":
						f.must(job.Remove(t.Context(), c, "x", ""))
					default:
						f.must(job.Retire(t.Context(), c, "x", ""))
						spec.Schedule, next = "every 20m", 7*time.Hour+40*time.Minute
					}
					f.until(a.first.Add(7*time.Hour + 20*time.Second)) // within the grace of a tick that nobody had
					p = f.start(spec, work)
					f.until(a.first.Add(7*time.Hour + 10*time.Minute))
					if o := last(); how != "removed" && (o.Book.Retired != nil || o.Overdue(f.now()) != 0) {
						t.Errorf("it came back: %+v, overdue by %s", o.Book.Retired, o.Overdue(f.now()))
					}
					f.stopAll([]*process{p})
					p = f.start(spec, work) // a restart between two ticks
					f.until(a.first.Add(7*time.Hour + 15*time.Minute))
					if how == "retired, and another schedule" {
						next = 7*time.Hour + 20*time.Minute
					}
					f.until(a.first.Add(next + time.Second))
					f.stopAll([]*process{p})
					if got, want := l.offsets(a.first), []time.Duration{0, next}; !slices.Equal(got, want) {
						t.Errorf("the ticks are %v; want %v", got, want)
					}
					if n := last().Book.Missed; n != 0 {
						t.Errorf("%d ticks of its absence count as missed", n)
					}
					a.are()
				})
			})
		}
	}
}

// A job is retired while a retry waits, and comes back after the retry was due. It is not overdue, and the retry does not
// run. A process that has the job all the time runs the retry.
func TestARetryOfARetiredJob(t *testing.T) {
	for _, canary := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f, l := newFleet(t, 3), newLedger()
			a := newAlerts(f, 3*time.Hour)
			f.until(a.first.Add(-time.Minute))
			spec := job.Spec{Name: "x", Schedule: "every 3h", Retries: 1, Backoff: 10 * time.Minute, OnAlert: a.add}
			work := func(_ *process, _ context.Context, tick job.Tick) error { l.begins(tick); return errors.New("no") }
			p := f.start(spec, work)
			c, last := f.operator()
			defer c.Close()
			f.until(a.first.Add(time.Minute))
			if !canary {
				f.stopAll([]*process{p})
			}
			f.must(job.Retire(t.Context(), c, "x", ""))
			f.until(a.first.Add(time.Hour))
			if !canary {
				p = f.start(spec, work)
			}
			f.until(a.first.Add(time.Hour + 2*time.Minute))
			o := last()
			if o.Overdue(f.now()) != 0 || o.Book.Retired != nil || o.Book.Runs[job.Failed] != 1 || !o.Retry.IsZero() {
				t.Errorf("canary %v: overdue by %s, retry %s, the runs are %v", canary, o.Overdue(f.now()), o.Retry, o.Book.Runs)
			}
			f.stopAll([]*process{p})
			if l.runs != map[bool]int{false: 1, true: 2}[canary] {
				t.Errorf("canary %v: %d attempts", canary, l.runs)
			}
			a.are("failed 0s")
		})
	}
}
