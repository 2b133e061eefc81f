// Command program runs a job every ten seconds, on one of all processes that run it. Start it several times, and stop
// the one that runs.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil && !errors.Is(err, context.Canceled) {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	urls := os.Getenv("HOLDFAST_NODES")
	if urls == "" {
		urls = "redis://127.0.0.1:6379"
	}
	nodes, err := rueidisnode.Open(strings.Split(urls, ",")...)
	if err != nil {
		return err
	}
	client, err := holdfast.New(holdfast.Config{Nodes: nodes})
	if err != nil {
		return err
	}
	defer client.Close()
	return job.Run(ctx, client, job.Spec{
		Name:     "example",
		Schedule: "every 10s",
		OnCrash:  job.CrashRetry,
		Timeout:  8 * time.Second,
	}, work)
}

// work stops when ctx ends: then the lock is lost, the time limit has passed, or the program ends.
func work(ctx context.Context, tick job.Tick) error {
	fmt.Printf("tick %s, attempt %d, token %d\n", tick.Time.Format(time.TimeOnly), tick.Attempt, tick.Fence)
	select {
	case <-time.After(2 * time.Second):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
