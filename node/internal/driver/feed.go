package driver

import "context"

// Feed runs a subscription and calls on for each message it emits, always on the
// caller's goroutine and never after Feed returned. It returns what run returned, or
// at once when ctx ends; run's own context has ended then.
//
// Client libraries deliver confirmations and messages on different goroutines, and
// some of their calls ignore the end of a context for a while. Hence the hand-over.
func Feed(ctx context.Context, on func(string), run func(ctx context.Context, emit func(string)) error) error {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	messages := make(chan string) // unbuffered: when run has returned, nothing is left in it
	end := make(chan error, 1)
	go func() {
		end <- run(inner, func(m string) {
			select {
			case messages <- m:
			case <-inner.Done():
			}
		})
	}()
	for {
		select {
		case <-ctx.Done():
			return ContextError(ctx)
		case m := <-messages:
			on(m)
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
}
