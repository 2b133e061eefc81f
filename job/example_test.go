package job_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/holdfast-go/holdfast/job"
)

// Every process of the fleet runs this program. Each tick runs on one of them.
func ExampleRun() {
	client := connect()
	defer client.Close()
	ctx := context.Background() // ends when the process must end at once
	// The last run was days ago, because all machines were down. MissedOnce makes one run for all of these ticks.
	if err := job.SetTick(ctx, client, "nightly-report", time.Now().Add(-99*time.Hour)); err != nil {
		log.Fatal(err)
	}

	drain := make(chan struct{})
	err := job.Run(ctx, client, job.Spec{
		Name:     "nightly-report",
		Schedule: "CRON_TZ=Europe/Berlin 30 2 * * *",
		Missed:   job.MissedOnce,
		Timeout:  2 * time.Hour,
		Drain:    drain,
	}, func(ctx context.Context, tick job.Tick) error {
		fmt.Println("a report also for missed ticks:", tick.Missed > 0)
		close(drain)     // in a program: when the process is asked to end
		return ctx.Err() // the work stops when ctx ends: then the lock is lost
	})
	if err != nil {
		log.Print(err)
	}
	// Output: a report also for missed ticks: true
}

// A scheduler starts this program on every machine. TickAt is the same tick on all of them.
func ExampleOnce() {
	client := connect()
	defer client.Close()
	ctx := context.Background()
	schedule, err := job.ParseSchedule("every 24h")
	if err != nil {
		log.Fatal(err)
	}

	for range 2 { // two machines
		tick, err := job.TickAt(ctx, client, schedule)
		if err != nil {
			log.Fatal(err)
		}
		ran, err := job.Once(ctx, client, "report", tick, func(ctx context.Context, tick job.Tick) error {
			return ctx.Err() // … the report of tick.Time
		})
		fmt.Println(ran, err)
	}
	// Output:
	// true <nil>
	// false <nil>
}

// The method Once has the settings of a Spec.
func ExampleSpec_Once() {
	client := connect()
	defer client.Close()

	spec := job.Spec{Name: "report", Timeout: time.Hour, OnOutcome: func(o job.Outcome) { fmt.Println(o.State, "on", o.Host) }}
	ran, err := spec.Once(context.Background(), client, time.Now().Truncate(time.Hour), func(ctx context.Context, tick job.Tick) error {
		return ctx.Err()
	})
	fmt.Println(ran, err)
	// Output:
	// done on web-3
	// true <nil>
}

// A scheduler of another library calls one function before a run and another one after it.
func ExampleSpec_Begin() {
	client := connect()
	defer client.Close()
	ctx := context.Background()
	spec, tick := job.Spec{Name: "report"}, time.Now().Truncate(time.Hour)

	turn, err := spec.Begin(ctx, client, tick) // it waits for the run of an earlier tick
	if err != nil {
		log.Fatal(err)
	}
	result := turn.Context().Err() // … the work
	if err := turn.End(result); err != nil {
		log.Print(err)
	}

	_, err = spec.BeginWithin(ctx, client, tick, time.Second)
	var taken *job.TakenError
	if errors.As(err, &taken) {
		fmt.Println("taken by", taken.Last.Host, "-", taken.Last.State)
	}
	// Output: taken by web-3 - done
}

// Last and List show what ran, for people.
func ExampleList() {
	client := connect()
	defer client.Close()
	ctx, tick := context.Background(), time.Now().Truncate(time.Hour)
	_, err := job.Once(ctx, client, "report", tick, func(context.Context, job.Tick) error { return errors.New("the disk is full") })
	if err != nil {
		log.Print(err)
	}

	jobs, err := job.List(ctx, client)
	if err != nil {
		log.Print(err) // some values are missing in the list
	}
	for name, o := range jobs {
		fmt.Println(name, o.State, o.Error)
	}
	last, err := job.Last(ctx, client, "report")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(last.Tick.Equal(tick))
	// Output:
	// report failed the disk is full
	// true
}

// Another scheduler starts a run, by the clock of its machine. The run belongs to the tick that is nearest by the
// nodes' clocks.
func ExampleTickNear() {
	client := connect()
	defer client.Close()
	schedule, err := job.ParseSchedule("every 15m")
	if err != nil {
		log.Fatal(err)
	}

	tick, err := job.TickNear(context.Background(), client, schedule)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("a multiple of 15 min:", tick.Equal(tick.Truncate(15*time.Minute)))
	// Output: a multiple of 15 min: true
}

