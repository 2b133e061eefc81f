package fanout

import (
	"context"
	"sync"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// collector is a receiver that collects one answer per node.
type collector struct {
	mu      sync.Mutex
	answers []nodescript.Answer
	got     int
	done    chan struct{}
}

func newCollector(n int) *collector {
	return &collector{answers: make([]nodescript.Answer, n), done: make(chan struct{})}
}

// get returns the answers so far when all have come, when enough closes, or when ctx ends.
func (c *collector) get(ctx context.Context, enough <-chan struct{}) []nodescript.Answer {
	select {
	case <-c.done:
	case <-enough:
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]nodescript.Answer(nil), c.answers...)
}

// Answered implements [Receiver].
func (c *collector) Answered(node, _ int, a nodescript.Answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers[node] = a
	if c.got++; c.got == len(c.answers) {
		close(c.done)
	}
}
