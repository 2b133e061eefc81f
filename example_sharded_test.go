package holdfast_test

import (
	"context"
	"fmt"
	"log"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/exampleset"
)

// Two sets of three servers carry the names of one client. A tag in braces keeps names in one set.
func ExampleSharded() {
	// In a program each set is the result of rueidisnode.Open.
	sets, err := exampleset.OpenSets(
		[]string{"redis://a1", "redis://a2", "redis://a3"},
		[]string{"redis://b1", "redis://b2", "redis://b3"},
	)
	if err != nil {
		log.Fatal(err)
	}
	client, err := holdfast.New(holdfast.Config{Nodes: holdfast.Sharded(sets...)})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	err = client.DoAll(context.Background(), []string{"{tenant7}:orders", "{tenant7}:invoices"}, func(context.Context) error {
		fmt.Println("one set, one round trip")
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: one set, one round trip
}
