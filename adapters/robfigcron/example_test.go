package robfigcron_test

import (
	"context"
	"fmt"
	"log"

	"github.com/holdfast-go/holdfast/adapters/robfigcron"
	"github.com/holdfast-go/holdfast/job"
	"github.com/robfig/cron/v3"
)

// Every process of the fleet runs this program. Each tick runs in one of them.
func ExampleAdd() {
	client := connect()
	defer client.Close()                                  // after the runs have ended, so that their results are stored
	ctx, stop := context.WithCancel(context.Background()) // ends at SIGTERM: signal.NotifyContext
	defer stop()
	report := job.Func(func(ctx context.Context, tick job.Tick) error {
		fmt.Println("a report with a token:", tick.Fence > 0)
		return ctx.Err() // the work stops when ctx ends: then the lock is lost
	})

	c := cron.New()
	// TERM interrupts a run. Another process then repeats it.
	spec := job.Spec{Name: "report", OnCrash: job.CrashRetry}
	id, err := robfigcron.Add(c, client, "CRON_TZ=Europe/Berlin 30 2 * * *", spec, report.Until(ctx))
	if err != nil {
		log.Fatal(err)
	}
	c.Start()
	c.Entry(id).WrappedJob.Run() // what the scheduler does at each tick
	<-c.Stop().Done()            // in a program: after <-ctx.Done()
	// Output: a report with a token: true
}

// A wrapper is the last of a chain.
func ExampleWrapper() {
	client := connect()
	defer client.Close()
	report := robfigcron.Func(func(ctx context.Context, tick job.Tick) error {
		fmt.Println("a report")
		return ctx.Err()
	})

	schedule, err := cron.ParseStandard("0 3 * * *")
	if err != nil {
		log.Fatal(err)
	}
	once, err := robfigcron.Wrapper(client, job.Spec{Name: "report"}, schedule)
	if err != nil {
		log.Fatal(err)
	}
	c := cron.New()
	id := c.Schedule(schedule, cron.NewChain(cron.Recover(cron.DefaultLogger), once).Then(report))
	c.Start()
	for range 2 { // two machines: one tick
		c.Entry(id).WrappedJob.Run()
	}
	<-c.Stop().Done()
	// Output: a report
}
