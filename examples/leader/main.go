// Command leader is a service of which one instance leads. Each instance answers GET /leader with the address of the
// leader, and only the leader works.
//
//	go run ./examples/leader 127.0.0.1:8081
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/election"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: leader ADDRESS")
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	client, err := open()
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	if err := serve(ctx, client, listener, work); err != nil && !errors.Is(err, context.Canceled) {
		log.Fatal(err)
	}
}

// serve campaigns until ctx ends, and answers requests meanwhile.
func serve(ctx context.Context, client *holdfast.Client, listener net.Listener, work func(ctx context.Context, fence int64)) error {
	e := election.New(client, "example-leader")
	mux := http.NewServeMux()
	mux.HandleFunc("GET /leader", func(w http.ResponseWriter, r *http.Request) {
		leader, err := e.Leader(r.Context())
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintf(w, "%s\n", leader.Value)
	})
	server := http.Server{Handler: mux, ReadHeaderTimeout: time.Second}
	go server.Serve(listener)
	defer server.Close()
	return e.Run(ctx, func(ctx context.Context, term election.Term) error {
		if err := term.Publish(ctx, []byte(listener.Addr().String())); err != nil {
			log.Print(err) // the others do not learn the address; the term goes on
		}
		work(ctx, term.Fence)
		return nil
	})
}

// work is a placeholder for the work of the leader. It returns when ctx ends: another instance leads soon.
func work(ctx context.Context, fence int64) {
	log.Printf("leads, term %d", fence)
	<-ctx.Done()
	log.Printf("leads no longer: %v", context.Cause(ctx))
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
