// Command redisson holds a lock of Redisson for a few seconds. Run it beside a Java program that locks the same name:
//
//	go run ./examples/redisson redis://127.0.0.1:6379 orders
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/compat/redisson"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: redisson URL NAME")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, url, name string) error {
	nodes, err := rueidisnode.Open(url)
	if err != nil {
		return err
	}
	client, err := redisson.New(redisson.Config{Nodes: nodes})
	if err != nil {
		return err
	}
	defer client.Close()

	lock := client.Mutex(name)
	lease, err := lock.TryLock(ctx)
	if errors.Is(err, holdfast.ErrHeld) {
		fmt.Println(err, "- waiting")
		lease, err = lock.Lock(ctx)
	}
	if err != nil {
		return err
	}
	fmt.Println("got", lease)
	select {
	case <-time.After(5 * time.Second): // the work
	case <-lease.Context().Done(): // lost: stop at once
		return context.Cause(lease.Context())
	case <-ctx.Done():
	}
	return lease.Unlock(context.WithoutCancel(ctx))
}
