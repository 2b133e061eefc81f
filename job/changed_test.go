package job_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/job/jobmetrics"
)

// offsets returns the ticks of a ledger, from first on.
func (l *ledger) offsets(first time.Time) (all []time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, tick := range l.order {
		all = append(all, tick.Sub(first))
	}
	return all
}

// A job gets a denser schedule. Its ticks until then never were: none runs, and none is missed.
func TestTicksBeforeAChangeOfTheScheduleDoNotRun(t *testing.T) {
	for _, missed := range []job.Missed{job.MissedSkip, job.MissedOnce, job.MissedAll} {
		t.Run(string(missed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, l := newFleet(t, 3), newLedger()
				first := f.now().Truncate(time.Hour).Add(time.Hour)
				work := func(_ *process, _ context.Context, tick job.Tick) error { l.begins(tick); return nil }
				p := f.start(job.Spec{Name: "x", Schedule: "every 1h", Missed: missed}, work)
				c, last := f.operator()
				defer c.Close()
				f.until(first.Add(32 * time.Minute))
				f.stopAll([]*process{p})
				p = f.start(job.Spec{Name: "x", Schedule: "every 5m", Missed: missed}, work)
				f.until(first.Add(33 * time.Minute))
				if o := last(); !o.Next.Equal(first.Add(35*time.Minute)) || o.Schedule != "every 5m" {
					t.Errorf("after the change the next tick is %s, by %q", o.Next.Sub(first), o.Schedule)
				}
				f.until(first.Add(36 * time.Minute))
				f.stopAll([]*process{p})
				if got, want := l.offsets(first), []time.Duration{0, 35 * time.Minute}; !slices.Equal(got, want) {
					t.Errorf("the ticks are %v; want %v", got, want)
				}
				if n := last().Book.Missed; n != 0 {
					t.Errorf("%d ticks count as missed", n)
				}
			})
		})
	}
}

// A job gets a rarer schedule, or one with another time of day. It is not overdue before the first tick of this schedule,
// and no alert has a tick that never was. A machine that is not ready does this, too.
func TestAChangedScheduleIsNotOverdue(t *testing.T) {
	for _, c := range []struct {
		before, after string
		change, next  time.Duration // since the first tick
		ready         error
	}{
		{"every 5m", "every 3h", 7 * time.Minute, 3 * time.Hour, nil},
		{"every 5m", "every 3h", 7 * time.Minute, 3 * time.Hour, errors.New("no disk")},
		{"0 */3 * * *", "30 1-23/3 * * *", 100 * time.Minute, 270 * time.Minute, nil}, // its tick at 1:30 is over
	} {
		t.Run(fmt.Sprint(c.after, c.ready), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, 3)
				a := newAlerts(f, 3*time.Hour)
				nothing := func(*process, context.Context, job.Tick) error { return nil }
				f.until(a.first.Add(-time.Minute))
				p := f.start(job.Spec{Name: "x", Schedule: c.before, OnAlert: a.add}, nothing)
				client, last := f.operator()
				defer client.Close()
				f.until(a.first.Add(c.change))
				f.stopAll([]*process{p})
				p = f.start(job.Spec{Name: "x", Schedule: c.after, OnAlert: a.add, Ready: func() error { return c.ready }}, nothing)
				for _, at := range []time.Duration{c.change + time.Minute, c.next - 5*time.Second} {
					f.until(a.first.Add(at))
					o := last()
					j, _ := jobmetrics.Of("", "x", *o, f.now())
					if o.Overdue(f.now()) != 0 || j.Overdue != 0 || !o.Next.Equal(a.first.Add(c.next)) {
						t.Errorf("%s after the first tick it is overdue by %s; next %s", at, o.Overdue(f.now()), o.Next.Sub(a.first))
					}
				}
				f.stopAll([]*process{p})
				a.are()
			})
		})
	}
}

