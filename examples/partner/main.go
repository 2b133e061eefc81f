// Command partner calls the API of a partner that allows three calls at a time for the whole company.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: partner URL")
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	client, err := open()
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	if err := call(ctx, client, os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

const (
	most   = 3                      // calls at a time, from all machines
	period = 100 * time.Millisecond // least time of a slot: so at most most/period calls per second
)

// call makes one call in one of the slots. It keeps the slot for the period, so that it also limits the rate.
func call(ctx context.Context, client *holdfast.Client, url string) error {
	return client.Semaphore("partner-api", most).Do(ctx, func(ctx context.Context) error {
		over := time.NewTimer(period)
		defer over.Stop()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		lease, _ := holdfast.FromContext(ctx)
		fmt.Printf("slot %d: %s\n", lease.Slot(), response.Status)
		select {
		case <-over.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
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
