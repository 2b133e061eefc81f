package aside

import (
	"math"
	"sync"
	"time"
)

// Room is how much a queue keeps. What does not fit is left out: who is not read for so
// long must not cost the program its memory, either.
const Room = 1000

// Forever is for [Queue.Wait].
const Forever = time.Duration(math.MaxInt64)

// Queue does things in order. The zero Queue is ready for use, and it is safe for
// concurrent use.
type Queue struct {
	// Missed says, where the gap is, that n things did not fit. It is done as the others
	// are. Defaults to nothing.
	Missed func(n int)

	mu     sync.Mutex
	todo   []func()
	missed int           // since the last of todo
	idle   chan struct{} // closed when nothing is left; nil while nobody works
}

// Do has f done soon, and returns at once.
func (q *Queue) Do(f func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.todo) >= Room {
		q.missed++
		return
	}
	q.gap()
	q.todo = append(q.todo, f)
	if q.idle == nil {
		q.idle = make(chan struct{})
		go q.work()
	}
}

// Wait waits until nothing is left to do, for d at most, and reports whether that is so.
func (q *Queue) Wait(d time.Duration) bool {
	q.mu.Lock()
	idle := q.idle
	q.mu.Unlock()
	if idle == nil {
		return true
	}
	late := time.NewTimer(d)
	defer late.Stop()
	select {
	case <-idle:
		return true
	case <-late.C:
		return false
	}
}

func (q *Queue) work() {
	for f := q.next(); f != nil; f = q.next() {
		f()
	}
}

// next is what to do now, or nil: then the goroutine ends.
func (q *Queue) next() func() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.todo) == 0 {
		q.gap()
	}
	if len(q.todo) == 0 {
		close(q.idle)
		q.idle, q.todo = nil, nil
		return nil
	}
	f := q.todo[0]
	q.todo[0] = nil // what is done need not be kept
	q.todo = q.todo[1:]
	return f
}

// gap makes a thing to do of what was missed. q.mu is held.
func (q *Queue) gap() {
	n := q.missed
	q.missed = 0
	if n > 0 && q.Missed != nil {
		q.todo = append(q.todo, func() { q.Missed(n) })
	}
}
