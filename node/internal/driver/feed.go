package driver

import (
	"context"
	"sync"
)

// Feed runs a subscription and calls on for each message that run emits. It calls on for one message at a time, and
// never after Feed has returned. It returns the result of run, or returns at once when ctx ends. In both cases run's
// own context has ended then. on must return soon, because Feed waits for it.
//
// Feed is necessary for two reasons. Client libraries deliver confirmations and messages on different goroutines. And
// some of their calls ignore the end of a context for a while. on runs on the goroutines of the library, because a
// hand-over to another goroutine would delay every waiter by some microseconds.
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
