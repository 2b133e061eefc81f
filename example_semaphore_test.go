package holdfast_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync"

	"github.com/holdfast-go/holdfast"
)

// At most two workers of a fleet talk to a slow service at a time. A worker's slot can be its port or partition.
func ExampleClient_Semaphore() {
	client := connect("web-1")
	defer client.Close()

	service := client.Semaphore("slow-service", 2)
	var wait sync.WaitGroup
	for range 3 {
		wait.Go(func() {
			err := service.Do(context.Background(), func(ctx context.Context) error {
				lease, _ := holdfast.FromContext(ctx)
				fmt.Println("at work, in a slot below 2:", lease.Slot() < 2)
				return nil
			})
			if err != nil {
				log.Print(err)
			}
		})
	}
	wait.Wait()
	// Output:
	// at work, in a slot below 2: true
	// at work, in a slot below 2: true
	// at work, in a slot below 2: true
}

// Do waits for a slot, and releases it after the work.
func ExampleSemaphore_Do() {
	client := connect("web-1")
	defer client.Close()

	err := client.Semaphore("licences", 5).Do(context.Background(), func(ctx context.Context) error {
		lease, _ := holdfast.FromContext(ctx)
		fmt.Println("one of 5 licences:", lease.Slot() >= 0 && lease.Slot() < 5)
		return ctx.Err()
	})
	if err != nil {
		log.Print(err)
	}
	// Output: one of 5 licences: true
}

// A lease of a slot outlives the function that took it. TryAcquire and TryDo do not wait.
func ExampleSemaphore_Acquire() {
	client := connect("web-1")
	defer client.Close()
	ctx := context.Background()
	encoders := client.Semaphore("encoders", 2)
	lease, err := encoders.Acquire(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Unlock(ctx)
	second, err := encoders.TryAcquire(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer second.Unlock(ctx)

	err = encoders.TryDo(ctx, func(ctx context.Context) error { return nil })
	fmt.Println("both slots are held:", errors.Is(err, holdfast.ErrHeld))
	status, err := encoders.Status(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("holders:", len(status.Holders))
	// Output:
	// both slots are held: true
	// holders: 2
}
