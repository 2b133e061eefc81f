package job_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/job"
)

// A removed job begins again in a process that still has it, at its next tick. A job that a process no longer has is
// retired, until its next run.
func TestARemovedJobBeginsAgainAtItsNextTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, l := newFleet(t, 3), newLedger()
		p := f.start(job.Spec{Name: "x", Schedule: "every 1m", Missed: job.MissedAll}, func(_ *process, _ context.Context, tick job.Tick) error {
			l.begins(tick)
			return nil
		})
		c, last := f.operator()
		defer c.Close()
		first := f.now().Truncate(time.Minute).Add(time.Minute)
		f.until(first.Add(10 * time.Second))
		f.must(job.Retire(t.Context(), c, "x", "not in jobs.tab"))
		f.must(job.Retire(t.Context(), c, "x", "not in jobs.tab"))
		if o := last(); o.Book.Retired == nil || o.Overdue(f.now().Add(time.Hour)) != 0 || audit(o) != "retire:not in jobs.tab" || o.State != job.Done {
			t.Errorf("%s, retired %+v, audit %s", o, o.Book.Retired, audit(o))
		}
		f.until(first.Add(70 * time.Second))
		if o := last(); o.Book.Retired != nil || l.runs != 2 {
			t.Errorf("after the next run: %+v, %d runs", o.Book.Retired, l.runs)
		}
		f.must(job.Pause(t.Context(), c, "x", ""))
		f.must(job.Remove(t.Context(), c, "x", "old"))
		o := last()
		if o.State != job.Removed || o.Book.Paused != nil || o.Tick.Before(first.Add(time.Minute)) || !o.Next.IsZero() || len(o.History()) != 2 {
			t.Errorf("the removed job is %s, paused %v, next %s, history %v", o, o.Book.Paused, o.Next, o.History())
		}
		f.until(first.Add(130 * time.Second))
		p.stop()
		f.ends.Wait()
		if len(l.order) != 3 || !l.order[2].Equal(first.Add(2*time.Minute)) {
			t.Errorf("the runs are %v", l.order)
		}
		if o := last(); o.State != job.Done || o.Book.Runs[job.Done] != 3 || len(o.History()) != 3 || audit(o) != "retire:not in jobs.tab pause: remove:old" {
			t.Errorf("%s: runs %v, history %v, audit %s", o, o.Book.Runs, o.History(), audit(o))
		}
		f.must(job.SetTick(t.Context(), c, "x", f.now()))
		if o := last(); o.State != job.Reset || o.Book.Runs[job.Done] != 3 || len(o.History()) != 3 || !strings.HasSuffix(audit(o), "remove:old reset:") {
			t.Errorf("after SetTick %s: runs %v, audit %s", o, o.Book.Runs, audit(o))
		}
	})
}

// An action waits for a run in progress. It says what is wrong with its arguments, and stores nothing then.
func TestActionsRefuseBadArguments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 1)
		c, last := f.operator()
		defer c.Close()
		actions := map[string]func(context.Context, *holdfast.Client, string, string) error{
			"Pause": job.Pause, "Resume": job.Resume, "Remove": job.Remove, "Retire": job.Retire,
		}
		for what, act := range actions {
			if err := act(t.Context(), c, "x", ""); !errors.Is(err, job.ErrNeverRan) || !strings.Contains(err.Error(), `job "x"`) {
				t.Errorf("%s of a job that never ran: %v", what, err)
			}
		}
		actions["Trigger"], actions["Cancel"] = job.Trigger, job.Cancel
		if ran, err := job.Once(t.Context(), c, "x", f.now(), func(context.Context, job.Tick) error { return nil }); !ran || err != nil {
			t.Fatal(err)
		}
		for what, act := range actions {
			for says, note := range map[string]string{
				"201 bytes; at most 200": strings.Repeat("n", 201), `bad note "a\nb"`: "a\nb", `bad note "\xff"`: "\xff",
			} {
				if err := act(t.Context(), c, "x", note); !errors.Is(err, job.ErrBadNote) || !strings.Contains(err.Error(), says) {
					t.Errorf("%s: %v; want %q", what, err, says)
				}
			}
			if err := act(nil, c, "x", ""); err == nil || !strings.Contains(err.Error(), what+": nil Context") {
				t.Errorf("%s without a context: %v", what, err)
			}
			turn, err := job.Spec{Name: "x"}.Begin(t.Context(), c, f.now())
			if err != nil {
				t.Fatal(err)
			}
			if err := act(turn.Context(), c, "x", ""); !errors.Is(err, holdfast.ErrReentrant) {
				t.Errorf("%s inside a run: %v", what, err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if err := act(ctx, c, "x", ""); !errors.Is(err, holdfast.ErrHeld) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s during a run: %v", what, err)
			}
			cancel()
			f.must(turn.End(nil))
		}
		if o := last(); len(o.Book.Audit) > 0 {
			t.Errorf("the audit is %s", audit(o))
		}
		f.must(job.SetTick(t.Context(), c, "x", f.now().Add(time.Hour)))
		if err := job.Trigger(t.Context(), c, "x", ""); !errors.Is(err, job.ErrFuture) {
			t.Errorf("a request while the last tick is in the future: %v", err)
		}
		for i := range 2 * job.MostAudit {
			f.must(job.Pause(t.Context(), c, "x", fmt.Sprint(i)))
		}
		if o := last(); len(o.Book.Audit) != job.MostAudit || o.Book.Audit[0].Note != "39" || o.Book.Paused.Note != "39" {
			t.Errorf("%d actions, the first is %+v", len(o.Book.Audit), o.Book.Audit[0])
		}
	})
}
