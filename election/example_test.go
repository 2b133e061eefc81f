package election_test

import (
	"context"
	"fmt"
	"log"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/election"
)

// Every process of a fleet runs this. One of them leads and shows its address to the others. If it dies, another leads.
func ExampleElection_Run() {
	client := connected()
	ctx := context.Background() // ends when the process should stop

	err := election.New(client, "db-writer").Run(ctx, func(ctx context.Context, term election.Term) error {
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
	for news := range election.New(client, "db-writer").Observe(context.Background()) {
		switch {
		case news.Err != nil:
			log.Print(news.Err) // too few nodes answered: who leads is unknown
		case news.Vacant():
			fmt.Println("nobody leads")
		default:
			fmt.Printf("%s leads term %d at %s\n", news.Leader, news.Term, news.Value)
		}
	}
}

func connected() *holdfast.Client { return nil }
