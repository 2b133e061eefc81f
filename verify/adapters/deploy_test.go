package check

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-co-op/gocron/v2"
	holdfastgocron "github.com/holdfast-go/holdfast/adapters/gocron"
	"github.com/holdfast-go/holdfast/adapters/robfigcron"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/job"
	"github.com/robfig/cron/v3"
)

// deployed are the ways to run a job in a process that gets TERM in a run. A process of a kind that ends in "closed"
// closes its client first, and then stops its scheduler.
var deployed = []string{"gocron", "gocron closed", "robfig", "robfig closed", "turn", "turn closed", "run", "run closed"}

// A process gets TERM in a run. It stops its scheduler and closes its client, or the other way round, and a new process
// begins. With retry, another process runs the tick again, at once. Neither process logs an error.
func TestADeployRepeatsTheRunThatItInterrupts(t *testing.T) {
	for _, kind := range deployed {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			a := newArena(t, "deploy "+kind, redistest.StartN(t, 1))
			a.every = 10 * time.Second
			a.start(threeApart(0), hold, 1)
			a.awaits(3, "process", func(l line) bool { return l.what == "ready" })
			if err := os.WriteFile(a.file+".hold", nil, 0o600); err != nil {
				t.Fatal(err)
			}
			first := a.awaits(1, "run", func(l line) bool { return l.text == "attempt 1, held" })
			redistest.Eventually(t, 90*time.Second, "two processes that wait for the end of the run", func() bool {
				return a.servers[0].MustDo(t, "ZCARD", "{job0}:holdfast:queue") == int64(2)
			})
			old := a.procs[first.label]
			delete(a.procs, first.label)
			if err := old.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			a.startOne("new", 0, hold, 1)
			if <-old.Gone; old.Err != nil { // a scheduler that does not end within 10 s is an error, too
				t.Errorf("after TERM: %v", old.Err)
			}
			again := a.awaits(1, "second run", func(l line) bool { return l.what == "begin" && l.tick == first.tick && l.label != first.label })
			if again.text != "attempt 2" {
				t.Errorf("the second run is %+v", again)
			}
			a.awaits(1, "end of the second run", func(l line) bool { return l.what == "end" && l.tick == first.tick && l.label == again.label })
			all := a.finish()
			for _, l := range all {
				if l.what == "log" {
					t.Errorf("%s logged %s", l.label, l.text)
				}
			}
			if runs := countRuns(all).byJob["job0"][first.tick]; runs != 2 {
				t.Errorf("the tick ran %d times", runs)
			}
		})
	}
}

// deploy runs a job. Once a file says so, each first attempt lasts until it is asked to end.
func (w *worker) deploy(ctx context.Context, kind string) error {
	kind, closed := strings.CutSuffix(kind, " closed")
	fn := func(ctx context.Context, tick job.Tick) error {
		text := fmt.Sprint("attempt ", tick.Attempt)
		if _, err := os.Stat(w.file.Name() + ".hold"); err == nil && tick.Attempt == 1 {
			w.write("begin", "job0", tick.Time, tick.Fence, text+", held")
			<-ctx.Done()
			return context.Cause(ctx)
		}
		w.write("begin", "job0", tick.Time, tick.Fence, text)
		w.write("end", "job0", tick.Time, tick.Fence, "")
		return nil
	}
	spec := job.Spec{Name: "job0", OnCrash: job.CrashRetry, Logger: slog.New(slog.NewTextHandler(errorsOf{w}, &slog.HandlerOptions{Level: slog.LevelError}))}
	schedule, err := job.ParseSchedule("every " + w.every.String())
	if err != nil {
		return err
	}
	// asked ends the runs, if the client is not closed first.
	asked, stop := context.WithCancel(context.Background())
	defer stop()
	w.write("ready", "job0", time.Time{}, 0, "")
	closes := func() {
		if closed {
			_ = w.client.Close()
		}
		stop()
	}
	switch kind {
	case "gocron":
		spec.Schedule = schedule.String()
		l, err := holdfastgocron.NewLocker(w.client, spec)
		if err != nil {
			return err
		}
		s, err := gocron.NewScheduler(gocron.WithDistributedLocker(l))
		if err != nil {
			return err
		}
		if _, err = l.NewJob(s, "job0", fn); err != nil {
			return err
		}
		s.Start()
		<-ctx.Done()
		closes()
		return s.Shutdown()
	case "robfig":
		wrapper, err := robfigcron.Wrapper(w.client, spec, schedule)
		if err != nil {
			return err
		}
		c := cron.New()
		c.Schedule(schedule, cron.NewChain(wrapper).Then(robfigcron.Func(job.Func(fn).Until(asked))))
		c.Start()
		<-ctx.Done()
		closes()
		<-c.Stop().Done()
	case "run":
		spec.Schedule = schedule.String()
		context.AfterFunc(ctx, closes)
		_ = job.Run(asked, w.client, spec, fn)
	case "turn":
		context.AfterFunc(ctx, closes)
		for ctx.Err() == nil {
			tick, err := job.TickNear(asked, w.client, schedule)
			if err != nil {
				continue
			}
			if t, err := spec.Begin(asked, w.client, tick); err == nil {
				_ = t.End(job.Func(fn).Until(asked)(t.Context(), t.Tick()))
			}
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
			}
		}
	}
	return nil
}

// errorsOf writes each record of a log into the file.
type errorsOf struct{ w *worker }

func (e errorsOf) Write(b []byte) (int, error) {
	e.w.write("log", "job0", time.Time{}, 0, strings.TrimSpace(string(b)))
	return len(b), nil
}
