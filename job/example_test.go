package job_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// Every process of the fleet runs this program. Each tick runs on one of them.
func ExampleRun() {
	nodes, err := rueidisnode.Open("redis://10.0.0.1", "redis://10.0.0.2", "redis://10.0.0.3")
	if err != nil {
		log.Fatal(err)
	}
	client, err := holdfast.New(holdfast.Config{Nodes: nodes})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	err = job.Run(context.Background(), client, job.Spec{
		Name:     "nightly-report",
		Schedule: "CRON_TZ=Europe/Berlin 30 2 * * *",
		Missed:   job.MissedOnce,
		Timeout:  2 * time.Hour,
	}, func(ctx context.Context, tick job.Tick) error {
		fmt.Println("report of", tick.Time)
		return ctx.Err() // the work stops when ctx ends
	})
	log.Fatal(err)
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
