package robfigcron_test

import (
	"context"
	"fmt"
	"log"
	"os/signal"
	"syscall"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/adapters/robfigcron"
	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
	"github.com/robfig/cron/v3"
)

func connect() *holdfast.Client {
	nodes, err := rueidisnode.Open("redis://10.0.0.1", "redis://10.0.0.2", "redis://10.0.0.3")
	if err != nil {
		log.Fatal(err)
	}
	client, err := holdfast.New(holdfast.Config{Nodes: nodes})
	if err != nil {
		log.Fatal(err)
	}
	return client
}

func report(ctx context.Context, tick job.Tick) error {
	fmt.Println("report of", tick.Time, "token", tick.Fence)
	return ctx.Err() // the work stops when ctx ends
}

// Every process of the fleet runs this program. Each tick runs in one of them.
func ExampleAdd() {
	client := connect()
	defer client.Close() // after the runs have ended, so that their results are stored
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	c := cron.New()
	// TERM interrupts a run. Another process then repeats it.
	spec := job.Spec{Name: "report", OnCrash: job.CrashRetry}
	if _, err := robfigcron.Add(c, client, "CRON_TZ=Europe/Berlin 30 2 * * *", spec, job.Func(report).Until(ctx)); err != nil {
		log.Fatal(err)
	}
	c.Start()
	<-ctx.Done()
	<-c.Stop().Done()
}

// A wrapper is the last of a chain.
func ExampleWrapper() {
	client := connect()
	defer client.Close()
	schedule, err := cron.ParseStandard("*/15 * * * *")
	if err != nil {
		log.Fatal(err)
	}
	once, err := robfigcron.Wrapper(client, job.Spec{Name: "report"}, schedule)
	if err != nil {
		log.Fatal(err)
	}
	c := cron.New()
	c.Schedule(schedule, cron.NewChain(cron.Recover(cron.DefaultLogger), once).Then(robfigcron.Func(report)))
	c.Run()
}
