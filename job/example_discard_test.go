package job_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/holdfast-go/holdfast/job"
)

// Another program stored a value under the lock of a job. After Discard the job can begin.
func ExampleDiscard() {
	client := connect()
	defer client.Close()
	ctx := context.Background()
	lease, err := client.Mutex("invoices").Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if err := lease.Store(ctx, []byte("page 17")); err != nil {
		log.Fatal(err)
	}
	if err := lease.Unlock(ctx); err != nil {
		log.Fatal(err)
	}

	fmt.Println(errors.Is(job.SetTick(ctx, client, "invoices", time.Now()), job.ErrNoJob))
	if err := job.Discard(ctx, client, "invoices"); err != nil {
		log.Fatal(err)
	}
	fmt.Println(job.SetTick(ctx, client, "invoices", time.Now()))
	// Output:
	// true
	// <nil>
}
