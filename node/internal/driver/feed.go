package driver

import (
	"context"
	"sync"
)

// Feed runs a subscription, and passes each message that run emits to the function on. It passes one message at a
// time, and none after Feed has returned. Feed returns the result of run. If ctx ends first, Feed returns at once. It
// always ends run's context. The function on must return soon, because Feed waits for it.
//
// Feed is necessary for two reasons. Client libraries deliver confirmations and messages in different goroutines. And
// some of their calls do not return at once when a context ends. Feed calls the function on in the goroutines of the
// library: another goroutine would delay each wake-up of a waiter by some microseconds.
func Feed(ctx context.Context, on func(string), run func(ctx context.Context, emit func(string)) error) error {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	var mu sync.Mutex
	over := false
	defer func() {
		mu.Lock()
		defer mu.Unlock()
		over = true
	}()
	end := make(chan error, 1)
	go func() {
		end <- run(inner, func(m string) {
			mu.Lock()
			defer mu.Unlock()
			if !over {
				on(m)
			}
		})
	}()
	select {
	case <-ctx.Done():
		return ContextError(ctx)
	case err := <-end:
		if ctx.Err() != nil {
			return ContextError(ctx)
		}
		if end := Ended(ctx, err); end != nil {
			return end
		}
		return err
	}
}