// A fleet gets a new schedule, one machine after the other. For a while both versions take ticks. No tick of either
// version is lost or runs twice, whichever version stored the last outcome, and no version runs ticks before its start.
func TestTwoVersionsOfAScheduleLoseNoTick(t *testing.T) {
	for _, missed := range []job.Missed{job.MissedSkip, job.MissedOnce, job.MissedAll} {
		t.Run(string(missed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, l := newFleet(t, 3), newLedger()
				a := newAlerts(f, time.Hour)
				work := func(_ *process, _ context.Context, tick job.Tick) error { l.begins(tick); return nil }
				older := job.Spec{Name: "x", Schedule: "3-59/6 * * * *", Missed: missed, OnAlert: a.add} // :03, :09, :15
				newer := older
				newer.Schedule = "*/4 * * * *" // :00, :04, :08
				f.until(a.first.Add(time.Minute))
				all := []*process{f.start(older, work), f.start(older, work)}
				f.until(a.first.Add(13 * time.Minute)) // ticks :03 and :09
				all = append(all, f.start(newer, work))
				f.until(a.first.Add(22 * time.Minute))
				all[0].stop()
				all = append(all, f.start(newer, work))
				f.until(a.first.Add(34 * time.Minute))
				all[1].stop() // the older version is gone
				f.until(a.first.Add(49 * time.Minute))
				f.stopAll(all)
				var want []time.Duration
				for m := range 49 {
					if m < 34 && m%6 == 3 || m > 13 && m%4 == 0 {
						want = append(want, time.Duration(m)*time.Minute)
					}
				}
				if got := l.offsets(a.first); !slices.Equal(got, want) {
					t.Errorf("the ticks are %v; want %v", got, want)
				}
				a.are()
			})
		})
	}
}

// A process with a new schedule starts at a tick of the older one, and gets the lock before the process that waits for
// this tick. It stores its schedule, and the tick runs nevertheless.
func TestANewVersionDropsNoTickOfTheOlderOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, l := newFleet(t, 3), newLedger()
		first := f.now().Truncate(time.Hour).Add(time.Hour)
		work := func(_ *process, _ context.Context, tick job.Tick) error { l.begins(tick); return nil }
		older := job.Spec{Name: "x", Schedule: "every 5m", Jitter: 20 * time.Second}
		f.until(first.Add(-time.Minute))
		all := []*process{f.start(older, work)}
		c, last := f.operator()
		defer c.Close()
		adopted := 0
		f.until(first.Add(time.Minute))
		for range 6 { // the delay of a tick is up to 20 s
			first = first.Add(5 * time.Minute)
			f.until(first)
			p := f.start(job.Spec{Name: "x", Schedule: "7 7 7 7 *"}, work)
			f.until(first.Add(2 * time.Second))
			if last().Schedule == "7 7 7 7 *" {
				adopted++
			}
			f.until(first.Add(time.Minute))
			p.stop()
		}
		f.stopAll(all)
		if n := len(l.order); n != 7 || adopted < 2 {
			t.Errorf("%d of 7 ticks ran; %d times the new version came first", n, adopted)
		}
	})
}

// The last machine with another version of the schedule took the last tick, and is gone. A machine with this version
// stores its own next tick soon after the tick of the other one was due, so that the job is not overdue.
func TestAScheduleThatIsGoneIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		a := newAlerts(f, 2*time.Hour)
		nothing := func(*process, context.Context, job.Tick) error { return nil }
		f.until(a.first.Add(-time.Minute))
		rare := f.start(job.Spec{Name: "x", Schedule: "every 2h", OnAlert: a.add}, nothing)
		f.until(a.first.Add(time.Minute))
		dense := f.start(job.Spec{Name: "x", Schedule: "every 5m", OnAlert: a.add}, nothing)
		c, last := f.operator()
		defer c.Close()
		f.until(a.first.Add(7 * time.Minute))
		if o := last(); o.Schedule != "every 5m" {
			t.Errorf("the last tick is one of %q", o.Schedule)
		}
		dense.stop()
		f.until(a.first.Add(10*time.Minute + 55*time.Second))
		if o := last(); !o.Next.Equal(a.first.Add(2*time.Hour)) || o.Overdue(f.now()) != 0 {
			t.Errorf("overdue by %s; next %s", o.Overdue(f.now()), o.Next.Sub(a.first))
		}
		f.until(a.first.Add(20 * time.Minute))
		f.stopAll([]*process{rare})
		a.are()
	})
}

// A schedule changes in a restart across a tick that both schedules have. This tick runs.
func TestACommonTickOfTwoSchedulesRuns(t *testing.T) {
	for _, after := range []string{"every 10m", "every 2h"} {
		t.Run(after, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, l := newFleet(t, 3), newLedger()
				first := f.now().Truncate(2 * time.Hour).Add(2 * time.Hour)
				work := func(_ *process, _ context.Context, tick job.Tick) error { l.begins(tick); return nil }
				f.until(first.Add(-61 * time.Minute))
				p := f.start(job.Spec{Name: "x", Schedule: "every 1h"}, work)
				f.until(first.Add(-time.Second))
				f.stopAll([]*process{p})
				f.until(first.Add(5 * time.Second))
				p = f.start(job.Spec{Name: "x", Schedule: after}, work)
				f.until(first.Add(20 * time.Second))
				f.stopAll([]*process{p})
				if got, want := l.offsets(first), []time.Duration{-time.Hour, 0}; !slices.Equal(got, want) {
					t.Errorf("the ticks are %v; want %v", got, want)
				}
			})
		})
	}
}
