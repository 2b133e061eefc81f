package waiting

import (
	"context"
	"sync"
)

// lines are the waiters of this process, by name: first come, first served. Only the
// first of each line talks to the nodes.
type lines struct {
	mu     sync.Mutex
	byName map[string]*line
}

// line is the waiters of one name; first is not in others.
type line struct {
	others []chan struct{} // closed when its waiter becomes the first
}

// enter waits until the caller is the first in line for name, and reports whether it is:
// not, if ctx or stop ended first. leave must be called by whoever is.
func (l *lines) enter(ctx context.Context, stop <-chan struct{}, name string) bool {
	l.mu.Lock()
	ln, there := l.byName[name]
	if !there {
		if l.byName == nil {
			l.byName = map[string]*line{}
		}
		l.byName[name] = &line{}
		l.mu.Unlock()
		return true
	}
	turn := make(chan struct{})
	ln.others = append(ln.others, turn)
	l.mu.Unlock()
	select {
	case <-turn:
		return true
	case <-ctx.Done():
	case <-stop:
	}
	l.mu.Lock()
	for i, c := range ln.others {
		if c == turn {
			ln.others = append(ln.others[:i], ln.others[i+1:]...)
			l.mu.Unlock()
			return false
		}
	}
	l.mu.Unlock()
	l.leave(name) // its turn came at the same moment
	return false
}

// leave makes the next waiter for name the first.
func (l *lines) leave(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ln := l.byName[name]
	if len(ln.others) == 0 {
		delete(l.byName, name)
		return
	}
	close(ln.others[0])
	ln.others[0] = nil
	ln.others = ln.others[1:]
}
