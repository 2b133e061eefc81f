// Command batch copies rows in batches, and keeps its progress under the lock. If it dies, it goes on elsewhere where
// it stopped.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	client, err := open()
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	if err := run(ctx, client, 1000, copyRows); err != nil {
		log.Fatal(err)
	}
}

const batch = 100

// run copies the rows 0 to n - 1. It begins at the row that the last holder of the lock stored.
func run(ctx context.Context, client *holdfast.Client, n int, copyRows func(ctx context.Context, from, to int, fence int64) error) error {
	ran := false
	err := client.Mutex("copy-rows").TryDo(ctx, func(ctx context.Context) error {
		ran = true
		lease, _ := holdfast.FromContext(ctx)
		stored, err := lease.Load(ctx)
		if err != nil {
			return err
		}
		row, _ := strconv.Atoi(string(stored)) // nothing stored: 0
		for row < n {
			to := min(row+batch, n)
			if err := copyRows(ctx, row, to, lease.Fence()); err != nil {
				return err
			}
			// A crash before this line repeats the batch. So copying a row twice must do no harm.
			if err := lease.Store(ctx, []byte(strconv.Itoa(to))); err != nil {
				return err
			}
			row = to
		}
		return nil
	})
	if !ran && errors.Is(err, holdfast.ErrHeld) {
		return nil // another machine is at work
	}
	return err
}

// copyRows is a placeholder for your work.
func copyRows(ctx context.Context, from, to int, fence int64) error {
	fmt.Printf("rows %d to %d under token %d\n", from, to-1, fence)
	return ctx.Err()
}

// open makes a client of the nodes in HOLDFAST_NODES.
func open() (*holdfast.Client, error) {
	urls := os.Getenv("HOLDFAST_NODES")
	if urls == "" {
		urls = "redis://127.0.0.1:6379"
	}
	nodes, err := rueidisnode.Open(strings.Split(urls, ",")...)
	if err != nil {
		return nil, err
	}
	return holdfast.New(holdfast.Config{Nodes: nodes})
}
