package redisson_test

import (
	"context"
	"errors"
	"log"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/compat/redisson"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// The servers are those of the Java side. The names get the prefix of its NameMapper.
func Example() {
	nodes, err := rueidisnode.Open("redis://10.0.0.1")
	if err != nil {
		log.Fatal(err)
	}
	client, err := redisson.New(redisson.Config{
		Nodes:   nodes,
		MapName: func(name string) string { return "billing:" + name },
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
	case errors.Is(err, redisson.ErrWrongKind): // the key is no lock of Redisson
	case err != nil:
		log.Print(err)
	}
}

func sendInvoices(context.Context) error { return nil }
