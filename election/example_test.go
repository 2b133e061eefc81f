package election_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/election"
)

// Every process of a fleet runs this. One of them leads and shows its address to the others. If it dies, another leads.
func ExampleElection_Run() {
	client := connect("web-1")
	defer client.Close()
	ctx, stop := context.WithCancel(context.Background()) // ends when the process should stop
	defer stop()

	err := election.New(client, "db-writer").Run(ctx, func(ctx context.Context, term election.Term) error {
		if err := term.Publish(ctx, []byte("10.0.0.3:8080")); err != nil {
			log.Print(err) // the others do not know the address yet
		}
		fmt.Println("leading, with a token for the writes:", term.Fence > 0)
		stop()       // this example ends here
		<-ctx.Done() // … write with term.Fence until ctx ends: then another process may lead
		return nil
	})
	fmt.Println(errors.Is(err, context.Canceled))
	// Output:
	// leading, with a token for the writes: true
	// true
}

// A proxy follows the leader. It needs no candidate in its process.
func ExampleElection_Observe() {
	client := connect("proxy-1")
	defer client.Close()
	ctx, stop := context.WithCancel(context.Background()) // ends when the proxy should stop
	defer stop()
	lead(ctx, "web-3", "primary", "10.0.0.3:8080") // in another process

	for news := range election.New(client, "primary").Observe(ctx) {
		switch {
		case news.Err != nil:
			log.Print(news.Err) // too few nodes answered: who leads is unknown
		case news.Vacant():
			fmt.Println("nobody leads")
		default:
			fmt.Printf("%s leads at %s\n", news.Leader, news.Value)
			stop() // this example ends here
		}
	}
	// Output: web-3 leads at 10.0.0.3:8080
}

// Leader asks once.
func ExampleElection_Leader() {
	client := connect("cli")
	defer client.Close()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()

	e := election.New(client, "scheduler")
	_, err := e.Leader(ctx)
	fmt.Println("nobody leads:", errors.Is(err, election.ErrNoLeader))

	lead(ctx, "web-3", "scheduler", "10.0.0.3:8080") // in another process
	leader, err := e.Leader(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s leads at %s\n", leader, leader.Value)
	// Output:
	// nobody leads: true
	// web-3 leads at 10.0.0.3:8080
}

// A leader that is shut down for maintenance lets another one lead. After Resign it pauses, and is a candidate again.
func ExampleElection_Resign() {
	client := connect("web-1")
	defer client.Close()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()

	e := election.New(client, "reindexer", election.ResignPause(time.Minute))
	leads, ended := make(chan struct{}), make(chan error)
	go func() {
		ended <- e.Run(ctx, func(ctx context.Context, term election.Term) error {
			close(leads)
			<-ctx.Done()
			fmt.Println("resigned:", errors.Is(context.Cause(ctx), election.ErrResigned))
			return nil
		})
	}()
	<-leads
	if err := e.Resign(ctx); err != nil {
		log.Print(err) // another process leads after the TTL at the latest
	}
	stop()
	<-ended
	// Output: resigned: true
}

// If a leader dies, another one leads after TTL and Window. A shorter TTL shortens this time.
func ExampleWithLock() {
	client := connect("web-1")
	defer client.Close()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()

	e := election.New(client, "cache-filler", election.WithLock(holdfast.WithTTL(8*time.Second)))
	_ = e.Run(ctx, func(ctx context.Context, term election.Term) error {
		lease, _ := holdfast.FromContext(ctx)
		fmt.Println(lease.TTL())
		stop()
		return nil
	})
	// Output: 8s
}

// A leader without a value of its own announces the election. holdfast list, the page and the metrics then show it as one.
func ExampleTerm_Announce() {
	client := connect("web-1")
	defer client.Close()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()

	_ = election.New(client, "mailer").Run(ctx, func(ctx context.Context, term election.Term) error {
		if err := term.Announce(ctx); err != nil {
			log.Print(err) // it is shown as a lock
		}
		stop()
		return nil
	})
	for s, err := range admin.List(context.Background(), client, admin.ListOptions{Pattern: "mailer", Free: true}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(s.Name, s.Kind)
	}
	// Output: mailer election
}
