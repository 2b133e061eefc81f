package holdfastgocron_test

import (
	"context"
	"fmt"
	"log"
	"os/signal"
	"syscall"

	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"
	"github.com/holdfast-go/holdfast"
	holdfastgocron "github.com/holdfast-go/holdfast/adapters/gocron"
	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
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

// Every process of the fleet runs this program. Each tick runs in one of them.
func ExampleLocker() {
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
		fmt.Println("report of", tick.Time, "token", tick.Fence)
		return ctx.Err() // the work stops when ctx ends
	})
	if err != nil {
		log.Fatal(err)
	}

	// The long way, with all options of gocron. The name is that of the job.
	_, err = scheduler.NewJob(
		gocron.CronJob("*/15 * * * *", false),
		locker.Task("sync", func(ctx context.Context, _ job.Tick) error { return ctx.Err() }),
		gocron.WithName("sync"),
		gocron.WithEventListeners(gocron.AfterLockError(func(_ uuid.UUID, name string, err error) {
			log.Print(err) // job "sync": the tick 2026-11-24T13:15:00Z was taken by web-2/4711 (running)
		})),
	)
	if err != nil {
		log.Fatal(err)
	}
	scheduler.Start()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	<-ctx.Done() // then the deferred calls end the runs, and close the client after that
}

// Only the scheduler of the leader works.
func ExampleElector() {
	client := connect()
	defer client.Close()
	elector := holdfastgocron.NewElector(client, "reports")
	defer elector.Close()
	scheduler, err := gocron.NewScheduler(gocron.WithDistributedElector(elector))
	if err != nil {
		log.Fatal(err)
	}
	defer scheduler.Shutdown()
	_, err = scheduler.NewJob(gocron.CronJob("*/15 * * * *", false), elector.Task(func(ctx context.Context) error {
		lease, _ := holdfast.FromContext(ctx)
		fmt.Println("token", lease.Fence())
		return ctx.Err() // the work stops when ctx ends: another process may lead then
	}))
	if err != nil {
		log.Fatal(err)
	}
	scheduler.Start()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	<-ctx.Done()
}
