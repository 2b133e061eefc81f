package client

import (
	"context"
	"sync"
	"time"
)

// Tasks is the background work of one client. Make it with [NewTasks]. It is safe for concurrent use.
type Tasks struct {
	closing chan struct{}

	mu      sync.Mutex
	running int           // number of functions of Go and Do that still run
	idle    chan struct{} // closed when running becomes 0 during Settle
}

// NewTasks returns a group without work.
func NewTasks() *Tasks { return &Tasks{closing: make(chan struct{})} }

// Closing returns a channel that is closed by Close.
func (g *Tasks) Closing() <-chan struct{} { return g.closing }

// Closed reports whether Close was called.
func (g *Tasks) Closed() bool {
	select {
	case <-g.closing:
		return true
	default:
		return false
	}
}

// Close ends every pause. Call it once.
func (g *Tasks) Close() { close(g.closing) }

// Go runs f in a goroutine. Settle waits for all such goroutines.
func (g *Tasks) Go(f func()) {
	g.enter()
	go func() {
		defer g.leave()
		f()
	}()
}

// Do runs f in the goroutine of its caller. Settle waits for f, too. So work that f begins near its end is counted
// before f ends, and Settle cannot end between the two.
func (g *Tasks) Do(f func()) {
	g.enter()
	defer g.leave()
	f()
}

func (g *Tasks) enter() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running++
}

func (g *Tasks) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running--; g.running == 0 && g.idle != nil {
		close(g.idle)
		g.idle = nil
	}
}

// Settle waits until all functions of Go and Do have ended, or until ctx ends.
func (g *Tasks) Settle(ctx context.Context) {
	g.mu.Lock()
	idle := make(chan struct{})
	if g.running == 0 {
		close(idle)
	} else {
		g.idle = idle
	}
	g.mu.Unlock()
	select {
	case <-idle:
	case <-ctx.Done():
	}
}

// Pause waits for d. It returns false if Close was called before.
func (g *Tasks) Pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-g.closing:
		return false
	}
}
