package async

import (
	"math"
	"sync"
	"time"
)

// Room is the largest number of functions in a queue. The queue drops further functions. Otherwise a terminal that is
// stopped for long would cost the program more and more memory.
const Room = 1000

// Forever is a duration for [Queue.Wait] without a limit.
const Forever = time.Duration(math.MaxInt64)

// Queue runs functions in order. The zero Queue is ready for use. A Queue is safe for concurrent use.
type Queue struct {
	// Missed reports that n functions were dropped. The queue calls it in order, at the place of the dropped
	// functions. Defaults to a function that does nothing.
	Missed func(n int)

	mu     sync.Mutex
	todo   []func()
	missed int           // the number of functions that were dropped after the last one in todo
	idle   chan struct{} // closes when no work is left; nil while no goroutine works
}

// Do adds f to the queue and returns at once.
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

// Wait waits until the queue is empty, but at most for d. It reports whether the queue is empty.
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

// next returns the next function. If there is none, it returns nil, and the goroutine ends.
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
	q.todo[0] = nil // the array must not keep f in memory
	q.todo = q.todo[1:]
	return f
}

// gap appends a call of Missed if functions were dropped. The caller holds q.mu.
func (q *Queue) gap() {
	n := q.missed
	q.missed = 0
	if n > 0 && q.Missed != nil {
		q.todo = append(q.todo, func() { q.Missed(n) })
	}
}
