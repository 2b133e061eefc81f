package job_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/holdfast-go/holdfast/job"
)

// A job leaves the file while its last run waits for a retry. Nobody may be left who could tell how that ends, so Retire
// calls OnAlert.
func ExampleSpec_Retire() {
	client := connect()
	defer client.Close()
	ctx := context.Background()
	if err := job.SetTick(ctx, client, "import", time.Now().AddDate(-2, 0, 0)); err != nil {
		log.Fatal(err)
	}
	drain := make(chan struct{})
	spec := job.Spec{
		Name:     "import",
		Schedule: "every 8000h",
		Missed:   job.MissedOnce,
		Retries:  3,
		Drain:    drain,
		OnAlert:  func(a job.Alert) { fmt.Println(a.Kind, a.Last.Error) },
	}
	err := job.Run(ctx, client, spec, func(context.Context, job.Tick) error {
		close(drain) // the file has the job no longer
		return errors.New("the disk is full")
	})
	if err != nil {
		log.Fatal(err)
	}

	if err := spec.Retire(ctx, client, "not in jobs.tab any more"); err != nil {
		log.Fatal(err)
	}
	// Output: failed the disk is full
}
