package holdfastgocron_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"
	"github.com/holdfast-go/holdfast"
	holdfastgocron "github.com/holdfast-go/holdfast/adapters/gocron"
	"github.com/holdfast-go/holdfast/job"
)

// Every process of the fleet runs this program. Each tick runs in one of them.
func ExampleNewLocker() {
	client := connect()
	defer client.Close() // after Shutdown, so that the results of the runs are stored
	locker, err := holdfastgocron.NewLocker(client,
		// A run that Shutdown interrupts is repeated by another process.
		job.Spec{Name: "report", Schedule: "CRON_TZ=Europe/Berlin 30 2 * * *", OnCrash: job.CrashRetry},
		job.Spec{Name: "sync", Schedule: "every 15m"},
	)
	if err != nil {
		log.Fatal(err)
	}
	scheduler, err := gocron.NewScheduler(gocron.WithDistributedLocker(locker))
	if err != nil {
		log.Fatal(err)
	}
	defer scheduler.Shutdown()

	// This is the short way: gocron's definition comes from the schedule of the job.
	_, err = locker.NewJob(scheduler, "report", func(ctx context.Context, tick job.Tick) error {
		return ctx.Err() // the work stops when ctx ends: then the lock is lost
	})
	if err != nil {
		log.Fatal(err)
	}

	// The long way, with all options of gocron. The name is that of the job.
	ran := make(chan struct{})
	_, err = scheduler.NewJob(
		gocron.CronJob("*/15 * * * *", false),
		locker.Task("sync", func(ctx context.Context, tick job.Tick) error {
			fmt.Println("the first tick of sync, run", tick.Attempt)
			close(ran)
			return ctx.Err()
		}),
		gocron.WithName("sync"),
		gocron.WithStartAt(gocron.WithStartImmediately()),
		gocron.WithEventListeners(gocron.AfterLockError(func(_ uuid.UUID, name string, err error) {
			log.Print(err) // job "sync": the tick 2026-11-24T13:15:00Z was taken by web-2/4711 (running)
		})),
	)
	if err != nil {
		log.Fatal(err)
	}
	scheduler.Start()
	<-ran // in a program: until SIGTERM; then the deferred calls end the runs, and close the client after that
	// Output: the first tick of sync, run 1
}

// Only the scheduler of the leader works.
func ExampleNewElector() {
	client := connect()
	defer client.Close()
	elector := holdfastgocron.NewElector(client, "reports")
	defer elector.Close()
	scheduler, err := gocron.NewScheduler(gocron.WithDistributedElector(elector))
	if err != nil {
		log.Fatal(err)
	}
	defer scheduler.Shutdown()

	ran := make(chan bool, 1)
	_, err = scheduler.NewJob(gocron.DurationJob(20*time.Millisecond), elector.Task(func(ctx context.Context) error {
		lease, _ := holdfast.FromContext(ctx)
		select {
		case ran <- lease.Fence() > 0:
		default: // this example needs one run
		}
		return ctx.Err() // the work stops when ctx ends: another process may lead then
	}))
	if err != nil {
		log.Fatal(err)
	}
	scheduler.Start()
	fmt.Println("a run with a token:", <-ran)
	fmt.Println("why this process does not lead:", elector.IsLeader(context.Background()))
	// Output:
	// a run with a token: true
	// why this process does not lead: <nil>
}