// The end of the process interrupts a run. With CrashRetry another process repeats it.
func ExampleFunc_Until() {
	client := connect()
	defer client.Close()
	stop, terminate := context.WithCancel(context.Background()) // ends at SIGTERM: signal.NotifyContext

	work := job.Func(func(ctx context.Context, tick job.Tick) error {
		terminate()
		<-ctx.Done()
		return ctx.Err()
	})
	spec := job.Spec{Name: "report", OnCrash: job.CrashRetry}
	_, err := spec.Once(context.Background(), client, time.Now().Truncate(time.Hour), work.Until(stop))
	fmt.Println(errors.Is(err, job.ErrInterrupted))
	// Output: true
}

// A schedule finds its ticks without nodes.
func ExampleParseSchedule() {
	s, err := job.ParseSchedule("CRON_TZ=Europe/Berlin 30 2 * * *")
	if err != nil {
		log.Fatal(err)
	}
	tick := time.Date(2026, 3, 27, 12, 0, 0, 0, time.UTC)
	for range 3 {
		tick = s.Next(tick)
		fmt.Println(tick)
	}
	// Output:
	// 2026-03-28 01:30:00 +0000 UTC
	// 2026-03-29 01:30:00 +0000 UTC
	// 2026-03-30 00:30:00 +0000 UTC
}

// An operator stops a job for a while. The history says how its runs ended.
func ExamplePause() {
	client := connect()
	defer client.Close()
	ctx, noon := context.Background(), time.Now().Truncate(time.Hour)
	backup := func(ctx context.Context, tick job.Tick) error {
		two := 2
		job.SetResult(ctx, job.Result{Exit: &two, Output: "no space left on device"})
		return errors.New("exit status 2")
	}
	if _, err := job.Once(ctx, client, "backup", noon.Add(-time.Hour), backup); err != nil {
		fmt.Println(err)
	}

	if err := job.Pause(ctx, client, "backup", "a new disk comes at 3"); err != nil {
		log.Fatal(err)
	}
	ran, err := job.Once(ctx, client, "backup", noon, backup)
	fmt.Println("ran while paused:", ran, err)
	if err := job.Resume(ctx, client, "backup", ""); err != nil {
		log.Fatal(err)
	}

	last, err := job.Last(ctx, client, "backup")
	if err != nil {
		log.Fatal(err)
	}
	for _, run := range last.History() {
		fmt.Println(run.State, *run.Exit, run.Output)
	}
	for _, action := range last.Book.Audit {
		fmt.Printf("%s %q\n", action.What, action.Note)
	}
	// Output:
	// exit status 2
	// ran while paused: false <nil>
	// failed 2 no space left on device
	// resume ""
	// pause "a new disk comes at 3"
}

// An operator asks for a run, also of a job that never ran. A process in which Run runs the job begins it within ten
// seconds.
func ExampleTrigger() {
	client := connect()
	defer client.Close()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	if err := job.Trigger(ctx, client, "import", "a new file came"); err != nil {
		log.Fatal(err)
	}

	_ = job.Run(ctx, client, job.Spec{Name: "import", Schedule: "@yearly"}, func(_ context.Context, tick job.Tick) error {
		fmt.Println("manual:", tick.Manual)
		stop()
		return nil
	})
	// Output: manual: true
}

// An operator asks for a run, and then withdraws the request.
func ExampleCancel() {
	client := connect()
	defer client.Close()
	ctx := context.Background()
	if err := job.Trigger(ctx, client, "export", "a new file came"); err != nil {
		log.Fatal(err)
	}

	fmt.Println(job.Cancel(ctx, client, "export", "it was the wrong file"))
	fmt.Println(errors.Is(job.Cancel(ctx, client, "export", ""), job.ErrNotAsked))
	// Output:
	// <nil>
	// true
}

// A file of jobs has a job no longer. A monitor then does not wait for its next run.
func ExampleRetire() {
	client := connect()
	defer client.Close()
	ctx := context.Background()
	if err := job.SetTick(ctx, client, "old", time.Now()); err != nil {
		log.Fatal(err)
	}

	if err := job.Retire(ctx, client, "old", "not in jobs.tab any more"); err != nil {
		log.Fatal(err)
	}
	last, err := job.Last(ctx, client, "old")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(last.Book.Retired.Note)

	if err := job.Remove(ctx, client, "old", ""); err != nil { // lists leave it out then
		log.Fatal(err)
	}
	if last, err = job.Last(ctx, client, "old"); err != nil {
		log.Fatal(err)
	}
	fmt.Println(last.State)
	// Output:
	// not in jobs.tab any more
	// removed
}
