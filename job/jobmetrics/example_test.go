package jobmetrics_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/job/jobmetrics"
)

// A process runs two jobs, and reads their states for its system of metrics. One of them failed on another machine.
func ExampleReader() {
	client := connect()
	defer client.Close()
	ctx := context.Background()
	backup := job.Spec{Name: "backup", Schedule: "@daily"}
	report := job.Spec{Name: "report", Schedule: "@daily"}
	if _, err := backup.Once(ctx, client, time.Now().Add(-time.Hour), func(context.Context, job.Tick) error {
		return errors.New("the disk is full")
	}); err != nil {
		log.Print("another machine: ", err)
	}

	var jobs jobmetrics.Reader
	if err := jobs.Set(client, backup, report); err != nil {
		log.Fatal(err)
	}
	for _, j := range jobs.Read(ctx) {
		fmt.Println(j.Name, "failed:", j.Failed, "never ran:", j.NeverRan, "has succeeded:", !j.Success.IsZero())
	}
	// Output:
	// backup failed: true never ran: false has succeeded: false
	// report failed: false never ran: true has succeeded: false
}

// Of makes the state of an outcome that the program has read by itself.
func ExampleOf() {
	client := connect()
	defer client.Close()
	ctx := context.Background()
	if _, err := (job.Spec{Name: "backup"}).Once(ctx, client, time.Now().Add(-time.Hour), func(context.Context, job.Tick) error {
		return nil
	}); err != nil {
		log.Fatal(err)
	}

	last, err := jobmetrics.Settle(ctx, client, "backup")
	if err != nil || last == nil {
		log.Fatal("the job never ran, or: ", err)
	}
	now, err := client.Now(ctx)
	if err != nil {
		log.Fatal(err)
	}
	j, exists := jobmetrics.Of(client.Stats().Cluster, "backup", *last, now)
	fmt.Println(exists, j.Failed, j.Running, jobmetrics.Hangs(*last, now))
	// Output: true false 0s false
}
