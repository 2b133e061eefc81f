package election_test

import (
	"context"
	"log"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/election"
	"github.com/holdfast-go/holdfast/internal/exampleset"
)

// connect returns a client for examples. All such clients have the same node, which is in this process.
func connect(label string) *holdfast.Client {
	client, err := holdfast.New(exampleset.Config(holdfast.Config{Label: label}))
	if err != nil {
		log.Fatal(err)
	}
	return client
}

// lead makes a candidate lead until ctx ends. It returns when the candidate has published a value.
func lead(ctx context.Context, label, name, value string) {
	published := make(chan struct{})
	go func() {
		client := connect(label)
		defer client.Close()
		err := election.New(client, name).Run(ctx, func(ctx context.Context, term election.Term) error {
			if err := term.Publish(ctx, []byte(value)); err != nil {
				log.Print(err)
			}
			close(published)
			<-ctx.Done()
			return nil
		})
		if ctx.Err() == nil {
			log.Print(err)
		}
	}()
	<-published
}
