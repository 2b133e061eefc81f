package holdfast_test

import (
	"context"
	"fmt"
	"log"

	"github.com/holdfast-go/holdfast"
)

// Every process of a fleet runs this. One of them leads and shows its address to the others. If it dies, another leads.
func ExampleElection_Run() {
	client := connected()
	ctx := context.Background() // ends when the process should stop

	err := client.Election("db-writer").Run(ctx, func(ctx context.Context, term holdfast.Term) error {
		if err := term.Publish(ctx, []byte("10.0.0.3:8080")); err != nil {
			log.Print(err) // the others do not know the address yet
		}
		<-ctx.Done() // … write with term.Fence until ctx ends: then another process may lead
		return nil
	})
	log.Print(err)
}

// A proxy follows the leader. It needs no candidate in its process.
func ExampleElection_Observe() {
	client := connected()
	for o := range client.Election("db-writer").Observe(context.Background()) {
		switch {
		case o.Err != nil:
			log.Print(o.Err) // too few nodes answered: who leads is unknown
		case o.Vacant():
			fmt.Println("nobody leads")
		default:
			fmt.Printf("%s leads term %d at %s\n", o.Leader, o.Term, o.Value)
		}
	}
}
