package setnx_test

import (
	"context"
	"errors"
	"log"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/compat/setnx"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// The old clients are in Python and write time.time() plus their timeout under lock.NAME.
func Example() {
	nodes, err := rueidisnode.Open("redis://10.0.0.1")
	if err != nil {
		log.Fatal(err)
	}
	client, err := setnx.New(setnx.Config{
		Node:    nodes[0],
		Unit:    setnx.FloatSeconds,
		MapName: func(name string) string { return "lock." + name },
	})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	err = client.Mutex("invoices").Do(context.Background(), func(ctx context.Context) error {
		return sendInvoices(ctx) // must stop when ctx ends
	})
	switch {
	case errors.Is(err, holdfast.ErrLost): // we had it: the last work may have overlapped with the next holder's
	case errors.Is(err, setnx.ErrForeign): // the key is no lock of the old pattern
	case err != nil:
		log.Print(err)
	}
}

func sendInvoices(context.Context) error { return nil }
