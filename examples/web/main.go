// Command web pays orders over HTTP. Two requests about one order never work at the same time, on any machine.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

func main() {
	client, err := open()
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	server := http.Server{Addr: "127.0.0.1:8080", Handler: handler(client, pay), ReadHeaderTimeout: time.Second}
	log.Fatal(server.ListenAndServe())
}

// handler serves POST /orders/ID/pay.
func handler(client *holdfast.Client, pay func(ctx context.Context, order string, fence int64) error) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /orders/{id}/pay", func(w http.ResponseWriter, r *http.Request) {
		order := r.PathValue("id")
		ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second) // limits the wait and the work
		defer cancel()
		ran := false
		err := client.Mutex("orders/"+order).Do(ctx, func(ctx context.Context) error {
			ran = true
			lease, _ := holdfast.FromContext(ctx)
			return pay(ctx, order, lease.Fence())
		})
		switch {
		case err == nil:
			fmt.Fprintln(w, "paid")
		case errors.Is(err, holdfast.ErrBadName):
			http.Error(w, "no such order", http.StatusNotFound)
		case !ran && errors.Is(err, holdfast.ErrHeld):
			w.Header().Set("Retry-After", "1")
			http.Error(w, "another request works on this order", http.StatusConflict)
		case !ran && errors.Is(err, holdfast.ErrUnavailable):
			w.Header().Set("Retry-After", "5")
			http.Error(w, "no lock can be had now", http.StatusServiceUnavailable)
		default:
			log.Printf("order %s: %v", order, err)
			http.Error(w, "failed", http.StatusInternalServerError)
		}
	})
	return mux
}

// pay is a placeholder for your work. It stops when ctx ends: the lock is lost, or the time limit has passed. A
// database that gets the token with the write can refuse a late one: see docs/guide/fencing.md.
func pay(ctx context.Context, order string, fence int64) error {
	log.Printf("pays order %s under token %d", order, fence)
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
